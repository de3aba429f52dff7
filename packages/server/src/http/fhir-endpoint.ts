/**
 * A FHIR request from raw HTTP to its answer. The order of checks is the contract's (settled.md "Order of checks").
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PraxisError } from '../base/errors.ts';
import { answerBundle } from '../bundle/answer-bundle.ts';
import type { FhirResponse, InteractionContext } from '../interactions/context.ts';
import { dispatch } from '../interactions/dispatch.ts';
import { fhirTarget, interactionOf } from '../interactions/fhir-target.ts';
import type { ApiCredentials, Session } from '../oauth/session.ts';
import { answerOperation } from '../operations/answer-operation.ts';
import { logFault, toPraxisError } from './errors.ts';
import { sendAnswer } from './fhir-answer.ts';
import { fhirCall, readsBinary } from './fhir-request.ts';
import { baseUrlOf } from './origins.ts';
import type { ServerParts } from './parts.ts';
import { type Route, unknownPath } from './paths.ts';
import { requireTenantPath } from './tenant.ts';

type FhirRoute = Extract<Route, { kind: 'fhir' }>;

/** Answers a request below `/fhir/v2`. */
export async function answerFhir(
  parts: ServerParts,
  route: FhirRoute,
  query: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const environment = await requireTenantPath(parts, route, request);
  const target = fhirTarget(route.segments);
  if (target === undefined) return unknownPath();
  if (target.shape === 'metadata') return parts.openPages.metadata(environment, route, request, reply);
  const credentials: ApiCredentials = {
    environment,
    product: route.product,
    firmPrefix: route.firm,
    authorization: request.raw.headersDistinct.authorization ?? [],
    apiKey: request.raw.headersDistinct['x-api-key'] ?? [],
    ...(tokenInQuery.test(query) ? { tokenElsewhere: 'query' } : {}),
  };
  const call = fhirCall(parts, target, query, request);
  const attempt = async (session: Session): Promise<FhirResponse> => {
    parts.rateLimit.count(session.principal.apiKeyId);
    const interaction = interactionOf(target, request.method);
    const context = interactionContext(parts, route, session, request);
    if (interaction === 'operation') {
      return answerOperation(context, { ...call, operation: target.operation, method: request.method });
    }
    if (interaction !== 'bundle') return dispatch(context, { ...call, interaction });
    return answerBundle(context, await call.open(), {
      entriesMax: parts.config.bundleEntriesMax,
      faultOf: (error) => loggedFault(parts, error, request),
    });
  };
  const response = await withCurrentRights(parts, credentials, attempt);
  return sendAnswer(parts.compressor, reply, response, readsBinary(target, request.method));
}

/** What an entry of a batch is answered with when it fails, while the others go on. */
function loggedFault(parts: ServerParts, error: unknown, request: FastifyRequest): PraxisError {
  const known = toPraxisError(error);
  logFault(known, parts.log, String(request.id));
  return known;
}

/** RFC 6750 §2.3: a token in the query would rest in logs and histories, so it is refused. */
const tokenInQuery = /(?:^|&)access_token=/;

/**
 * Runs `attempt` with the caller's rights. When the data statement finds that the rights changed meanwhile, or a refusal
 * rests on remembered rights that are no longer true, they are read again and the attempt is repeated, once.
 */
async function withCurrentRights<T>(
  parts: ServerParts,
  credentials: ApiCredentials,
  attempt: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await parts.sessions.authenticate(credentials);
  try {
    return await attempt(session);
  } catch (error) {
    if (!(await restsOnOldRights(parts, session, error))) throw error;
    return attempt(await parts.sessions.recheck(credentials));
  }
}

async function restsOnOldRights(parts: ServerParts, session: Session, error: unknown): Promise<boolean> {
  if (!(error instanceof PraxisError)) return false;
  if (error.code === 'stale-access') return true;
  // Refusals come before the data statement, which would have noticed; counting a request is the one that must stay cheap.
  if (error.status >= 500 || error.code === 'rate-exceeded') return false;
  return !(await parts.sessions.current(session));
}

function interactionContext(
  parts: ServerParts,
  route: FhirRoute,
  session: Session,
  request: FastifyRequest,
): InteractionContext {
  const { principal, scope, policy, settings } = session;
  return {
    scope,
    policy,
    settings,
    caller: {
      flow: principal.flow,
      tokenId: principal.tokenId,
      subject: principal.subject,
      requestId: String(request.id),
    },
    store: parts.store,
    clock: parts.clock,
    secrets: parts.secrets,
    validator: parts.validator,
    limits: parts.config,
    baseUrl: baseUrlOf(parts.origins, route),
  };
}
