/**
 * A FHIR request from raw HTTP to its answer. The order of checks is that of docs/integrate/contract.md#order-of-checks.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PraxisError } from '../base/errors.ts';
import { bundleRateCost } from '../bundle/bundle-rate.ts';
import type { FhirResponse, InteractionContext } from '../engine/context.ts';
import { dispatch, interactions } from '../engine/dispatch.ts';
import { parseFhirTarget, replaceBars, requireInteraction } from '../engine/fhir-target.ts';
import { groupUsableParameters } from '../engine/search/own-parameters.ts';
import { suggestTarget } from '../engine/suggest-target.ts';
import { noteFailedParameters } from '../indexing/note-failed.ts';
import { requestLimits } from '../limits/budgets.ts';
import { legacyHeaderNames } from '../oauth/legacy/sunset.ts';
import type { ApiCredentials, Session } from '../oauth/session/session.ts';
import { answerOperation } from '../operations/answer-operation.ts';
import { getOperationCost } from '../operations/registry.ts';
import { CostlyParameters } from '../search/index/costly-parameters.ts';
import { makeFirmClock } from '../tenancy/firm-time.ts';
import { makeAbortableDelay } from './abortable-delay.ts';
import { sendAnswer } from './answer/fhir-answer.ts';
import { openAnswerWriting, writingAtOnce } from './answer/representation.ts';
import { openRequestRecord } from './audit-trail.ts';
import { answerBundleRequest } from './bundle-request.ts';
import type { RequestPlace } from './connections/request-places.ts';
import { buildBaseUrl, buildResourceMetadataUrl } from './origins.ts';
import type { OwnParameters } from './pages/public-routes.ts';
import { makeCharging } from './rate-cost.ts';
import { buildFhirCall, openIncomingBody } from './request/fhir-request.ts';
import { listHeaderValues } from './request/header-values.ts';
import { type FhirRoute, type ParsedFhirRequest, parseFhirRequest } from './request/parsed-request.ts';
import { refuseUnknownPath } from './request/paths.ts';
import type { ServerServices } from './services.ts';
import { requireTenantPath } from './tenant.ts';

/** Answers a request below `/fhir/v2`. */
export async function answerFhir(
  parts: ServerServices,
  route: FhirRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const environment = await requireTenantPath(parts, route, request);
  const target = parseFhirTarget(route.segments);
  if (target === undefined) return refuseUnknownPath(suggestTarget(route.segments));
  const asked = parseFhirRequest(target, request);
  const credentials: ApiCredentials = {
    environment,
    product: route.product,
    firmPrefix: route.firm,
    authorization: listHeaderValues(request.raw, 'authorization'),
    apiKey: listHeaderValues(request.raw, 'x-api-key'),
    userAgent: request.headers['user-agent'],
    resourceMetadataUrl: buildResourceMetadataUrl(parts.origins, route),
    ...(hasToken(asked.query) ? { tokenElsewhere: 'query' } : {}),
  };
  if (target.shape === 'metadata') {
    const own = await ownParameters(parts, credentials, reply);
    return parts.openPages.metadata(environment, route, request, reply, own);
  }
  const record = openRequestRecord(parts, request, credentials);
  const room = parts.bodies.open();
  const beganMs = performance.now();
  let place: RequestPlace | undefined;
  const mayBeginAgain = (): boolean => performance.now() - beganMs - (place?.waitedMs() ?? 0) < beginAgainMaxMs;
  let writing = writingAtOnce;
  const whileWaiting = (reading: () => Promise<Buffer>): Promise<Buffer> => place?.during(reading) ?? reading();
  const body = openIncomingBody(parts, request, room, whileWaiting);
  const attempt = async (session: Session): Promise<FhirResponse> => {
    const target = session.settings.hyphenForBar ? replaceBars(asked.target) : asked.target;
    const call = buildFhirCall(parts, { ...asked, target }, request, buildBaseUrl(parts.origins, route), body);
    announceLegacyEnd(reply, session);
    place ??= parts.places.take(session.scope.application, request.raw);
    writing = openAnswerWriting(parts, session.scope, () => request.raw.socket.destroyed);
    const context = interactionContext(parts, route, session, request, place);
    record.begin({
      context,
      asked: { interaction: ledgerName(asked), type: target.type, id: target.id },
    });
    const subject = { apiKey: session.principal.apiKeyId, firm: session.scope.firm, address: request.ip };
    reply.headers(parts.rateLimit.count(subject));
    room.admit({ apiKey: subject.apiKey, of: session.scope });
    const interaction = asked.interaction ?? requireInteraction(target, request.method);
    const charging = makeCharging((units) => parts.rateLimit.charge(subject, units));
    if (interaction === 'operation') {
      const charged = charging(call, getOperationCost(target));
      return answerOperation(context, { ...charged, operation: target.operation, method: request.method });
    }
    if (interaction !== 'bundle')
      return dispatch(context, { ...charging(call, interactions[interaction]), interaction });
    return answerBundleRequest(parts, context, charging(call, bundleRateCost), { subject, request, reply });
  };
  try {
    const answered = withCurrentRights(parts, credentials, attempt, mayBeginAgain);
    const response = await record.settle(answered).finally(() => room.close());
    return await sendAnswer(parts.compressor, reply, response, writing, asked.isBinaryRead);
  } finally {
    place?.leave();
  }
}

