/**
 * What one subscriber was sent and what it makes of it: its copy, from the last new beginning on, and whatever was told against
 * the rules of events (docs/integrate/events.md). It knows nothing but what it was sent.
 */
import { Webhook } from 'standardwebhooks';
import type { Delivery } from './endpoints.ts';

/** An event as a notification tells it. */
export interface ToldEvent {
  readonly number: number;
  /** `Type/id` */
  readonly name: string;
  readonly version: number;
  readonly method: string;
  /** Absent where the notification has none. */
  readonly resource: ToldResource | undefined;
}

export interface ToldResource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta: { readonly versionId: string };
}

/** A notification whose signature is right. */
export interface Notification {
  readonly id: string;
  readonly type: string;
  /** Seconds since 1970: when its sending began. */
  readonly timestamp: number;
  readonly events: readonly ToldEvent[];
  /** Number of the last event. */
  readonly last: number;
}

/** What a subscriber knows of a resource: its text, or no more than its version. */
export type Copy = ReadonlyMap<string, string>;

export class Account {
  /** All event notifications, repetitions too, in the order of their coming: what was told is judged by them. */
  readonly notifications: Notification[] = [];
  readonly broken: string[] = [];
  repetitions = 0;
  /** Runs that have begun. */
  runs = 0;
  readonly #name: string;
  /** `first-last` of each id. */
  readonly #ranges = new Map<string, string>();
  #secret: string | undefined;
  /** Number of the last event that was taken; undefined: the run has none yet. */
  #taken: number | undefined;
  /** Events up to here are of earlier runs. */
  #before = 0;
  #copy: Copy = new Map();
  /** What events of this run have told since; undefined: it is gone. */
  readonly #since = new Map<string, string | undefined>();
  readonly #versions = new Map<string, number>();

  constructor(name: string) {
    this.#name = name;
  }

  /** Number of the last event that was taken. */
  get last(): number {
    return this.#taken ?? this.#before;
  }

  /** Told once, in the answer to the create. */
  set secret(secret: string) {
    this.#secret = secret;
  }

  /** The first copy of a run, which a search gave: events count on top of it. */
  set copy(copy: Copy) {
    this.#copy = copy;
  }

  /** The state of this moment. */
  computeState(): Map<string, string> {
    const state = new Map(this.#copy);
    for (const [name, text] of this.#since) {
      if (text === undefined) state.delete(name);
      else state.set(name, text);
    }
    return state;
  }

  /** Takes notice of what came; what is taken counts as received by the subscriber. */
  receive(delivery: Delivery, isTaken: boolean): void {
    const notification = this.#read(delivery);
    if (notification === undefined) return;
    if (notification.type === 'handshake') return isTaken ? this.#beginRun(notification) : undefined;
    if (notification.type !== 'event-notification') return;
    this.notifications.push(notification);
    this.#judgeRange(notification);
    if (isTaken) this.#take(notification);
  }

  #read({ headers, text }: Delivery): Notification | undefined {
    // The answer to the create tells the secret, and may come after the handshake or be lost.
    if (this.#secret !== undefined) {
      try {
        new Webhook(this.#secret).verify(text, headers as Record<string, string>);
      } catch (error) {
        this.#break(`a signature is wrong: ${error instanceof Error ? error.message : error}`);
        return undefined;
      }
    }
    const bundle = JSON.parse(text);
    const [status, ...entries] = bundle.entry;
    const parameters: readonly { readonly name: string; readonly [value: string]: unknown }[] =
      status.resource.parameter;
    const readValue = (name: string): unknown => {
      const found = parameters.find((parameter) => parameter.name === name) ?? { name };
      return Object.values(found)[1];
    };
    const numbers = parameters
      .filter(({ name }) => name === 'notification-event')
      .map(({ part }) => Number((part as readonly { readonly valueString: string }[])[0]?.valueString));
    return {
      id: String(headers['webhook-id']),
      type: String(readValue('type')),
      timestamp: Number(headers['webhook-timestamp']),
      events: numbers.map((number, at) => readEvent(number, entries[at])),
      last: Number(readValue('events-since-subscription-start')),
    };
  }

  #beginRun({ last }: Notification): void {
    this.runs += 1;
    this.#before = last;
    this.#taken = undefined;
    this.#since.clear();
    this.#versions.clear();
    this.#copy = new Map();
  }

  /** A repetition has the same id, and the same id the same events. */
  #judgeRange({ id, events, last }: Notification): void {
    const range = `${events[0]?.number}-${last}`;
    const known = this.#ranges.get(id);
    if (known !== undefined && known !== range) this.#break(`${id} was sent with ${known} and with ${range}`);
    if (known === undefined) this.#ranges.set(id, range);
    else this.repetitions += 1;
    for (const [at, { number }] of events.entries())
      if (number !== (events[0]?.number ?? 0) + at) this.#break(`${id} leaves out events before ${number}`);
    if (events.at(-1)?.number !== last) this.#break(`${id} ends with ${events.at(-1)?.number} and says ${last}`);
  }

  #take({ id, events }: Notification): void {
    for (const event of events) {
      // Of an earlier run, or told before.
      if (event.number <= this.last) continue;
      if (event.number !== this.last + 1) this.#break(`${id}: event ${event.number} came after ${this.last}`);
      this.#taken = event.number;
      const { name, version, method, resource } = event;
      if (version <= (this.#versions.get(name) ?? 0))
        this.#break(`${id}: version ${version} of ${name} came after ${this.#versions.get(name)}`);
      this.#versions.set(name, version);
      this.#since.set(name, method === 'DELETE' ? undefined : describeCopy(version, resource));
    }
  }

  #break(what: string): void {
    this.broken.push(`${this.#name}: ${what}`);
  }
}

/** What a copy holds of a resource. @param resource absent: its version alone is known */
export function describeCopy(version: number, resource: object | undefined): string {
  return resource === undefined ? `version ${version}` : JSON.stringify(resource);
}

function readEvent(number: number, entry: NotificationEntry): ToldEvent {
  const { fullUrl, resource, request, response } = entry;
  return {
    number,
    name: fullUrl.split('/fhir/v2/')[1] ?? fullUrl,
    version: Number(response.etag.replaceAll(/\D/g, '')),
    method: request.method,
    resource,
  };
}

interface NotificationEntry {
  readonly fullUrl: string;
  readonly resource?: ToldResource;
  readonly request: { readonly method: string };
  readonly response: { readonly etag: string };
}
