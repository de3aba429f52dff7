/**
 * The practice that does its ordinary work: reads, searches, writes, bookings and tokens at a fixed pace (an open loop), and
 * remembers what was acknowledged.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { buildGetRequest, buildJsonRequest, buildOperationRequest } from '../../packages/server/src/base/worst-case.ts';
import type { Answer, Caller } from './caller.ts';

/** One request of the practice. */
export interface Deed {
  readonly kind: string;
  readonly status: number;
  /** From when it was due, in ms. */
  readonly ms: number;
  /** performance.now() at its answer. */
  readonly atMs: number;
  /** First words of a refusal. */
  readonly said: string;
}

export interface Victim {
  /** What was done since the last call. */
  take(): readonly Deed[];
  /** Units of rate that were counted since the last call, by the service's own headers. */
  takeUnits(): number;
  /** Values of identifiers whose creates were acknowledged, and of those that may have come about. */
  readonly acknowledged: readonly string[];
  readonly uncertain: readonly string[];
  stop(): Promise<void>;
}

export const identifierSystem = 'https://example.com/siege';

/** What is known of the practice. */
export interface Practice {
  readonly patients: readonly string[];
  readonly appointmentType: string;
}

/** Learns of a practice what its work needs. */
export async function learnPractice(caller: Caller): Promise<Practice> {
  const found = await caller.send(buildGetRequest('Patient?_count=50&_elements=id'));
  const codes = await caller.send(buildGetRequest('ValueSet/appointment-type/$expand'));
  if (found.status !== 200 || codes.status !== 200) throw new Error(`${found.status} ${codes.status}: ${codes.body}`);
  return {
    patients: JSON.parse(found.body).entry.map((entry: { resource: { id: string } }) => entry.resource.id),
    appointmentType: JSON.parse(codes.body).expansion.contains[0].code,
  };
}

/** What the practice does in turn: mostly reads and searches. */
const round = ['read', 'search', 'read', 'search', 'read', 'create', 'read', 'token', 'search', 'booking'] as const;

/** Works until `stop`. @param perSecond requests a second; those of a booking follow each other */
export function openVictim(caller: Caller, practice: Practice, perSecond: number): Victim {
  let deeds: Deed[] = [];
  const units = openUnits();
  const acknowledged: string[] = [];
  const uncertain: string[] = [];
  const under = new Set<Promise<void>>();
  let isOpen = true;

  const note = (kind: string, dueMs: number, answer: Answer): Answer => {
    const atMs = performance.now();
    units.see(answer);
    const said = answer.status < 400 && answer.status > 0 ? '' : answer.body.slice(0, 300);
    deeds.push({ kind, status: answer.status, ms: atMs - dueMs, atMs, said });
    return answer;
  };
  const steps: Readonly<Record<(typeof round)[number], (number: number, dueMs: number) => Promise<void>>> = {
    async read(number, dueMs) {
      const id = practice.patients[number % practice.patients.length];
      note('read', dueMs, await caller.send(buildGetRequest(`Patient/${id}`)));
    },
    async search(number, dueMs) {
      const criteria = number % 2 === 0 ? 'Patient?family=s&_count=10' : 'Appointment?_sort=-date&_count=10';
      note('search', dueMs, await caller.send(buildGetRequest(criteria)));
    },
    async token(_number, dueMs) {
      note('token', dueMs, await caller.token());
    },
    async create(_number, dueMs) {
      const value = randomUUID();
      const patient = {
        resourceType: 'Patient',
        identifier: [{ system: identifierSystem, value }],
        name: [{ family: 'Victim' }],
      };
      const asked = buildJsonRequest('POST', 'Patient', patient);
      const headers = { 'idempotency-key': `"${value}"` };
      const { status } = note('create', dueMs, await caller.send({ ...asked, headers }));
      if (status === 201) acknowledged.push(value);
      else uncertain.push(value);
    },
    booking: (number, dueMs) => book(caller, practice, number, dueMs, note),
  };
  const working = (async (): Promise<void> => {
    const beganMs = performance.now();
    for (let number = 0; isOpen; number++) {
      const dueMs = beganMs + (number * 1000) / perSecond;
      await delay(Math.max(0, dueMs - performance.now()));
      const step = steps[round[number % round.length] ?? 'read'](number, dueMs);
      const ended = step.finally(() => under.delete(ended));
      under.add(ended);
    }
  })();
  return {
    take() {
      const taken = deeds;
      deeds = [];
      return taken;
    },
    takeUnits: units.take,
    acknowledged,
    uncertain,
    async stop() {
      isOpen = false;
      await working;
      await Promise.all(under);
    },
  };
}

