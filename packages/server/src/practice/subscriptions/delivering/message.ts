/**
 * One message of a subscription: the request that it is sent by, in the media type that the subscriber named and signed by its
 * secrets, and the attempt that is told of it.
 */
import { isJsonObject, type JsonLimits, parseJsonInParts, toXmlParts } from '@praxis/fhir';
import { type Disclosed, unwrapDisclosed } from '../../../access/disclosure.ts';
import type { InteractionContext } from '../../../engine/context.ts';
import type { KeptConnections } from '../../../outbound/kept-connections.ts';
import { type MessageOutcome, postSigned } from '../../../outbound/webhook.ts';
import { getTypeName } from '../../../storage/rows.ts';
import type { FeatureServices } from '../../feature.ts';
import { openHeaders } from '../channel-headers.ts';
import { buildNotification, type NotificationType, type ShownEvent } from '../notification.ts';
import { computeSecret } from '../secret.ts';
import type { Binding } from '../sockets/bindings.ts';
import type { SubscriptionState } from '../store.ts';
import type { DeliveryAttempt } from './attempts.ts';
import type { DueSubscription } from './due.ts';

/** For which subscription, and how. */
export interface Sending {
  readonly services: FeatureServices;
  readonly due: DueSubscription;
  readonly state: SubscriptionState;
  /** Number of the last attempt. */
  readonly tries: { last: number };
  readonly signal: AbortSignal;
  readonly connections: KeptConnections;
  /** The socket, of one that goes by websocket; undefined: this process has none for it. */
  readonly binding: Binding | undefined;
}

/** What is sent: which kind, under which `webhook-id`, and as of when. */
interface Message {
  readonly type: DeliveryAttempt['kind'];
  readonly id: string;
  readonly nowMs: number;
}

/** What came of a message, and the attempt as it is kept. */
export interface Tried {
  readonly outcome: MessageOutcome;
  readonly attempt: DeliveryAttempt;
}

