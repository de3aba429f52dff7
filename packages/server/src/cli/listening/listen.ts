/**
 * `praxis listen`: the notifications of subscriptions by websocket, handed to a program on this machine in their order. What was
 * missed while there was no connection is asked for by number, so that no event is left out.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '@praxis/fhir';
import { findText, listObjects } from '../../search/json-values.ts';
import { forward } from './forward.ts';
import { type ReadNotification, readNotification } from './notification-text.ts';
import { CallRefused, type ServiceCaller } from './service-caller.ts';

export interface Listening {
  readonly service: ServiceCaller;
  /** Ids of the subscriptions. */
  readonly subscriptions: readonly string[];
  /** Where notifications are handed to. */
  readonly target: string;
  /** They are signed by it. */
  readonly secret: string;
  /** Writes a line about an event. */
  readonly print: (line: string) => void;
  /** Writes a line about the connection. */
  readonly tell: (line: string) => void;
  /** Aborted when it is enough. */
  readonly stopping: AbortSignal;
}

/** Pauses before another connection, in ms. */
const firstPauseMs = 500;
const lastPauseMs = 30_000;

/** Events that `$events` tells at once. */
const pageMax = 100;

/** What is to be asked for again would be refused again: codes of the service (docs/integrate/events.md). */
const finalCodes: ReadonlySet<number> = new Set([4410]);

/** Listens until it is to stop. @throws CallRefused when it cannot go on, since a subscription has ended for instance */
export async function listen(listening: Listening): Promise<void> {
  const { service, subscriptions, tell, stopping } = listening;
  const handing = openHanding(listening);
  let pauseMs = firstPauseMs;
  while (!stopping.aborted) {
    try {
      const query = subscriptions.map((id) => `id=${encodeURIComponent(id)}`).join('&');
      const answer = await service.call('GET', `Subscription/$get-ws-binding-token?${query}`);
      const { code, reason, isBound } = await hearSocket(answer, handing.take, stopping);
      if (stopping.aborted) break;
      if (finalCodes.has(code)) throw new CallRefused(`the service has ended the connection: ${reason}`, code);
      if (isBound) pauseMs = firstPauseMs;
      tell(`the connection ended (${code}${reason === '' ? '' : ` ${reason}`}); connecting again`);
    } catch (error) {
      // What is refused stays so; who is not reached, or busy, may be later.
      const isPassing =
        error instanceof CallRefused && (error.status === 0 || error.status === 429 || error.status >= 500);
      if (!isPassing || finalCodes.has(error.status)) throw error;
      tell(`${error.message}; trying again`);
    }
    await delay(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
    pauseMs = Math.min(lastPauseMs, pauseMs * 2);
  }
  await handing.done();
}

interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  readonly isBound: boolean;
}

/** Binds a connection and hears what it says until it ends. */
async function hearSocket(answer: JsonObject, take: (text: string) => void, stopping: AbortSignal): Promise<SocketEnd> {
  const token = findParameter(answer, 'token', 'valueString');
  const socket = new WebSocket(findParameter(answer, 'websocket-url', 'valueUrl'));
  const stop = (): void => socket.close(1000);
  stopping.addEventListener('abort', stop, { once: true });
  if (stopping.aborted) stop();
  let isBound = false;
  try {
    return await new Promise<SocketEnd>((resolve) => {
      socket.addEventListener('open', () => socket.send(`bind-with-token ${token}`));
      socket.addEventListener('message', ({ data }) => {
        isBound = true;
        take(String(data));
      });
      socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason, isBound }));
    });
  } finally {
    stopping.removeEventListener('abort', stop);
  }
}

/** Empty: it is not there. */
function findParameter(answer: JsonObject, name: string, member: string): string {
  const parameter = listObjects(answer, 'parameter').find((each) => each.name === name);
  return findText(parameter, member) ?? '';
}

/** Hands notifications over one after another, and asks for those between. */
function openHanding({ service, target, secret, print, tell }: Listening) {
  /** Number of the last event that was handed over, by subscription. */
  const last = new Map<string, number>();
  let turn: Promise<void> = Promise.resolve();

  const hand = async (notification: ReadNotification, text: string): Promise<void> => {
    const { subscription, type, topic, told } = notification;
    const numbers = told.map(({ number }) => number);
    const before = last.get(subscription) ?? 0;
    if (told.length > 0 && numbers.every((number) => number <= before))
      return tell(`${subscription}: events ${numbers[0]} to ${numbers.at(-1)} came again and are not handed over`);
    const range = told.length === 0 ? `${Date.now()}` : `${numbers[0]}-${numbers.at(-1)}`;
    const status = await forward(target, secret, `${type}_${subscription}_${range}`.replaceAll(/[^\w-]/g, '-'), text);
    const time = new Date().toISOString();
    for (const { number, focus } of told) print(`${time}  ${number}  ${topic}  ${focus ?? '-'}  ${status}`);
    if (told.length === 0) tell(`${time}  ${type}  ${topic}  ${status}`);
    last.set(subscription, Math.max(before, ...numbers));
  };

  /** The events from the last that was handed over to `until`. */
  const catchUp = async (subscription: string, until: number): Promise<void> => {
    for (let from = (last.get(subscription) ?? 0) + 1; from <= until; from += pageMax) {
      const to = Math.min(until, from + pageMax - 1);
      const path = `Subscription/${subscription}/$events?eventsSinceNumber=${from}&eventsUntilNumber=${to}`;
      const text = JSON.stringify(await service.call('GET', path));
      const notification = readNotification(text);
      if (notification !== undefined && notification.told.length > 0) await hand(notification, text);
    }
  };

  const handInOrder = async (text: string): Promise<void> => {
    const notification = readNotification(text);
    if (notification === undefined) return tell(`not a notification: ${text.slice(0, 80)}`);
    const { subscription, type, told, events } = notification;
    const known = last.get(subscription);
    const first = told[0]?.number;
    // Of what came before the first event that was ever told nothing is known, and nothing is asked for.
    if (known !== undefined && type === 'handshake') await catchUp(subscription, events);
    if (known !== undefined && first !== undefined) await catchUp(subscription, first - 1);
    if (type === 'handshake' && known === undefined && events === 0) last.set(subscription, 0);
    await hand(notification, text);
  };

  return {
    take(text: string): void {
      turn = turn
        .then(() => handInOrder(text))
        .catch((error: unknown) => tell(error instanceof Error ? error.message : 'a notification was not handed over'));
    },
    done: () => turn,
  };
}
