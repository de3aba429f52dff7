/**
 * The HTTP server: the only module that knows Fastify. Every request is answered in one hook, before Fastify looks at its
 * path, method or body: `paths.ts` matches the raw path, and nothing is refused before the checks that come first
 * (docs/integrate/contract.md#order-of-checks). Fastify brings the server, hooks, CORS and life cycle.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import cors, { type FastifyCorsOptions } from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../base/config.ts';
import { type ErrorCode, fail, PraxisError } from '../base/errors.ts';
import { makeUuid } from '../base/ids.ts';
import type { Metrics } from '../base/metrics.ts';
import { listHeaders } from '../openapi/headers.ts';
import { countRefusal, sendOutcome, toPraxisError } from './answer/errors.ts';
import { buildPlainAnswer } from './answer/plain-answer.ts';
import { findAllowedOrigins, isPreflight, openPreflightRefusal, variesByOrigin } from './browsers.ts';
import { watchSockets } from './connections/sockets.ts';
import { answerContent } from './content/content-endpoint.ts';
import { answerFhir } from './fhir-endpoint.ts';
import { answerWellKnown } from './pages/well-known.ts';
import { parseRequest } from './request/parsed-request.ts';
import { matchPath, refuseUnknownPath } from './request/paths.ts';
import { toOriginForm } from './request/request-target.ts';
import { suggestPath } from './request/suggest-path.ts';
import { describeMethod, describePath, unknownPath } from './request-log.ts';
import { buildSecurityHeaders } from './security-headers.ts';
import type { ServerServices } from './services.ts';
import { requireTenantPath } from './tenant.ts';
import { answerLegacyToken, answerRealm } from './token-endpoints.ts';
import { isSocketRequest, serveSockets } from './websocket/upgrades.ts';

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** Longest request id of a client that comes back where it got another one (https://hl7.org/fhir/R4/http.html#custom). */
const correlationLengthMax = 256;

/** Retry-After for an address with too many connections. */
const retrySeconds = 1;

/** The server, ready but not listening yet. */
export async function openServer(parts: ServerServices): Promise<FastifyInstance> {
  const { config } = parts;
  const server = Fastify({
    logger: false,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && requestIdPattern.test(given) ? given : makeUuid();
    },
    requestTimeout: 0, // by size: sockets.ts
    keepAliveTimeout: 72_000,
    http: {
      maxHeaderSize: config.uriBytesMax + 32_768,
      headersTimeout: 60_000,
      shouldUpgradeCallback: isSocketRequest,
    },
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    clientErrorHandler: (error, socket) => answerBrokenRequest(parts, error, socket),
    forceCloseConnections: 'idle',
    rewriteUrl: (request) => {
      toOriginForm(request);
      return '/'; // its router refuses broken percent-escapes in words of its own
    },
  });
  serveSockets(server.server, parts);
  watchTheDoor(server.server, parts); // before others listen for requests, too
  server.setErrorHandler((thrown, _request, reply) => {
    const error = toPraxisError(thrown);
    countRefusal(parts.metrics, error);
    return sendOutcome(reply, error, parts.log);
  });
  watchSockets(server.server, config, {
    bodyTooSlow: (socket) => server.server.emit('clientError', brokenBy('ERR_HTTP_REQUEST_TIMEOUT'), socket),
    tooMany: (socket) => server.server.emit('clientError', brokenBy(tooManyConnections), socket),
  });
  server.decorateRequest('parsed');
  server.addHook('onRequest', (request, _reply, done) => {
    request.parsed = parseRequest(request); // the first hook: all others rely on it
    done();
  });
  measure(server, parts);
  if (parts.tracer !== undefined) {
    const { traceRequests } = await import('./request-spans.ts');
    traceRequests(server, parts.tracer);
  }
  await allowBrowsers(server, config);
  const refusePreflight = openPreflightRefusal(parts.clock, parts.log);
  server.addHook('onRequest', (request, reply) =>
    config.corsOrigins.length === 0 && isPreflight(request) ? refusePreflight(request) : route(parts, request, reply),
  );
  await server.ready();
  return server;
}

/** There is none: without compilers of our own Fastify would load its own, with a hundred files for JSON Schema. */
function refuseSchema(): never {
  throw new TypeError('Routes have no schemas');
}

/**
 * Requests of the data API wait for a place, or are refused, before any hook (docs/decisions/0262): under overload they
 * are most of all.
 */