export function isAccepted({ outcome }: Tried): boolean {
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

/** Sends it to the endpoint, or by the socket that is bound to the subscription; to a socket nothing is signed. */
export async function send(
  sending: Sending,
  context: InteractionContext,
  message: Message,
  shown: readonly ShownEvent[],
): Promise<Tried> {
  const { services, due, state, tries, signal, binding } = sending;
  const begunMs = performance.now();
  const outcome =
    binding === undefined
      ? await sendToEndpoint(sending, context, message, shown)
      : await sendBySocket(binding, sending, context, message, shown);
  const attempt: DeliveryAttempt = {
    number: ++tries.last,
    kind: message.type,
    atMs: message.nowMs,
    tookMs: Math.round(performance.now() - begunMs),
    firstEvent: shown[0]?.event.number ?? null,
    lastEvent: shown.at(-1)?.event.number ?? null,
    status: outcome.kind === 'answered' ? outcome.status : null,
    reason: outcome.kind === 'answered' ? null : outcome.reason,
  };
  // What the end of the process has cut off says nothing of the endpoint.
  if (!signal.aborted)
    services.deliveryMeter.note({
      due,
      outcome,
      failedBefore: state.attempts,
      changedMs: shown[0]?.event.atMs,
      isSocket: binding !== undefined,
    });
  return { outcome, attempt };
}

async function sendToEndpoint(
  { services, due, state, signal, connections }: Sending,
  context: InteractionContext,
  { type, id, nowMs }: Message,
  shown: readonly ShownEvent[],
): Promise<MessageOutcome> {
  const { definition, secret, previousSecretEndsMs } = state;
  const { scope, secrets } = context;
  const numbers = previousSecretEndsMs !== null && previousSecretEndsMs > nowMs ? [secret, secret - 1] : [secret];
  const { url, method, body, contentType } = await formMessage(context, state, type, shown);
  const loopback = services.limits.outboundLoopback?.includes(due.environment) === true;
  const post = (traceparent?: string): Promise<MessageOutcome> =>
    postSigned(
      {
        url,
        method,
        body,
        headers: {
          ...(traceparent === undefined ? {} : { traceparent }),
          ...openHeaders({ scope, secrets, id: state.id }, definition.headers),
          ...(contentType === undefined ? {} : { 'content-type': contentType }),
        },
        secrets: numbers.map((number) => computeSecret(secrets, scope, state.id, number)),
        id,
        timestamp: Math.floor(nowMs / 1000),
        timeoutMs: definition.timeoutSeconds * 1000,
      },
      { loopback, signal, connections },
    );
  if (services.tracer === undefined) return await post();
  const description = {
    name: `notify ${type}`,
    kind: 'client',
    attributes: { 'http.request.method': method },
  } as const;
  return await services.tracer.measureAlone(description, post, describeSpanOutcome);
}

/** How a span ends: by the status of the answer, or because there was none. */
function describeSpanOutcome(outcome: MessageOutcome) {
  if (outcome.kind !== 'answered') return { attributes: { 'error.type': 'unreachable' }, isError: true };
  const { status } = outcome;
  const error = status < 400 ? {} : { 'error.type': String(status) };
  return { attributes: { 'http.response.status_code': status, ...error }, isError: status >= 400 };
}

async function sendBySocket(
  { socket }: Binding,
  { state }: Sending,
  context: InteractionContext,
  { type }: Message,
  shown: readonly ShownEvent[],
): Promise<MessageOutcome> {
  const text = await formText(context, state, type, shown);
  const isTaken = await socket.deliver(text, state.definition.timeoutSeconds * 1000);
  return isTaken ? { kind: 'answered', status: 200 } : { kind: 'unreachable', reason: 'no client took it' };
}

interface FormedMessage {
  readonly url: string;
  readonly method: 'POST' | 'PUT';
  readonly body: Buffer;
  /** Absent: there is no body. */
  readonly contentType?: string;
}

/** Where it goes and what is in it: https://hl7.org/fhir/R4/subscription.html#2.46.7.1 */
async function formMessage(
  context: InteractionContext,
  state: SubscriptionState,
  type: NotificationType,
  shown: readonly ShownEvent[],
): Promise<FormedMessage> {
  const { topic, endpoint = '', mediaType } = state.definition;
  if (topic !== undefined) return { url: endpoint, method: 'POST', ...(await formBundle(context, state, type, shown)) };
  const [first] = shown;
  if (first?.resource === undefined) return { url: endpoint, method: 'POST', body: Buffer.alloc(0) };
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${getTypeName(first.event.rtype)}/${first.event.id}`;
  return { url: url.href, method: 'PUT', ...(await write(context, first.resource, mediaType)) };
}

async function formBundle(
  context: InteractionContext,
  state: SubscriptionState,
  type: NotificationType,
  shown: readonly ShownEvent[],
): Promise<Pick<FormedMessage, 'body' | 'contentType'>> {
  // The handshake says how it stands before it; a client that binds again finds it active.
  const status = type === 'handshake' ? state.status : 'active';
  return await write(
    context,
    buildNotification(context, { ...state, status }, type, shown),
    state.definition.mediaType,
  );
}

/** What a socket is sent: R4's own words name the Subscription (https://hl7.org/fhir/R4/subscription.html#websockets). */
async function formText(
  context: InteractionContext,
  state: SubscriptionState,
  type: NotificationType,
  shown: readonly ShownEvent[],
): Promise<string> {
  if (state.definition.topic !== undefined) return (await formBundle(context, state, type, shown)).body.toString();
  const words = { handshake: `bound ${state.id}`, 'event-notification': `ping ${state.id}` } as const;
  return type === 'handshake' || type === 'event-notification' ? words[type] : '';
}

/** What was disclosed is not bounded a second time. */
const noLimits: JsonLimits = {
  depthMax: Number.MAX_SAFE_INTEGER,
  arrayLengthMax: Number.MAX_SAFE_INTEGER,
  stringLengthMax: Number.MAX_SAFE_INTEGER,
};

const writingXml = { what: 'The notification in XML', cheaper: 'name application/fhir+json as the payload' };

async function write(
  { budget }: InteractionContext,
  disclosed: Disclosed<string>,
  mediaType: string | undefined,
): Promise<Pick<FormedMessage, 'body' | 'contentType'>> {
  const json = unwrapDisclosed(disclosed);
  const contentType = mediaType ?? 'application/fhir+json';
  if (!contentType.includes('xml')) return { body: Buffer.from(json), contentType };
  const parsing = parseJsonInParts(json, noLimits);
  let parsed = parsing.next();
  for (; parsed.done !== true; parsed = parsing.next()) await budget.breathe(writingXml);
  if (!isJsonObject(parsed.value)) throw new TypeError('a notification is a resource');
  const texts: string[] = [];
  for (const text of toXmlParts(parsed.value)) {
    texts.push(text);
    await budget.breathe(writingXml);
  }
  return { body: Buffer.from(texts.join('')), contentType };
}
