/**
 * What is answered without credentials (docs/integrate/contract.md#order-of-checks): health, the front page,
 * documentation, metadata.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unwrapDisclosed } from '../../access/disclosure.ts';
import { buildCapabilities, type CapabilityFacts } from '../../engine/capabilities.ts';
import type { RateLimit } from '../../limits/rate-limit.ts';
import { operations } from '../../practice/features.ts';
import type { Environment } from '../../tenancy/environments.ts';
import { requireFormat } from '../answer/answer-format.ts';
import type { Compressor } from '../answer/compression.ts';
import { retrySeconds } from '../answer/errors.ts';
import { addVary, sendText } from '../answer/fhir-answer.ts';
import { computeEntityTag } from '../answer/text-file.ts';
import { buildBaseUrl, type Origins } from '../origins.ts';
import { requireGet, type TenantPath } from '../request/paths.ts';
import type { Documentation } from './documentation.ts';
import { renderFrontPage } from './front-page.ts';
import { isFromOwnMachine } from './own-machine.ts';

export interface PublicRoutes {
  /** Answers the path when it is one of the open pages; false when it is not. */
  answer(path: string, reply: FastifyReply): Promise<boolean>;
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
  readonly rateLimit: Pick<RateLimit, 'count'>;
  /**
   * Number of this process among those of its node; undefined: it is alone. `/health/live` tells it, so that who probes them
   * knows which of them has answered.
   */
  readonly worker?: number | undefined;
  /** Command lines with credentials of the sandbox, which the front page shows to those at this machine. */
  readonly firstCalls?: readonly string[] | undefined;
  /** Why the next request would not be served, in words; empty: it would. Asked by `/health/ready`. */
  readonly problems: () => Promise<readonly string[]>;
}

export function createPublicRoutes(options: PublicRoutesOptions): PublicRoutes {
  const pages: Readonly<Record<string, (reply: FastifyReply) => Promise<FastifyReply> | FastifyReply>> = {
    '/': (reply) => {
      const { raw } = reply.request;
      const firstCalls = isFromOwnMachine(raw) ? (options.firstCalls ?? []) : [];
      const { type, text } = renderFrontPage({ version: options.softwareVersion, firstCalls }, raw.headers.accept);
      addVary(reply, 'Accept');
      return reply
        .header('content-type', `${type}; charset=utf-8`)
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        .send(text);
    },
    '/health/live': (reply) => {
      if (options.worker !== undefined) reply.header('x-worker', String(options.worker));
      return health(reply, []);
    },
    '/health/ready': async (reply) => health(reply, await options.problems()),
  };
  return {
    async answer(path, reply) {
      const { request } = reply;
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
      if (page === undefined) return await answerDocumentation(options, path, reply);
      request.parsed.page = path;
      requireGet(request);
      await page(reply);
      return true;
    },
    async metadata({ realm }, path, request, reply, own) {
      requireGet(request);
      const format = requireFormat(request.parsed.formats);
      const { origins, compressor, cors, softwareVersion, releaseDate } = options;
      const facts = {
        baseUrl: buildBaseUrl(origins, path),
        tokenUrl: `${origins.ofRealm(realm)}/auth/realms/${realm}/protocol/openid-connect/token`,
        cors,
        softwareVersion,
        date: releaseDate,
        ...(own === undefined ? {} : { own }),
      };
      const text = unwrapDisclosed(buildCapabilities(facts, operations));
      // An ETag that changes with the text: https://hl7.org/fhir/R4/http.html#capabilities
      reply
        .header('cache-control', own === undefined ? 'public, max-age=300' : 'private, no-cache')
        .header('etag', computeEntityTag(text));
      for (const header of ['Accept', 'Authorization', 'x-api-key']) addVary(reply, header);
      return sendText(compressor, reply, text, format);
    },
  };
}

/** The method comes first, and the limit of the address before what takes time: what is kept is free. */
async function answerDocumentation(
  { documentation, rateLimit }: PublicRoutesOptions,
  path: string,
  reply: FastifyReply,
): Promise<boolean> {
  const { request } = reply;
  if (!documentation.covers(path)) return false;
  requireGet(request);
  const file = await documentation.find(path, () => reply.headers(rateLimit.count({ address: request.ip })));
  if (file === undefined) return false;
  request.parsed.page = path;
  await documentation.send(path, file, reply);
  return true;
}

function health(reply: FastifyReply, problems: readonly string[]): FastifyReply {
  reply.code(problems.length === 0 ? 200 : 503).header('content-type', 'application/json; charset=utf-8');
  if (problems.length > 0) reply.header('retry-after', String(retrySeconds));
  const body = problems.length === 0 ? { status: 'ok' } : { status: 'unavailable', problems };
  return reply.send(JSON.stringify(body));
}
