/**
 * Content by URLs that need no header (docs/decisions/0192): PUT uploads a file once, GET and HEAD send it. What a URL
 * allows is sealed into it; whether that still holds is asked of the database each time.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessRow } from '../../audit/audit-row.ts';
import { fail, PraxisError } from '../../base/errors.ts';
import { describeRefusal } from '../../engine/audit-recorder.ts';
import { type ContentLink, linkParameter, openContentLink } from '../../practice/documents/content-links.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { parseParameters } from '../../search/query/query-string.ts';
import { openScope } from '../../tenancy/scope.ts';
import { noSearchParameters } from '../../tenancy/search-parameters.ts';
import type { Route } from '../request/paths.ts';
import type { ServerServices } from '../services.ts';
import { requireTenantPath } from '../tenant.ts';
import { sendContent } from './content-download.ts';
import { type ContentRequest, makeLinkEndedError, refuseEndedLink } from './content-request.ts';
import { takeContent } from './content-upload.ts';

type ContentRoute = Extract<Route, { kind: 'content' }>;

/** Bytes that cost as much as one request. */
const bytesPerUnit = 1_048_576;

/** Answers a request below the content of a firm. */
export async function answerContent(
  parts: ServerServices,
  route: ContentRoute,
  query: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await requireTenantPath(parts, route, request);
  requireMethod(['GET', 'HEAD', 'PUT'], request.method);
  const link = requireLink(parts, route, query);
  requireMethod(link.purpose === 'upload' ? ['PUT'] : ['GET', 'HEAD'], request.method);
  const subject = { apiKey: link.apiKey, firm: link.firm, address: request.ip };
  const asked: ContentRequest = {
    parts,
    id: route.id,
    link,
    scope: openScope({
      firm: link.firm,
      application: link.application,
      epoch: link.epoch,
      environment: route.environment,
      firmPrefix: route.firm,
      product: route.product,
      timeZone: 'UTC', // no dates are read here
      searchParameters: noSearchParameters,
    }),
    request,
    reply,
    noted: {},
    charge: (bytes) => parts.rateLimit.charge(subject, Math.floor(bytes / bytesPerUnit)),
  };
  return await noted(asked, async () => {
    reply.headers(parts.rateLimit.count(subject));
    if (parts.clock.now() >= link.expiresMs) refuseEndedLink(link.purpose, 'This URL has expired');
    return link.purpose === 'upload' ? await takeContent(asked) : await sendContent(asked);
  });
}

/** @throws PraxisError `resource-not-found` */
function requireLink({ secrets }: ServerServices, place: ContentRoute, query: string): ContentLink {
  const { environment, firm, product, id } = place;
  const value = parseParameters(query).find(([name]) => name === linkParameter)?.[1];
  const link = value === undefined ? undefined : openContentLink(secrets, { environment, firm, product, id }, value);
  if (link !== undefined) return link;
  return fail('resource-not-found', {
    diagnostics:
      'This URL opens nothing: URLs to upload to are answered to POST Binary, those to download from stand in a resource that is read, and both are used as they are given',
  });
}

/** @throws PraxisError `method-not-allowed` */
function requireMethod(methods: readonly string[], method: string): void {
  if (methods.includes(method)) return;
  fail('method-not-allowed', {
    diagnostics: `This URL takes ${methods.join(', ')}`,
    headers: { allow: methods.join(', ') },
  });
}

/** Runs `work` and leaves a row in the audit ledger of the firm, of the answer or the refusal. */
async function noted(asked: ContentRequest, work: () => Promise<FastifyReply>): Promise<FastifyReply> {
  const { parts, link } = asked;
  try {
    const reply = await work();
    const shown = link.purpose === 'download' ? { shown: 1, elements: 'all' as const } : {};
    await parts.ledger.keep(link.firm, [{ ...rowOf(asked), outcome: 0, ...shown }]);
    return reply;
  } catch (thrown) {
    const isStale = thrown instanceof PraxisError && thrown.code === 'stale-access';
    const error = isStale
      ? makeLinkEndedError(link.purpose, 'The rights that this URL was made under have changed')
      : thrown;
    const row = { ...rowOf(asked), ...describeRefusal(error) };
    const repeats = JSON.stringify([row.application, row.interaction, row.id, row.reason]);
    await parts.ledger.keep(link.firm, [{ ...row, repeats }]);
    throw error;
  }
}

function rowOf({ parts, id, link, request, noted: facts }: ContentRequest): Omit<AccessRow, 'outcome'> {
  const [type = '', resource = ''] = link.purpose === 'upload' ? ['Binary', id] : link.holder.split('/');
  return {
    atMs: parts.clock.now(),
    application: link.application,
    interaction: `$${link.purpose}`,
    typeNumber: getTypeNumber(type),
    id: resource,
    subject: link.subject,
    tokenId: link.tokenId,
    requestId: String(request.id),
    flow: link.flow,
    ...facts,
  };
}
