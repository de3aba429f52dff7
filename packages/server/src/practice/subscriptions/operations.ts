/**
 * $status, $events and $rotate-secret of Subscriptions
 * (https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/OperationDefinition-backport-subscription-status.html,
 * #OperationDefinition-backport-subscription-events). Each application is told of its own subscriptions alone.
 */
import { toInstant } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import type { BundleEntry } from '../../engine/bundle-text.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { listResponse } from '../../engine/list-response.ts';
import { refuseNotFound, requireGrants } from '../../engine/rights/denials.ts';
import { readTextInput, readTextInputs } from '../../operations/input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../../operations/operation.ts';
import { refuseParameter } from '../../operations/parameter-problem.ts';
import { buildParametersResponse, buildResourceResponse } from '../../operations/result.ts';
import { getTypeName } from '../../storage/rows.ts';
import { maxCountMax, type PayloadContent } from './definition.ts';
import { backportOperations } from './names.ts';
import { buildNotification, buildStatus, showEvents } from './notification.ts';
import { computeSecret, secretOverlapMs } from './secret.ts';
import { findOwnState, listOwnEvents, listOwnStates, rotateSecret, type SubscriptionState } from './store.ts';

/** Subscriptions that one answer tells of. */
const statesMax = 1_000;

const unknownId = 'siege-unknown';

const authorize: Operation['authorize'] = (context) => requireGrants(context, 'Subscription', 'r');

export const subscriptionStatus: Operation<'type' | 'instance'> = {
  name: 'status',
  url: backportOperations.status,
  worstCase: {
    because: 'as many subscriptions as one answer tells of',
    request: () => buildGetRequest('Subscription/$status'),
  },
  levels: ['type', 'instance'],
  types: ['Subscription'],
  affectsState: false,
  parameters: [
    declareInput('id', 'id', 'Only the subscriptions with these ids.', { max: '*' }),
    declareInput('status', 'code', 'Only subscriptions with one of these statuses.', { max: '*' }),
    declareOutput('return', 'Bundle', 'A searchset of Parameters, one a subscription of the application.'),
  ],
  authorize,
  answer: answerStatus,
};

async function answerStatus(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const { place, input } = request;
  const asked = place.level === 'instance' ? [place.id] : readTextInputs(input, 'id');
  if (asked.length > statesMax) refuseParameter('id', `occurs ${statesMax} times at most`);
  const statuses = readTextInputs(input, 'status');
  const found = await listOwnStates(context.store, context.scope, asked, statesMax);
  if (place.level === 'instance' && found.length === 0) return refuseNotFound('Subscription', place.id);
  const told = found.filter(({ status }) => statuses.length === 0 || statuses.includes(status));
  const entries: readonly BundleEntry[] = told.map((state) => ({
    fullUrl: `urn:uuid:${makeUuid()}`,
    resource: buildStatus(context, state, 'query-status'),
    search: { mode: 'match' },
  }));
  return listResponse(context, { type: 'searchset', total: entries.length, links: [], entries });
}

export const subscriptionEvents: Operation<'instance'> = {
  name: 'events',
  url: backportOperations.events,
  worstCase: {
    because: 'as many events as one answer holds',
    request: () => buildGetRequest(`Subscription/${unknownId}/$events?content=full-resource`),
  },
  rateUnits: 4,
  levels: ['instance'],
  types: ['Subscription'],
  affectsState: false,
  parameters: [
    declareInput('eventsSinceNumber', 'string', 'Number of the first event.'),
    declareInput('eventsUntilNumber', 'string', `Number of the last event; ${maxCountMax} at most are told at once.`),
    declareInput('content', 'code', 'empty, id-only or full-resource; absent: as the subscription says.'),
    declareOutput('return', 'Bundle', 'A notification with the events that are kept.'),
  ],
  authorize,
  answer: answerEvents,
};

/** @throws PraxisError `resource-not-found`, `operation-parameter-invalid` */
async function answerEvents(context: InteractionContext, request: OperationRequest<'instance'>): Promise<FhirResponse> {
  const { place, input } = request;
  const state = await requireOwn(context, place.id);
  const from = readNumber(input, 'eventsSinceNumber') ?? 1;
  const until = readNumber(input, 'eventsUntilNumber') ?? state.events;
  const content = readContent(input, state.definition.content);
  if (state.policy !== null && state.policy !== context.policy.fingerprint) refuseOtherRights();
  const wanted = { from, until, limit: maxCountMax };
  const events = await listOwnEvents(context.store, context.scope, state.id, wanted);
  const shown = await showEvents(context, events, content);
  if (content !== 'empty')
    for (const { event } of shown) if (getTypeName(event.rtype) === 'Patient') context.note?.patients.add(event.id);
  return buildResourceResponse(buildNotification(context, state, 'query-event', shown, content));
}

function refuseOtherRights(): never {
  return fail('feed-ended', {
    diagnostics:
      'The rights of the token differ from those that the events were admitted under: ask with a token of the same scope, or begin the subscription anew by the status requested',
  });
}

function readNumber(input: OperationRequest['input'], name: string): number | undefined {
  const text = readTextInput(input, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) refuseParameter(name, 'takes the number of an event, from 1');
  return Number(text);
}

const contents: readonly PayloadContent[] = ['empty', 'id-only', 'full-resource'];

/** What the subscription asks for, unless the request asks for something else: both are shown by the same rights. */
function readContent(input: OperationRequest['input'], most: PayloadContent): PayloadContent {
  const text = readTextInput(input, 'content');
  if (text === undefined) return most;
  const content = contents.find((each) => each === text);
  if (content === undefined) return refuseParameter('content', `is one of ${contents.join(', ')}`);
  return content;
}

export const rotateSecretOperation: Operation<'instance'> = {
  name: 'rotate-secret',
  url: 'https://praxis.health/fhir/OperationDefinition/Subscription-rotate-secret',
  worstCase: {
    because: 'changes one row',
    request: () => ({ method: 'POST', path: `Subscription/${unknownId}/$rotate-secret` }),
  },
  levels: ['instance'],
  types: ['Subscription'],
  affectsState: true,
  parameters: [
    declareOutput('secret', 'string', 'The secret by which notifications are signed from now on.'),
    declareOutput('previousUntil', 'instant', 'Until then they are signed by the secret before, too.'),
  ],
  authorize: (context) => requireGrants(context, 'Subscription', 'u'),
  answer: answerRotation,
};

/** @throws PraxisError `resource-not-found` */
async function answerRotation(
  context: InteractionContext,
  { place }: OperationRequest<'instance'>,
): Promise<FhirResponse> {
  const { store, scope, secrets, clock } = context;
  const endsMs = clock.now() + secretOverlapMs;
  const number = await rotateSecret(store, scope, place.id, endsMs);
  if (number === undefined) return refuseNotFound('Subscription', place.id);
  return buildParametersResponse([
    { name: 'secret', type: 'string', value: computeSecret(secrets, scope, place.id, number) },
    { name: 'previousUntil', type: 'instant', value: toInstant(endsMs) },
  ]);
}

async function requireOwn(context: InteractionContext, id: string): Promise<SubscriptionState> {
  return (await findOwnState(context.store, context.scope, id)) ?? refuseNotFound('Subscription', id);
}
