/**
 * What is answered without credentials (docs/integrate/contract.md#order-of-checks): health, the front page,
 * documentation, metadata.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unwrapDisclosed } from '../../access/disclosure.ts';
import { fail } from '../../base/errors.ts';
import { buildCapabilities, type CapabilityFacts } from '../../engine/capabilities.ts';
import { operations } from '../../practice/operations.ts';
import type { Environment } from '../../tenancy/environments.ts';
import { requireFormat } from '../answer/answer-format.ts';
import type { Compressor } from '../answer/compression.ts';
import { retrySeconds } from '../answer/errors.ts';
import { addVary, sendText } from '../answer/fhir-answer.ts';
import { computeEntityTag } from '../answer/text-file.ts';
import { buildBaseUrl, type Origins } from '../origins.ts';
import type { TenantPath } from '../request/paths.ts';
import type { Documentation } from './documentation.ts';
import { renderFrontPage } from './front-page.ts';

export interface PublicRoutes {
  /** Answers the path when it is one of the open pages; false when it is not. */
  answer(path: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
  metadata(
    environment: Environment,
    path: TenantPath,
    request: FastifyRequest,
    reply: FastifyReply,
    own: OwnParameters | undefined,
  ): Promise<FastifyReply>;
}

/** The search parameters of a firm's own that the caller may search by, by type. */
export type OwnParameters = NonNullable<CapabilityFacts['own']>;

export interface PublicRoutesOptions {
  readonly origins: Origins;
  readonly cors: boolean;
  readonly softwareVersion: string;
  readonly releaseDate: string;
  readonly compressor: Compressor;
  readonly documentation: Documentation;
  /** Number of this process among those of its node; undefined: it is alone. Told by `/health/live`. */
  readonly worker?: number | undefined;
  /** Why the next request would not be served, in words; empty: it would. Asked by `/health/ready`. */
  readonly problems: () => Promise<readonly string[]>;
}

export function createPublicRoutes(options: PublicRoutesOptions): PublicRoutes {
  const pages: Readonly<Record<string, (reply: FastifyReply) => Promise<FastifyReply> | FastifyReply>> = {
    '/': (reply) =>
      reply
        .header('content-type', 'text/html; charset=utf-8')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
        .send(renderFrontPage(options.softwareVersion)),
    '/health/live': (reply) => health(nameWorker(reply, options.worker), []),
    '/health/ready': async (reply) => health(reply, await options.problems()),
  };
  return {
    async answer(path, request, reply) {
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
      if (page === undefined && !options.documentation.has(path)) return false;
      requireGet(request);
      await (page === undefined ? options.documentation.send(path, request, reply) : page(reply));
      return true;
    },
    metadata: (environment, path, request, reply, own) => metadata(options, environment, path, request, reply, own),
  };
}

function requireGet(request: FastifyRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  fail('method-not-allowed', { diagnostics: 'This path takes GET', headers: { allow: 'GET, HEAD' } });
}

function health(reply: FastifyReply, problems: readonly string[]): FastifyReply {
  reply.code(problems.length === 0 ? 200 : 503).header('content-type', 'application/json; charset=utf-8');
  if (problems.length > 0) reply.header('retry-after', String(retrySeconds));
  const body = problems.length === 0 ? { status: 'ok' } : { status: 'unavailable', problems };
  return reply.send(JSON.stringify(body));
}

/** So that whoever probes a node of several workers knows which of them has answered. */
function nameWorker(reply: FastifyReply, worker: number | undefined): FastifyReply {
  return worker === undefined ? reply : reply.header('x-worker', String(worker));
}

async function metadata(
  options: PublicRoutesOptions,
  environment: Environment,
  path: TenantPath,
  request: FastifyRequest,
  reply: FastifyReply,
  own: OwnParameters | undefined,
): Promise<FastifyReply> {
  requireGet(request);
  const format = requireFormat(request.parsed.formats);
  const facts = {
    baseUrl: buildBaseUrl(options.origins, path),
    tokenUrl: `${options.origins.ofRealm(environment.realm)}/auth/realms/${environment.realm}/protocol/openid-connect/token`,
    cors: options.cors,
    softwareVersion: options.softwareVersion,
    date: options.releaseDate,
    ...(own === undefined ? {} : { own }),
  };
  const statement = buildCapabilities(facts, operations);
  const text = unwrapDisclosed(statement);
  // An ETag that changes with the text: https://hl7.org/fhir/R4/http.html#capabilities
  reply
    .header('cache-control', own === undefined ? 'public, max-age=300' : 'private, no-cache')
    .header('etag', computeEntityTag(text));
  for (const header of ['Accept', 'Authorization', 'x-api-key']) addVary(reply, header);
  return sendText(options.compressor, reply, text, format);
}
