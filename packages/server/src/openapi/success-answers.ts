/**
 * Answers of success (https://hl7.org/fhir/R4/http.html): those with a resource once for each type, the others once.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { buildResourceContent, linesContent, unspecifiedContent } from './content.ts';
import { buildHeaderRefs } from './error-answers.ts';
import { listResourceExamples } from './examples.ts';
import { limitHeaders, listHeaders } from './headers.ts';
import type { SuccessName } from './interaction-texts.ts';
import { type Answer, buildComponentRef, buildSchemaRef, type ReferenceObject } from './openapi.ts';

const version = ['ETag', 'Last-Modified'];
const written = [...version, 'Location', 'Content-Location', 'Idempotent-Replayed'];

const ofNoType = {
  bundle: {
    description: 'The Bundle.',
    headers: buildHeaderRefs(['Idempotent-Replayed', ...limitHeaders]),
    content: buildResourceContent(buildSchemaRef('Bundle')),
  },
  list: {
    description: 'A Bundle of type searchset or history. NDJSON has one resource per line, and the links as headers.',
    headers: buildHeaderRefs([...listHeaders, 'X-Complete-Until', ...limitHeaders]),
    content: { ...buildResourceContent(buildSchemaRef('Bundle')), ...linesContent },
  },
  waiting: {
    description:
      'The practice reviews the change first. Nothing has changed yet. Location is the Task, whose id is the reconciliation id.',
    headers: buildHeaderRefs(['Location', 'Idempotent-Replayed', ...limitHeaders]),
    content: buildResourceContent(buildSchemaRef('OperationOutcome')),
  },
  unmodified: {
    description: 'The resource has not changed.',
    headers: buildHeaderRefs([...version, ...limitHeaders]),
  },
  deleted: {
    description: 'The resource does not exist.',
    headers: buildHeaderRefs(['ETag', 'Idempotent-Replayed', ...limitHeaders]),
  },
} as const satisfies Partial<Record<SuccessName, Answer>>;

/** The answers as components. */
export function buildSuccessComponents(): Readonly<Record<string, Answer>> {
  const ofTypes = resourceTypesWithEndpoint.flatMap((type): [string, Answer][] => [
    [`${type}.read`, answerWith(type, 'The resource.', version, type === 'Binary')],
    [`${type}.written`, answerWith(type, writtenText, written, false)],
  ]);
  return { ...ofNoType, ...Object.fromEntries(ofTypes) };
}

const writtenText = 'The resource as it is stored; by Prefer nothing, or an OperationOutcome.';

function answerWith(type: string, text: string, headers: readonly string[], isContent: boolean): Answer {
  const content = buildResourceContent(buildSchemaRef(type), listResourceExamples(type, 'returned'));
  return {
    description: text,
    headers: buildHeaderRefs([...headers, ...limitHeaders]),
    content: isContent ? { ...content, ...unspecifiedContent } : content,
  };
}

/** A reference to an answer of a type. */
export function buildSuccessRef(name: SuccessName, type: string): ReferenceObject {
  return buildComponentRef('responses', Object.hasOwn(ofNoType, name) ? name : `${type}.${name}`);
}
