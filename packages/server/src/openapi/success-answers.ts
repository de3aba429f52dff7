/**
 * Answers of success (https://hl7.org/fhir/R4/http.html): those with a resource once for each type, the others once.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { linesContent, resourceContent, unspecifiedContent } from './content.ts';
import { headerRefs } from './error-answers.ts';
import { resourceExamples } from './examples.ts';
import { limitHeaders, listHeaders } from './headers.ts';
import type { SuccessName } from './interaction-texts.ts';
import { type Answer, componentRef, type Reference, schemaRef } from './openapi.ts';

const version = ['ETag', 'Last-Modified'];
const written = [...version, 'Location', 'Content-Location', 'Idempotent-Replayed'];

const ofNoType = {
  bundle: {
    description: 'The Bundle.',
    headers: headerRefs(['Idempotent-Replayed', ...limitHeaders]),
    content: resourceContent(schemaRef('Bundle')),
  },
  list: {
    description:
      'A Bundle of type searchset or history; as NDJSON its resources, one a line, with its links as headers.',
    headers: headerRefs([...listHeaders, 'X-Complete-Until', ...limitHeaders]),
    content: { ...resourceContent(schemaRef('Bundle')), ...linesContent },
  },
  waiting: {
    description:
      'The practice wants to accept it first: nothing is changed yet. Location is the Task, whose id is the reconciliation id.',
    headers: headerRefs(['Location', 'Idempotent-Replayed', ...limitHeaders]),
    content: resourceContent(schemaRef('OperationOutcome')),
  },
  unmodified: {
    description: 'The version is that of the condition.',
    headers: headerRefs([...version, ...limitHeaders]),
  },
  deleted: {
    description: 'There is no such resource, or no longer.',
    headers: headerRefs(['ETag', 'Idempotent-Replayed', ...limitHeaders]),
  },
} as const satisfies Partial<Record<SuccessName, Answer>>;

/** The answers as components. */
export function successComponents(): Readonly<Record<string, Answer>> {
  const ofTypes = resourceTypesWithEndpoint.flatMap((type): [string, Answer][] => [
    [`${type}.read`, answerWith(type, 'The resource.', version, type === 'Binary')],
    [`${type}.written`, answerWith(type, writtenText, written, false)],
  ]);
  return { ...ofNoType, ...Object.fromEntries(ofTypes) };
}

const writtenText = 'The resource as it is stored; by Prefer nothing, or an OperationOutcome.';

function answerWith(type: string, text: string, headers: readonly string[], isContent: boolean): Answer {
  const content = resourceContent(schemaRef(type), resourceExamples(type, 'returned'));
  return {
    description: text,
    headers: headerRefs([...headers, ...limitHeaders]),
    content: isContent ? { ...content, ...unspecifiedContent } : content,
  };
}

/** A reference to an answer of a type. */
export function successRef(name: SuccessName, type: string): Reference {
  return componentRef('responses', Object.hasOwn(ofNoType, name) ? name : `${type}.${name}`);
}