/**
 * What the metadata tell beside what holds at every firm. They are open (docs/integrate/contract.md#order-of-checks), so
 * whoever is not let in is not refused either, and learns nothing about the firm.
 */
async function ownParameters(
  parts: ServerServices,
  credentials: ApiCredentials,
  reply: FastifyReply,
): Promise<OwnParameters | undefined> {
  if (credentials.authorization.length === 0 || credentials.apiKey.length === 0) return undefined;
  try {
    const known = await parts.sessions.authenticate(credentials);
    const session = (await parts.sessions.current(known)) ? known : await parts.sessions.recheck(credentials);
    announceLegacyEnd(reply, session);
    return groupUsableParameters(session.policy, session.scope.searchParameters);
  } catch (error) {
    if (error instanceof PraxisError && error.code !== 'unavailable') return undefined;
    throw error;
  }
}

/** The interaction in the words of the ledger, also where the method has no meaning at the path. */
function ledgerName({ target, interaction }: ParsedFhirRequest): string {
  if (target.shape === 'operation') return `$${target.operation}`;
  return interaction === 'bundle' ? 'transaction' : (interaction ?? 'unknown');
}

/** Set before anything can fail, so that errors carry the headers, too; a second attempt may have others. */
function announceLegacyEnd(reply: FastifyReply, { legacyHeaders }: Session): void {
  for (const name of legacyHeaderNames) reply.removeHeader(name);
  if (legacyHeaders) reply.headers(legacyHeaders);
}

/** RFC 6750 §2.3: a token in the query would rest in logs and histories, so it is refused, however its name is written. */
function hasToken(query: string): boolean {
  return /token|%/.test(query) && new URLSearchParams(query).has('access_token');
}

/**
 * Runs `attempt` with the caller's rights. When the data statement finds that the rights changed meanwhile, or a refusal
 * rests on remembered rights that are no longer true, they are read again and the attempt is repeated, up to
 * `rightsChangesMax` times. Who waited for something until the rights ended gets the refusal that a call of that moment gets.
 * @param mayBeginAgain whether there is time for another attempt
 */
async function withCurrentRights<T>(
  parts: ServerServices,
  credentials: ApiCredentials,
  attempt: (session: Session) => Promise<T>,
  mayBeginAgain: () => boolean,
): Promise<T> {
  let session = await parts.sessions.authenticate(credentials);
  for (let changes = 1; ; changes += 1) {
    try {
      return await withoutCostlyParameters(parts, credentials, session, attempt, mayBeginAgain);
    } catch (error) {
      const isOver = changes > rightsChangesMax || !mayBeginAgain();
      if (!(isOver ? isStale(error) : await restsOnOldRights(parts, session, error))) throw error;
      session = await parts.sessions.recheck(credentials);
      if (isOver) throw error;
    }
  }
}

/** Times that a request is begun again with the rights as they are then: other requests may change them one after another. */
const rightsChangesMax = 3;

/**
 * No attempt begins later than this after the first, in ms, without what was waited for bytes and changes: each may take as long
 * as a request alone, and clients give up.
 */
const beginAgainMaxMs = 15_000;

/** Times that a request is begun again, each time without the search parameters that cost too much. */
const costlyMax = 10;

/** Whoever writes is not refused for a definition of the firm's: it is marked as failed, and the attempt begun again. */
async function withoutCostlyParameters<T>(
  parts: ServerServices,
  credentials: ApiCredentials,
  session: Session,
  attempt: (session: Session) => Promise<T>,
  mayBeginAgain: () => boolean,
): Promise<T> {
  let current = session;
  for (let number = 0; ; number += 1) {
    try {
      return await attempt(current);
    } catch (error) {
      if (!(error instanceof CostlyParameters)) throw error;
      const failed = await parts.store.failParameters(current.scope, error.failed);
      noteFailedParameters(parts, current.scope.firm, failed);
      if (number === costlyMax || !mayBeginAgain()) throw error;
      current = await parts.sessions.recheck(credentials);
    }
  }
}

function isStale(error: unknown): boolean {
  return error instanceof PraxisError && error.code === 'stale-access';
}

async function restsOnOldRights(parts: ServerServices, session: Session, error: unknown): Promise<boolean> {
  if (!(error instanceof PraxisError)) return false;
  if (isStale(error)) return true;
  // Refusals come before the data statement, which would have noticed; counting a request is the one that must stay cheap.
  if (error.status >= 500 || error.code === 'rate-exceeded') return false;
  return !(await parts.sessions.current(session));
}

function interactionContext(
  parts: ServerServices,
  route: FhirRoute,
  session: Session,
  request: FastifyRequest,
  place: RequestPlace,
): InteractionContext {
  const { principal, scope, policy, settings } = session;
  const pause = makeAbortableDelay(request.raw, parts.stopping);
  return {
    scope,
    policy,
    settings,
    caller: {
      flow: principal.flow,
      tokenId: principal.tokenId,
      subject: principal.subject,
      requestId: String(request.id),
      apiKey: principal.apiKeyId,
    },
    store: parts.store,
    clock: makeFirmClock(scope, parts.clock),
    secrets: parts.secrets,
    validator: parts.validator,
    limits: parts.config,
    budget: parts.openBudget(scope, requestLimits, () => request.raw.socket.destroyed),
    baseUrl: buildBaseUrl(parts.origins, route),
    trail: [],
    pause: (ms) => place.during(() => pause(ms)),
  };
}
