/** Refusals that are written without Fastify: at the door, to what is no request, and to connections that wished to be others. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { unwrapDisclosed } from '../../access/disclosure.ts';
import type { PraxisError } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildErrorOutcome } from '../../engine/outcome.ts';
import { fhirJson } from './answer-format.ts';
import { buildErrorHeaders } from './errors.ts';

export interface PlainAnswer {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

/** An OperationOutcome with its headers. @param security what every answer has */
export function buildPlainAnswer(
  error: PraxisError,
  security: Readonly<Record<string, string>>,
  requestId: string = makeUuid(),
): PlainAnswer {
  const body = unwrapDisclosed(buildErrorOutcome(error));
  const headers = {
    'x-request-id': requestId,
    ...security,
    'content-type': fhirJson.contentType,
    'content-length': Buffer.byteLength(body),
    ...buildErrorHeaders(error),
  };
  return { headers, body };
}

/** Answers a connection that no server answers any more, and ends it. */
export function writePlainAnswer(socket: Duplex, error: PraxisError, security: Readonly<Record<string, string>>): void {
  if (!socket.writable) return void socket.destroy();
  const { headers, body } = buildPlainAnswer(error, security);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
}
