/**
 * The header Idempotency-Key (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/): a string of
 * RFC 8941 §3.3.3, in double quotes; most clients send it without, which means the same.
 */
import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { fail } from '../../base/errors.ts';
import type { IdempotencyKey } from '../../engine/context.ts';
import { listHeaderValues } from './header-values.ts';

/** Longest key in characters, its quotes not counted. */
const keyLengthMax = 255;

/** Without quotes: visible ASCII but for what separates members and parameters of RFC 8941. */
const barePattern = /^[!#-+\--:<-[\]-~]+$/;

/** Printable ASCII, with a backslash before quotes and backslashes alone. */
const stringPattern = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/;

const writing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Headers that are part of what is asked for. */
const preconditions = ['if-match', 'if-none-match', 'if-none-exist', 'if-modified-since', 'content-type'] as const;

/**
 * The key of a request; undefined for requests that have none, or change nothing by their method.
 * @param body reads its bytes
 * @throws PraxisError `header-invalid`
 */
export function readIdempotencyKey(request: FastifyRequest, body: () => Promise<Buffer>): IdempotencyKey | undefined {
  if (!writing.has(request.method)) return undefined;
  const given = listHeaderValues(request.raw, 'idempotency-key');
  if (given.length === 0) return undefined;
  const key = parseKey(given);
  return {
    key,
    async asked() {
      const headers = preconditions.map((name) => request.headers[name] ?? null);
      return JSON.stringify([request.method, request.originalUrl, headers, hash('sha256', await body(), 'hex')]);
    },
  };
}

/** @throws PraxisError `header-invalid` */
function parseKey(given: readonly string[]): string {
  const [text = '', ...more] = given;
  if (more.length > 0) refuse('is sent more than once: a request has one key');
  const sent = text.trim();
  if (sent === '' || sent === '""') return refuse('is empty: send a key such as 8e03978e-40d5-43dd-bc93-6894a57f9324');
  const string = stringPattern.exec(sent)?.[1] ?? barePattern.exec(sent)?.[0];
  if (string === undefined)
    return refuse(
      'must be printable ASCII such as 8e03978e-40d5-43dd-bc93-6894a57f9324; with spaces, commas or semicolons it must be in double quotes (RFC 8941)',
    );
  const key = string.replaceAll(/\\(["\\])/g, '$1');
  if (key.length > keyLengthMax) return refuse(`is longer than ${keyLengthMax} characters`);
  return key;
}

function refuse(problem: string): never {
  return fail('header-invalid', {
    diagnostics: `Idempotency-Key ${problem}`,
    expression: ['Idempotency-Key'],
  });
}
