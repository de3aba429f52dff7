/** A notification as a client reads it (https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/notifications.html). */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import { findObject, findText, listObjects } from '../../search/json-values.ts';

export interface ReadNotification {
  /** Id of the Subscription. */
  readonly subscription: string;
  /** `handshake`, `heartbeat`, `event-notification` or `query-event`. */
  readonly type: string;
  /** The last part of the URL of the topic. */
  readonly topic: string;
  /** Number of the last event so far. */
  readonly events: number;
  readonly told: readonly ReadEvent[];
}

export interface ReadEvent {
  readonly number: number;
  /** `Patient/12`; undefined: it is not told. */
  readonly focus: string | undefined;
}

/** Undefined: the text is no notification. */
export function readNotification(text: string): ReadNotification | undefined {
  const [first] = listObjects(parse(text), 'entry');
  const status = findObject(first, 'resource');
  const parameters = listObjects(status, 'parameter');
  const find = (name: string): JsonObject | undefined => parameters.find((each) => each.name === name);
  const reference = findText(findObject(find('subscription'), 'valueReference'), 'reference');
  const type = findText(find('type'), 'valueCode');
  if (reference === undefined || type === undefined) return undefined;
  return {
    subscription: reference.slice(reference.lastIndexOf('/') + 1),
    type,
    topic: findText(find('topic'), 'valueCanonical')?.split('/').at(-1) ?? '',
    events: Number(findText(find('events-since-subscription-start'), 'valueString') ?? 0),
    told: parameters.filter(({ name }) => name === 'notification-event').map(readEvent),
  };
}

function readEvent(parameter: JsonObject): ReadEvent {
  const parts = listObjects(parameter, 'part');
  const number = findText(
    parts.find(({ name }) => name === 'event-number'),
    'valueString',
  );
  const focus = findObject(
    parts.find(({ name }) => name === 'focus'),
    'valueReference',
  );
  return { number: Number(number), focus: findText(focus, 'reference')?.split('/').slice(-2).join('/') };
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
