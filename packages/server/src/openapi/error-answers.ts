/**
 * Refusals of the data API as answers of an OpenAPI document: one for each status of the errors table, with an
 * OperationOutcome for each row (https://hl7.org/fhir/R4/operationoutcome.html).
 */
import { unwrapDisclosed } from '../access/disclosure.ts';
import { errorTable } from '../base/errors.ts';
import { buildErrorOutcome } from '../engine/outcome.ts';
import { groupCodesByStatus, makeExampleError } from './error-examples.ts';
import { limitHeaders } from './headers.ts';
import { type Answer, buildComponentRef, buildSchemaRef, type ReferenceObject } from './openapi.ts';

/** Headers of a refusal beside X-Request-Id, by status. */
export const refusalHeaders: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', ...limitHeaders],
  503: ['Retry-After'],
};

/** An example of each row. */
export function buildErrorExampleComponents(): Readonly<Record<string, object>> {
  const codes = [...groupCodesByStatus().values()].flat();
  return Object.fromEntries(
    codes.map((code) => {
      const value = JSON.parse(unwrapDisclosed(buildErrorOutcome(makeExampleError(code))));
      return [code, { summary: errorTable[code].meaning, value }];
    }),
  );
}

/** An answer for each status. */
export function buildErrorAnswerComponents(): Readonly<Record<string, Answer>> {
  return Object.fromEntries(
    [...groupCodesByStatus()].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
        headers: buildHeaderRefs(refusalHeaders[status] ?? []),
        content: {
          'application/fhir+json': {
            schema: buildSchemaRef('OperationOutcome'),
            examples: Object.fromEntries(codes.map((code) => [code, buildComponentRef('examples', code)])),
          },
          'application/fhir+xml': { schema: buildSchemaRef('OperationOutcome') },
        },
      },
    ]),
  );
}

/** Statuses of the table that any request of the data API may be answered with. */
const everywhere: readonly number[] = [400, 401, 403, 404, 406, 414, 429, 500, 503];

/** References to the answers of the statuses, and of those that any request may get. */
export function buildAllRefusalRefs(statuses: readonly number[]): Readonly<Record<string, ReferenceObject>> {
  return buildRefusalRefs([...new Set([...everywhere, ...statuses])].sort((one, other) => one - other));
}

/** References to the answers of the statuses. */
export function buildRefusalRefs(statuses: readonly number[]): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(statuses.map((status) => [status, buildComponentRef('responses', String(status))]));
}

/** References to headers, that of the request's id always among them. */
export function buildHeaderRefs(names: readonly string[]): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, buildComponentRef('headers', name)]));
}
