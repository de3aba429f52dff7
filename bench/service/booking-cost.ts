/**
 * What a booking costs: the CPU time of all processes for `$find`, `$hold` and `$book`, one after another by one caller. What was
 * booked is cancelled outside of what is measured, so that each round finds the same calendar.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../cpu.ts';
import type { Caller } from './caller.ts';
import { computeRatio, type Ratio } from './comparison.ts';
import type { Server } from './load.ts';
import { patientId } from './prepare.ts';

export interface BookingCost {
  readonly name: string;
  /** CPU ms of a chain, at most. */
  readonly bar: number;
  /** CPU ms of a chain: the median of the rounds. */
  readonly cpuMs: Ratio;
  readonly p50Ms: number;
  readonly rounds: readonly BookingRound[];
}

export interface BookingRound {
  /** Of a chain. */
  readonly cpuMs: number;
  readonly chainMs: readonly number[];
}

interface Scene {
  readonly name: string;
  readonly bar: number;
  /** Query of `$find`. */
  readonly asked: string;
}

const dayMs = 86_400_000;
const appointmentType = 'FOLLOWUP';
/** Bookings of a round: so many that what the service does without being asked is a small part. */
const chains = 20;
/** Rounds that do not count. */
const warmUp = 3;
/** After the last booking, until the ledger has the rows that were gathered. */
const gatheredMs = 200;

/** Books in rounds, in all scenes by turns. */
export async function measureBookings(
  caller: Caller,
  server: Server,
  { rounds, settleMs }: { readonly rounds: number; readonly settleMs: number },
): Promise<readonly BookingCost[]> {
  const { total: practitioners = 0 } = await caller.search('Schedule?_summary=count');
  const scenes = listScenes(practitioners).map((scene) => ({ scene, measured: [] as BookingRound[] }));
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const { scene, measured } of round % 2 === 0 ? scenes : scenes.toReversed()) {
      const figures = await bookRound(caller, server, scene, settleMs);
      if (round >= 0) measured.push(figures);
    }
  }
  return scenes.map(({ scene: { name, bar }, measured }) => {
    const costs = measured.map(({ cpuMs }) => cpuMs);
    const p50Ms = median(measured.flatMap(({ chainMs }) => chainMs));
    return { name, bar, cpuMs: computeRatio([1], costs, 0.5), p50Ms, rounds: measured };
  });
}

function listScenes(practitioners: number): readonly Scene[] {
  const span = (days: number): string => {
    const [start, end] = [1, 1 + days].map((from) => new Date(Date.now() + from * dayMs).toISOString());
    return `appointment-type=${appointmentType}&start=${start}&end=${end}`;
  };
  return [
    { name: 'booking: one practitioner, 7 days', bar: 10, asked: `${span(7)}&practitioner=100&_count=10` },
    { name: `booking: ${practitioners} practitioners, 30 days`, bar: 16, asked: span(30) },
  ];
}

async function bookRound(caller: Caller, server: Server, scene: Scene, settleMs: number): Promise<BookingRound> {
  const booked: string[] = [];
  const chainMs: number[] = [];
  const before = await server.cpuMicros();
  for (let chain = 0; chain < chains; chain += 1) {
    const beginMs = performance.now();
    booked.push(await book(caller, scene.asked));
    chainMs.push(performance.now() - beginMs);
  }
  await delay(gatheredMs);
  const cpuMs = ((await server.cpuMicros()) - before) / 1000 / chains;
  const reason = { name: 'reason', valueCodeableConcept: { text: 'Measured' } };
  for (const id of booked) await operate(caller, `Appointment/${id}/$cancel`, 200, [reason]);
  await delay(settleMs);
  return { cpuMs, chainMs };
}

/** Takes the first slot that is found; returns the id of the appointment. */
async function book(caller: Caller, asked: string): Promise<string> {
  const found = await caller.search(`Slot/$find?${asked}`);
  const slot = found.entry?.[0]?.resource.id;
  if (slot === undefined) throw new Error(`no slot is free: ${asked}`);
  const held: { readonly parameter?: readonly { readonly name: string; readonly valueId?: string }[] } = JSON.parse(
    await operate(caller, `Slot/${slot}/$hold`, 200, []),
  );
  const hold = held.parameter?.find(({ name }) => name === 'hold')?.valueId;
  const participant = [{ actor: { reference: `Patient/${patientId(1)}` }, status: 'accepted' }];
  const booked: { readonly id: string } = JSON.parse(
    await operate(caller, 'Appointment/$book', 201, [
      { name: 'appointment', resource: { resourceType: 'Appointment', participant } },
      { name: 'hold', valueId: hold },
    ]),
  );
  return booked.id;
}

async function operate(caller: Caller, what: string, status: number, parameter: readonly object[]): Promise<string> {
  const body = JSON.stringify({ resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) });
  return (await caller.send(caller.write('POST', what, body), status)).body;
}
