/**
 * Refusals of the data API as answers of an OpenAPI document: one for each status of the errors table, with an
 * OperationOutcome for each row (https://hl7.org/fhir/R4/operationoutcome.html).
 */
import { disclosedText } from '../access/disclosure.ts';
import { errorTable } from '../base/errors.ts';
import { outcomeOf } from '../engine/outcome.ts';
import { answeredByStatus, exampleError } from './error-examples.ts';
import { limitHeaders } from './headers.ts';
import { type Answer, componentRef, type Reference, schemaRef } from './openapi.ts';

/** Headers of a refusal beside X-Request-Id, by status. */
const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', ...limitHeaders],
  503: ['Retry-After'],
};

/** An example of each row. */
export function errorExampleComponents(): Readonly<Record<string, object>> {
  const codes = [...answeredByStatus().values()].flat();
  return Object.fromEntries(
    codes.map((code) => [
      code,
      { summary: errorTable[code].meaning, value: JSON.parse(disclosedText(outcomeOf(exampleError(code)))) },
    ]),
  );
}

/** An answer for each status. */
export function errorAnswerComponents(): Readonly<Record<string, Answer>> {
  return Object.fromEntries(
    [...answeredByStatus()].map(([status, codes]) => [
      answerName(status),
      {
        description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
        headers: headerRefs(headersOfStatus[status] ?? []),
        content: {
          'application/fhir+json': {
            schema: schemaRef('OperationOutcome'),
            examples: Object.fromEntries(codes.map((code) => [code, componentRef('examples', code)])),
          },
          'application/fhir+xml': { schema: schemaRef('OperationOutcome') },
        },
      },
    ]),
  );
}

/** Statuses of the table that any request of the data API may be answered with. */
const everywhere: readonly number[] = [400, 401, 403, 404, 406, 414, 429, 500, 503];

/** References to the answers of the statuses, and of those that any request may get. */
export function refusals(statuses: readonly number[]): Readonly<Record<string, Reference>> {
  return refusalRefs([...new Set([...everywhere, ...statuses])].sort((one, other) => one - other));
}

/** References to the answers of the statuses. */
export function refusalRefs(statuses: readonly number[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(statuses.map((status) => [status, componentRef('responses', answerName(status))]));
}

/** References to headers, that of the request's id always among them. */
export function headerRefs(names: readonly string[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, componentRef('headers', name)]));
}

function answerName(status: number): string {
  return String(status);
}