/** Finds a slot of a day of the coming weeks, holds it, books it, and cancels it. */
async function book(
  caller: Caller,
  { appointmentType, patients }: Practice,
  number: number,
  dueMs: number,
  note: (kind: string, dueMs: number, answer: Answer) => Answer,
): Promise<void> {
  const day = new Date(Date.now() + ((number % 20) + 1) * 86_400_000).toISOString().slice(0, 10);
  const path = `Slot/$find?appointment-type=${appointmentType}&start=${day}&_count=20`;
  const found = note('find', dueMs, await caller.send(buildGetRequest(path)));
  if (found.status !== 200) return;
  const slots: { resource: { id: string } }[] = JSON.parse(found.body).entry ?? [];
  const slot = slots[number % Math.max(1, slots.length)]?.resource.id;
  if (slot === undefined) return;
  const held = note('hold', performance.now(), await caller.send(buildOperationRequest(`Slot/${slot}/$hold`, [])));
  if (held.status !== 200) return;
  const hold: string = JSON.parse(held.body).parameter.find(
    (parameter: { name: string }) => parameter.name === 'hold',
  ).valueId;
  const actor = { reference: `Patient/${patients[number % patients.length]}` };
  const resource = { resourceType: 'Appointment', participant: [{ actor, status: 'accepted' }] };
  const parameters = [
    { name: 'appointment', resource },
    { name: 'hold', valueId: hold },
  ];
  const booked = note(
    'book',
    performance.now(),
    await caller.send(buildOperationRequest('Appointment/$book', parameters)),
  );
  if (booked.status !== 201) return;
  const { id } = JSON.parse(booked.body);
  const cancelled = [{ op: 'replace', path: '/status', value: 'cancelled' }];
  const asked = buildJsonRequest('PATCH', `Appointment/${id}`, cancelled, 'application/json-patch+json');
  note('cancel', performance.now(), await caller.send(asked));
}

/** Counts units by what the headers say is left of each minute. */
function openUnits() {
  /** By the end of the minute: the most that was used of it. */
  let minutes = new Map<number, number>();
  /** What had been used of the last minute when it was told of. */
  let told = { minute: 0, used: 0 };
  return {
    see({ headers }: Answer): void {
      const [, rest, seconds] = /"api-key";r=(\d+);t=(\d+)/.exec(String(headers['ratelimit'] ?? '')) ?? [];
      const [, limit] = /"api-key";q=(\d+)/.exec(String(headers['ratelimit-policy'] ?? '')) ?? [];
      if (rest === undefined || limit === undefined) return;
      const minute = Math.round((Date.now() / 1000 + Number(seconds)) / 60);
      // Answers come out of order, and workers learn of each other's units a moment later.
      minutes.set(minute, Math.max(minutes.get(minute) ?? 0, Number(limit) - Number(rest)));
    },
    take(): number {
      let all = -(minutes.get(told.minute) === undefined ? 0 : told.used);
      for (const used of minutes.values()) all += used;
      const minute = Math.max(0, ...minutes.keys());
      told = { minute, used: minutes.get(minute) ?? 0 };
      // What this minute has counted so far is not counted again.
      minutes = new Map(minute === 0 ? [] : [[minute, told.used]]);
      return all;
    },
  };
}
