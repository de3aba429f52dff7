/** Subscribing and receiving in the cases of Subscriptions R5 Backport. */
import { after } from 'node:test';
import {
  openReceiver,
  type Received,
  type Receiver,
  type Subscribed,
  type SubscriptionOptions,
  settle,
  subscribe,
  topicBase,
} from '../../practice/subscriptions/world.ts';
import { patient } from '../../support/records.ts';
import type { World } from '../world.ts';

export const topic = `${topicBase}/patient-changed`;
export const payload = 'application/fhir+json';
const guide = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';
export const channelTypeUrl = `${guide}/backport-channel-type`;
export const profiles = {
  subscription: `${guide}/backport-subscription`,
  status: `${guide}/backport-subscription-status-r4`,
};

/** For what binds those who serve R4B. */
export const forR4B = { notApplicable: 'binds servers of R4B: this service is one of R4' };
export const noWebsocket = { notApplicable: 'notifications are sent by rest-hook alone' };
export const noMail = { notApplicable: 'e-mail is refused, since it is not sealed on its way' };

export interface Subscription extends Subscribed, Receiver {}

/** A subscription by the topic of patients, after its handshake. */
export async function subscribeTo(world: World, options: SubscriptionOptions = {}): Promise<Subscription> {
  const receiver = await openReceiver({ after });
  const subscribed = await subscribe(world.service, world, topic, receiver.url, { payload, ...options });
  return { ...receiver, ...subscribed };
}

/** Creates a patient, and has it told. Returns the last message, and the patient. */
export async function tellOfPatient(world: World, { received }: Receiver) {
  const created = await world.create(patient(world.unique()));
  await settle(world.service);
  const last = received.at(-1);
  if (last === undefined) throw new Error('nothing was received');
  return { last, created };
}

/** The parameters of the status that a notification begins with. */
export function parametersOf({ json }: Pick<Received, 'json'>): readonly Parameter[] {
  return json.entry[0].resource.parameter;
}

export interface Parameter {
  readonly name: string;
  readonly part?: readonly Parameter[];
  readonly valueReference?: { readonly reference: string };
  readonly valueString?: string;
  readonly valueCode?: string;
}

/** The parts of all notification-event parameters with this name. */
export function eventPartsOf(message: Pick<Received, 'json'>, name: string): readonly Parameter[] {
  const events = parametersOf(message).filter((each) => each.name === 'notification-event');
  return events.flatMap(({ part = [] }) => part.filter((each) => each.name === name));
}