function watchTheDoor(server: FastifyInstance['server'], parts: ServerServices): void {
  const [handle] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  if (handle === undefined) return;
  const security = buildSecurityHeaders(parts.config);
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    // Browsers need headers of their own, and are answered as usual.
    const isOurs = request.headers.origin === undefined && request.url?.includes('/fhir/') === true;
    if (!isOurs) return handle(request, response);
    parts.places.enter(request, response, {
      proceed: () => handle(request, response),
      refuse(error) {
        const { status, code } = error;
        const { method = '', url = '' } = request;
        parts.metrics.requestDurationSeconds.observe({ route: 'fhir', method: describeMethod(method), status }, 0);
        countRefusal(parts.metrics, error);
        const requestId = makeUuid();
        const { headers, body } = buildPlainAnswer(error, security, requestId);
        parts.requestLog.note(() => {
          const path = describePath({ route: matchPath(url.replace(/\?.*$/s, '')), page: undefined });
          return { requestId, method, route: 'fhir', path, status, code, ms: 0 };
        });
        response.writeHead(status, headers);
        response.end(body);
      },
    });
  });
  server.once('close', () => parts.places.close());
}

async function allowBrowsers(server: FastifyInstance, config: Config): Promise<void> {
  const options: FastifyCorsOptions = {
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization',
      'X-Api-Key',
      'Content-Type',
      'Content-Digest',
      'Accept',
      'Prefer',
      'If-Match',
      'If-None-Match',
      'If-None-Exist',
      'X-Request-Id',
      'Content-Flag',
      'Idempotency-Key',
      'X-Security-Context',
    ],
    exposedHeaders: [
      'ETag',
      'Location',
      'Content-Location',
      'Last-Modified',
      'WWW-Authenticate',
      'X-Request-Id',
      'X-Correlation-Id',
      'Retry-After',
      'X-Progress',
      'Expires',
      'RateLimit',
      'RateLimit-Policy',
      'X-Security-Context',
      ...listHeaders,
      'Idempotent-Replayed',
      'X-Complete-Until',
      'Deprecation',
      'Sunset',
    ],
    maxAge: 600,
  };
  await server.register(cors, {
    delegator: (request, callback) =>
      callback(null, { ...options, origin: findAllowedOrigins(config, request), preflight: isPreflight(request) }),
  });
  server.addHook('onRequest', (request, reply, done) => {
    // Nothing else has set it yet, and @fastify/cors always does where origins are decided by request.
    if (!variesByOrigin(config, request)) reply.removeHeader('vary');
    done();
  });
}

async function route(parts: ServerServices, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { path, query, route: match } = request.parsed;
  if (request.originalUrl.length > parts.config.uriBytesMax) {
    const diagnostics = `The path and query are longer than ${parts.config.uriBytesMax} bytes: search by POST to _search instead`;
    throw new PraxisError('uri-too-long', { diagnostics });
  }
  if (await parts.openPages.answer(path, reply)) return reply;
  switch (match?.kind) {
    case 'fhir':
      return answerFhir(parts, match, request, reply);
    case 'content':
      return answerContent(parts, match, query, request, reply);
    case 'legacy-token':
      return answerLegacyToken(parts, match, request, reply);
    case 'websocket':
      await requireTenantPath(parts, match, request);
      return refuseWithoutUpgrade();
    case 'smart-configuration':
    case 'protected-resource':
      return answerWellKnown(parts, match, request, reply);
    case 'realm':
      return answerRealm(parts, match, request, reply);
    case 'administration': {
      // Most processes are never asked: its actions are loaded by the first request.
      const { answerAdministration } = await import('./admin-endpoint.ts');
      return answerAdministration(parts, match, query, request, reply);
    }
    case undefined:
      return refuseUnknownPath(suggestPath(path));
  }
}

/** https://www.rfc-editor.org/rfc/rfc9110#section-15.5.22 */
function refuseWithoutUpgrade(): never {
  return fail('upgrade-required', {
    diagnostics: 'This path takes websockets alone: connect to it with wss, and send bind-with-token',
    headers: { upgrade: 'websocket', connection: 'Upgrade' },
  });
}

