/** Requests as spans (https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server-span): what the log of requests tells, too. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestSpan, Tracer } from '../base/tracing/tracer.ts';
import { describeMethod, describePath } from './request-log.ts';

/** Follows the requests of `server`, whose `request.parsed` must be set before. */
export function traceRequests(server: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  server.addHook('onRequest', (request, _reply, done) => {
    // Probes come every few seconds.
    if (request.parsed.path.startsWith('/health/')) return done();
    const { traceparent } = request.headers;
    const span = tracer.followRequest(typeof traceparent === 'string' ? traceparent : undefined, done);
    if (span !== undefined) spans.set(request, span);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request);
    if (span !== undefined) span.end(describeRequest(request, reply.statusCode));
    done();
  });
}

function describeRequest({ id, method: sent, parsed }: FastifyRequest, status: number) {
  const { environment, refusal } = parsed;
  const method = describeMethod(sent);
  const path = describePath(parsed);
  return {
    name: `${method} ${path}`,
    isError: status >= 500,
    attributes: {
      'http.request.method': method,
      'http.route': path,
      'http.response.status_code': status,
      'praxis.request_id': String(id),
      ...(environment === undefined ? {} : { 'praxis.environment': environment }),
      ...(refusal === undefined ? {} : { 'error.type': refusal }),
    },
  };
}
