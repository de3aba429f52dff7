/**
 * Errors to HTTP answers, in one place. What the caller may read comes from the error's details; causes go to the log.
 */
import type { FastifyReply } from 'fastify';
import { unwrapDisclosed } from '../../access/disclosure.ts';
import { PraxisError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import { buildErrorOutcome } from '../../engine/outcome.ts';
import { fhirJson, findFormat } from './answer-format.ts';
import { encodeRepresentation } from './representation.ts';

/** The PraxisError of anything thrown: unknown faults become `internal` and keep their cause for the log. */
export function toPraxisError(error: unknown): PraxisError {
  if (error instanceof PraxisError) return error;
  return new PraxisError('internal', {
    diagnostics: 'An unexpected fault; the X-Request-Id of this answer finds it in the log',
    cause: error,
  });
}

/** Sends `error` as an OperationOutcome in the format that the caller wishes, JSON if none is served, and logs what went wrong inside. */
export function sendOutcome(reply: FastifyReply, error: PraxisError, log: Log): FastifyReply {
  logFault(error, log, String(reply.request.id));
  reply.request.parsed.refusal = error.code;
  reply.headers(buildErrorHeaders(error));
  const format = findFormat(reply.request.parsed.formats) ?? fhirJson;
  return reply
    .code(error.status)
    .header('content-type', format.contentType)
    .send(encodeRepresentation(unwrapDisclosed(buildErrorOutcome(error)), format));
}

/** What an error says in headers: its own, and when to come again for every 503 (RFC 9110 §15.6.4), where it does not say. */
export function buildErrorHeaders({ status, details }: PraxisError): Readonly<Record<string, string>> {
  const retry: Record<string, string> = status === 503 ? { 'retry-after': String(retrySeconds) } : {};
  return { ...retry, ...details.headers };
}

/** Of a 503 that names no other time, in seconds: a lost database is back in a few. */
export const retrySeconds = 5;

/** Whether the answer is meant: a 4xx, or a brown-out that an operator planned. */
export function isRefusal(error: PraxisError): boolean {
  return error.status < 500 || error.code === 'legacy-paused';
}

/** Counts a refusal, and the limit that has refused, also where it is the service that has no room. */
export function countRefusal(
  { denials, limitRefusals }: Pick<Metrics, 'denials' | 'limitRefusals'>,
  error: PraxisError,
): void {
  if (isRefusal(error)) denials.inc({ reason: error.code });
  const { limit } = error.details;
  if (limit !== undefined) limitRefusals.inc({ limit });
}

/** Logs faults of the server; refusals are counted, not logged one by one. */
export function logFault(error: PraxisError, log: Log, requestId: string): void {
  if (isRefusal(error)) return;
  log.error(
    { requestId, code: error.code, err: describe(error.details.cause), ...error.details.log },
    'request failed',
  );
}

/** Name, message and stack of a cause. Database messages may quote values, so only their SQLSTATE is kept. */
function describe(cause: unknown): object | undefined {
  if (!(cause instanceof Error)) return undefined;
  const sqlState = 'code' in cause ? cause.code : undefined;
  return typeof sqlState === 'string' && /^[0-9A-Z]{5}$/.test(sqlState)
    ? { name: cause.name, sqlState, stack: stackFrames(cause) }
    : { name: cause.name, message: cause.message, stack: stackFrames(cause) };
}

function stackFrames(error: Error): string {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .join('\n');
}