/** Request ids, durations and one line of the log a request; never a path's ids or query. */
function measure(server: FastifyInstance, parts: ServerServices): void {
  const { metrics, requestLog } = parts;
  const ofEnvironments = countByEnvironment(metrics);
  const security = buildSecurityHeaders(parts.config);
  server.addHook('onRequest', (request, reply, done) => {
    metrics.requestsInFlight.inc();
    reply.raw.once('close', () => metrics.requestsInFlight.dec()); // also when the connection is cut
    reply.header('x-request-id', request.id).headers(security);
    const given = request.headers['x-request-id'];
    if (typeof given === 'string' && given !== request.id && given.length <= correlationLengthMax)
      reply.header('x-correlation-id', given);
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, method, parsed } = request;
    const { elapsedTime, statusCode: status } = reply;
    // `fhir/Patient`-like detail stays out to bound the number of series.
    const kind = parsed.route?.kind ?? 'other';
    const { environment, refusal: code } = parsed;
    metrics.requestDurationSeconds.observe({ route: kind, method: describeMethod(method), status }, elapsedTime / 1000);
    if (environment !== undefined) ofEnvironments(environment, status);
    // Probes come every few seconds, and say nothing as long as all is well.
    const isProbe = status < 400 && parsed.page?.startsWith('/health/') === true;
    if (!isProbe)
      requestLog.note(() => {
        const ms = Math.round(elapsedTime * 10) / 10;
        return { requestId, method, route: kind, path: describePath(parsed), status, code, ms, environment };
      });
    done();
  });
}

/** Counts requests by environment and class of status; these are few, and they are told when somebody asks. */
function countByEnvironment({ environmentRequests }: Metrics): (environment: string, status: number) => void {
  const counts = new Map<string, number[]>();
  environmentRequests.readFrom(() =>
    [...counts].flatMap(([environment, ofClasses]) =>
      ofClasses.flatMap((count, index) => [[{ environment, class: `${index}xx` }, count] as const]),
    ),
  );
  return (environment, status) => {
    const ofClasses = counts.get(environment) ?? [];
    if (ofClasses.length === 0) counts.set(environment, ofClasses);
    const index = Math.floor(status / 100);
    ofClasses[index] = (ofClasses[index] ?? 0) + 1;
  };
}

/** What HTTP's parser refuses (raw spaces, broken headers, unknown methods) is still answered with an OperationOutcome. */
function answerBrokenRequest(parts: ServerServices, error: ParserError, socket: Socket): void {
  const { log, config, metrics, requestLog } = parts;
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const { status, code, diagnostics, headers } = brokenRequestOf(error);
  const requestId = makeUuid();
  log.debug({ requestId, status, code: error.code }, 'request not understood');
  const ofLimit = error.code === tooManyConnections ? { limit: 'connections' as const } : {};
  const refusal = new PraxisError(code, { diagnostics, headers: { connection: 'close', ...headers }, ...ofLimit });
  countRefusal(metrics, refusal);
  requestLog.note(() => ({
    requestId,
    route: 'other',
    path: unknownPath,
    status: Number.parseInt(status, 10),
    code,
    ms: 0,
  }));
  const answer = buildPlainAnswer(refusal, buildSecurityHeaders(config), requestId);
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${answer.body}`);
}

/** What http's parser says, with the bytes that it could not read. */
type ParserError = Error & { readonly code?: string; readonly rawPacket?: unknown };

/** An error as the parser's, of ours. */
function brokenBy(code: string): ParserError {
  return Object.assign(new Error(code), { code });
}

const tooManyConnections = 'TOO_MANY_CONNECTIONS';

function brokenRequestOf({ code, rawPacket }: ParserError): BrokenRequest {
  // What is no request line at all, such as TLS, is said to have an unknown method, too.
  const received = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
  const isMethod = code !== 'HPE_INVALID_METHOD' || requestLine.test(received);
  return (isMethod ? brokenRequests[code ?? ''] : undefined) ?? malformed;
}

/** https://www.rfc-editor.org/rfc/rfc9112#section-3 */
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/;

interface BrokenRequest {
  readonly status: string;
  readonly code: ErrorCode;
  readonly diagnostics: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const malformed: BrokenRequest = {
  status: '400 Bad Request',
  code: 'request-malformed',
  diagnostics: 'The request line or a header is not valid HTTP: percent-encode spaces and all beyond ASCII',
};

/** By the code of the parser's error. */
const brokenRequests: Readonly<Record<string, BrokenRequest>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'request-malformed',
    diagnostics: 'The request line and headers are too long: search by POST to _search instead',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'request-malformed',
    diagnostics: 'The request did not arrive in time',
  },
  [tooManyConnections]: {
    status: '429 Too Many Requests',
    code: 'rate-exceeded',
    diagnostics: 'This address has too many connections: use those that are open, or close some',
    headers: { 'retry-after': String(retrySeconds) },
  },
  // RFC 9110 §15.6.2: a method that is known nowhere is 501; one that a path does not take is 405.
  HPE_INVALID_METHOD: {
    status: '501 Not Implemented',
    code: 'method-unknown',
    diagnostics: 'The method is none of HTTP: GET, HEAD, POST, PUT, PATCH and DELETE are taken, in upper case',
  },
};
