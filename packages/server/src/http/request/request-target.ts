/**
 * The absolute form of a request target, as for a proxy: `GET http://host/path HTTP/1.1`
 * (https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2). Servers have to take it, and its host instead of the Host header.
 */
import type { IncomingMessage } from 'node:http';

/** Scheme, authority and the rest; one with user information is no target (RFC 9110 §4.2.4). */
const absoluteForm = /^https?:\/\/([^/?#@]+)([/?][^#]*)?$/i;

/** Puts path and query of an absolute form in place of it, and its host in place of the Host header; others stay as they are. */
export function toOriginForm(request: IncomingMessage): void {
  const [, authority, rest = '/'] = absoluteForm.exec(request.url ?? '') ?? [];
  if (authority === undefined) return;
  request.headers.host = authority;
  // Fastify takes the target from there.
  Object.assign(request, { originalUrl: rest.startsWith('/') ? rest : `/${rest}` });
}
