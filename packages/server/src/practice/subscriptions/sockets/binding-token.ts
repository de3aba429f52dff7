/**
 * $get-ws-binding-token
 * (https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/OperationDefinition-backport-subscription-get-ws-binding-token.html):
 * a token by which a connection without credentials of its own is bound to subscriptions of the application that asks.
 */
import { toInstant } from '../../../base/clock.ts';
import { fail } from '../../../base/errors.ts';
import { makeSecret } from '../../../base/ids.ts';
import { buildGetRequest } from '../../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../../engine/context.ts';
import { refuseNotFound, requireGrants } from '../../../engine/rights/denials.ts';
import { buildWebsocketUrl } from '../../../engine/websocket-url.ts';
import { readTextInputs } from '../../../operations/input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../../../operations/operation.ts';
import { refuseParameter } from '../../../operations/parameter-problem.ts';
import { buildParametersResponse } from '../../../operations/result.ts';
import { refuseElement } from '../definition.ts';
import { backportOperations } from '../names.ts';
import { listOwnStates, type SubscriptionState } from '../store.ts';
import { keepToken } from './binding-store.ts';
import { subscriptionsOfSocketMax } from './bindings.ts';

/** For how long a token binds. What is bound stays so. */
const tokenMs = 60_000;

/** Subscriptions that are looked at where none are named. */
const statesMax = 1_000;

export const bindingTokenOperation: Operation<'type' | 'instance'> = {
  name: 'get-ws-binding-token',
  url: backportOperations.bindingToken,
  worstCase: {
    because: 'looks at as many subscriptions as an application has, and keeps a row',
    request: () => buildGetRequest('Subscription/$get-ws-binding-token'),
  },
  rateUnits: 2,
  levels: ['type', 'instance'],
  types: ['Subscription'],
  affectsState: false,
  // Its answer is a credential of the caller: no entry of a Bundle, which is kept longer.
  standsAlone: true,
  parameters: [
    declareInput('id', 'id', 'The subscriptions; absent: all of the application that go by websocket.', { max: '*' }),
    declareOutput('token', 'string', 'What a client sends after bind-with-token. It is good once.'),
    declareOutput('expiration', 'dateTime', 'Until then the token binds.'),
    declareOutput('subscription', 'string', 'Ids of the subscriptions that it binds.', { max: '*' }),
    declareOutput('websocket-url', 'url', 'Where the client connects.'),
  ],
  authorize: (context) => requireGrants(context, 'Subscription', 'r'),
  answer: answerToken,
};

/** @throws PraxisError `resource-not-found`, `operation-parameter-invalid`, `rule-broken` */
async function answerToken(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const { store, scope, secrets, clock, caller, baseUrl } = context;
  const { place, input } = request;
  const asked = place.level === 'instance' ? [place.id] : [...new Set(readTextInputs(input, 'id'))];
  if (asked.length > subscriptionsOfSocketMax)
    refuseParameter('id', `occurs ${subscriptionsOfSocketMax} times at most`);
  const found = await listOwnStates(store, scope, asked, statesMax);
  const missing = asked.find((id) => !found.some((state) => state.id === id));
  if (missing !== undefined) return refuseNotFound('Subscription', missing);
  const bound = asked.length > 0 ? found : found.filter((state) => findProblem(state) === undefined);
  for (const state of bound) requireBindable(state);
  if (bound.length === 0) refuseParameter('id', 'is absent, and the application has no websocket that could be bound');
  if (bound.length > subscriptionsOfSocketMax)
    refuseParameter('id', `is absent, and there are more than ${subscriptionsOfSocketMax}: name some of them`);
  const { apiKey, tokenId: accessToken } = caller;
  if (apiKey === undefined) return fail('internal', { diagnostics: 'A binding token is asked for by a call' });
  const token = makeSecret();
  const nowMs = clock.now();
  const expiresMs = nowMs + tokenMs;
  const subscriptions = bound.map(({ id }) => id);
  const hash = secrets.hash('websocket-token', token);
  const kept = { hash, expiresMs, application: scope.application, apiKey, accessToken, subscriptions };
  await keepToken(store, scope, kept, nowMs);
  return buildParametersResponse([
    { name: 'token', type: 'string', value: token },
    { name: 'expiration', type: 'dateTime', value: toInstant(expiresMs) },
    ...subscriptions.map((id) => ({ name: 'subscription', type: 'string', value: id })),
    { name: 'websocket-url', type: 'url', value: buildWebsocketUrl(baseUrl) },
  ]);
}

/** Why no client can be bound to it, and the element that says so. */
function findProblem({
  id,
  status,
  definition,
}: SubscriptionState): readonly [element: string, problem: string] | undefined {
  if (definition.endpoint !== undefined)
    return ['channel.type', `of Subscription/${id} is rest-hook: it is told at its endpoint`];
  if (status === 'requested' || status === 'active') return undefined;
  return ['status', `of Subscription/${id} is ${status}: ask for it again by the status requested`];
}

function requireBindable(state: SubscriptionState): void {
  const problem = findProblem(state);
  if (problem !== undefined) refuseElement(...problem);
}
