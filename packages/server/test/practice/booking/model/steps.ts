/** One random step: what it does at the service, what the model says has to come of it, and what it leaves. */
import assert from 'node:assert/strict';
import { makeSlotIds } from '../../../../src/practice/calendars/slots/slot-id.ts';
import type { Random } from '../../../../src/synthetic/random.ts';
import type { Answer, Caller } from '../../../support/service.ts';
import { equivalents, live, type Model, type ModelSlot, minute, placesFor, slotOf } from './model.ts';
import { practitioners, rooms } from './practice.ts';

export interface ModelHold {
  readonly id: string;
  readonly practitioner: string;
  readonly code: string;
  readonly startMs: number;
  expiresMs: number;
  renewals: number;
}

export interface ModelAppointment {
  readonly id: string;
  practitioner: string;
  readonly code: string;
  startMs: number;
  endMs: number;
  room: string | undefined;
  status: 'booked' | 'cancelled';
}

export interface World {
  readonly model: Model;
  readonly firm: number;
  /** A caller with acl/*, whose token is good at this moment. */
  caller: Caller;
  readonly random: Random;
  /** The Monday that steps are about. */
  readonly monday: number;
  readonly holds: ModelHold[];
  readonly appointments: ModelAppointment[];
}

type Step = (world: World) => Promise<string>;

const holdMs = 5 * minute;
const renewalsMax = 3;

/** Steps by name, each as often as its number says. Returns what was done, for the message of a failure. */
export const steps: readonly (readonly [weight: number, step: Step])[] = [
  [6, hold],
  [3, renew],
  [2, release],
  [8, book],
  [6, post],
  [5, reschedule],
  [5, cancel],
  [3, reinstate],
  [2, remove],
];

interface Place {
  readonly practitioner: string;
  readonly code: string;
  readonly startMs: number;
}

function randomPlace({ random, monday }: World): Place {
  const dayMs = 24 * 60 * minute;
  return {
    practitioner: random.pick(practitioners),
    code: random.pick(['SHORT', 'LONG', 'ROOM']),
    startMs: monday + random.integer(0, 2) * dayMs + (8 * 60 + 5 * random.integer(0, 48)) * minute,
  };
}

/** A random place, mostly one where the model has a slot. */
function place(world: World): Place {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const found = randomPlace(world);
    if (slotOf(world.model, found.practitioner, found.code, found.startMs) !== undefined) return found;
  }
  return randomPlace(world);
}

function slotId({ firm }: World, { practitioner, code, startMs }: Place): string {
  return makeSlotIds(firm, numberOf(practitioner), code)(startMs);
}

/** Calendars are numbered in the order in which they were made. */
function numberOf(practitioner: string): number {
  const names: readonly string[] = practitioners;
  return names.indexOf(practitioner) + 1;
}

async function hold(world: World): Promise<string> {
  const { model, caller } = world;
  const wanted = place(world);
  const slot = slotOf(model, wanted.practitioner, wanted.code, wanted.startMs);
  const answer = await caller.send('POST', `Slot/${slotId(world, wanted)}/$hold`);
  const places = expected(world, answer, slot, []);
  if (places !== undefined) {
    const id = holdOf(answer);
    const expiresMs = model.nowMs + holdMs;
    world.holds.push({ id, ...wanted, expiresMs, renewals: 0 });
    take(model, `hold/${id}`, places, expiresMs);
  }
  return `hold ${JSON.stringify(wanted)} → ${answer.status}`;
}

async function renew(world: World): Promise<string> {
  const { model, caller, random, holds } = world;
  if (holds.length === 0) return 'nothing to renew';
  const held = random.pick(holds);
  const answer = await caller.send('POST', 'Slot/$renew', parameters({ hold: held.id }));
  const owner = `hold/${held.id}`;
  const slot = slotOf(model, held.practitioner, held.code, held.startMs);
  if (held.expiresMs <= model.nowMs) assert.equal(answer.status, 400);
  else if (slot !== undefined && held.renewals >= renewalsMax) assert.equal(answer.status, 422);
  else {
    const places = expected(world, answer, slot, [owner]);
    if (places !== undefined) {
      held.renewals += 1;
      held.expiresMs = model.nowMs + holdMs;
      take(model, owner, places, held.expiresMs);
    }
  }
  return `renew ${held.id} → ${answer.status}`;
}

async function release(world: World): Promise<string> {
  const { model, caller, random, holds } = world;
  if (holds.length === 0) return 'nothing to release';
  const held = random.pick(holds);
  const { status } = await caller.send('POST', 'Slot/$release', parameters({ hold: held.id }));
  assert.equal(status, held.expiresMs <= model.nowMs ? 400 : 204);
  if (status === 204) forget(world, held.id);
  return `release ${held.id} → ${status}`;
}

async function book(world: World): Promise<string> {
  const { model, caller, random, holds } = world;
  const held = random.chance(0.4) && holds.length > 0 ? random.pick(holds) : undefined;
  const wanted = held ?? place(world);
  const slot = slotOf(model, wanted.practitioner, wanted.code, wanted.startMs);
  const named = held === undefined ? { slot: slotId(world, wanted) } : { hold: held.id };
  const answer = await caller.send('POST', 'Appointment/$book', parameters({ appointment: visit, ...named }));
  if (held !== undefined && held.expiresMs <= model.nowMs) assert.equal(answer.status, 400);
  else {
    const places = expected(world, answer, slot, held === undefined ? [] : [`hold/${held.id}`], 201);
    if (places !== undefined && slot !== undefined) {
      if (held !== undefined) forget(world, held.id);
      keep(world, answer.json.id, slot, places, places[1]?.actor);
    }
  }
  return `book ${JSON.stringify({ ...wanted })} → ${answer.status}`;
}

/** A plain create; past slots will do, too. */
async function post(world: World): Promise<string> {
  const { model, caller, random } = world;
  const wanted = place(world);
  const slot = slotOf(model, wanted.practitioner, wanted.code, wanted.startMs);
  const length = slot === undefined ? 15 : slot.type.minutes + (random.chance(0.1) ? 5 : 0);
  const room = wanted.code === 'ROOM' && random.chance(0.5) ? random.pick(rooms) : undefined;
  const answer = await caller.send('POST', 'Appointment', appointmentOf(wanted, length, room));
  if (slot === undefined || length !== slot.type.minutes) assert.equal(answer.status, 422);
  else {
    const places = placesFor(model, slot, [], room);
    assert.equal(answer.status, places === undefined ? 409 : 201);
    if (places === undefined) compareAlternatives(world, answer, slot, room);
    else keep(world, answer.json.id, slot, places, room);
  }
  return `post ${JSON.stringify({ ...wanted, length, room })} → ${answer.status}`;
}

async function reschedule(world: World): Promise<string> {
  const { model, caller, random, appointments } = world;
  if (appointments.length === 0) return 'nothing to reschedule';
  const moved = random.pick(appointments);
  const wanted = random.chance(0.9) ? { ...place(world), code: moved.code } : place(world);
  const slot = slotOf(model, wanted.practitioner, wanted.code, wanted.startMs);
  const owner = `Appointment/${moved.id}`;
  const answer = await caller.send('POST', `${owner}/$reschedule`, parameters({ slot: slotId(world, wanted) }));
  const isMovable = moved.status === 'booked' && wanted.code === moved.code;
  const isPlaced = slot !== undefined && slot.startMs > model.nowMs && placesFor(model, slot, [owner]) !== undefined;
  if (isPlaced && !isMovable) assert.equal(answer.status, 422);
  else {
    const places = expected(world, answer, slot, [owner]);
    if (places !== undefined && slot !== undefined) {
      const [, room] = places;
      Object.assign(moved, {
        practitioner: wanted.practitioner,
        startMs: slot.startMs,
        endMs: slot.endMs,
        room: room?.actor,
      });
      take(model, owner, places);
    }
  }
  return `reschedule ${moved.id} ${JSON.stringify(wanted)} → ${answer.status}`;
}

async function cancel(world: World): Promise<string> {
  const { model, caller, random, appointments } = world;
  if (appointments.length === 0) return 'nothing to cancel';
  const gone = random.pick(appointments);
  const reason = { resourceType: 'Parameters', parameter: [{ name: 'reason', valueCodeableConcept: { text: 'ill' } }] };
  const { status } = await caller.send('POST', `Appointment/${gone.id}/$cancel`, reason);
  assert.equal(status, 200);
  gone.status = 'cancelled';
  give(model, `Appointment/${gone.id}`);
  return `cancel ${gone.id} → ${status}`;
}

/** Back to booked, where its slot is still there and free. */
async function reinstate(world: World): Promise<string> {
  const { model, caller, random, appointments } = world;
  if (appointments.length === 0) return 'nothing to reinstate';
  const back = random.pick(appointments);
  const unexplained = back.status === 'cancelled' ? [{ op: 'remove', path: '/cancelationReason' }] : [];
  const patch = [{ op: 'replace', path: '/status', value: 'booked' }, ...unexplained];
  const answer = await caller.send('PATCH', `Appointment/${back.id}`, patch, {
    'content-type': 'application/json-patch+json',
  });
  const slot = slotOf(model, back.practitioner, back.code, back.startMs);
  if (back.status === 'booked') assert.equal(answer.status, 200);
  else if (slot === undefined) assert.equal(answer.status, 422);
  else {
    const places = placesFor(model, slot, [], back.room);
    assert.equal(answer.status, places === undefined ? 409 : 200);
    if (places !== undefined) {
      back.status = 'booked';
      take(model, `Appointment/${back.id}`, places);
    }
  }
  return `reinstate ${back.id} → ${answer.status}`;
}

async function remove(world: World): Promise<string> {
  const { model, caller, random, appointments } = world;
  if (appointments.length === 0) return 'nothing to remove';
  const gone = random.pick(appointments);
  const { status } = await caller.send('DELETE', `Appointment/${gone.id}`);
  assert.equal(status, 204);
  appointments.splice(appointments.indexOf(gone), 1);
  give(model, `Appointment/${gone.id}`);
  return `remove ${gone.id} → ${status}`;
}

/** Compares the answer of an operation that takes a slot; the places that it takes, if it does. */
function expected(
  world: World,
  answer: Answer,
  slot: ModelSlot | undefined,
  without: readonly string[],
  success = 200,
): { readonly actor: string; readonly fromMs: number; readonly toMs: number }[] | undefined {
  const { model } = world;
  if (slot === undefined) assert.equal(answer.status, 404);
  else if (slot.startMs <= model.nowMs) assert.equal(answer.status, 422);
  else {
    const places = placesFor(model, slot, without);
    assert.equal(answer.status, places === undefined ? 409 : success, answer.text);
    if (places === undefined) compareAlternatives(world, answer, slot);
    return places;
  }
  return undefined;
}

function compareAlternatives({ model }: World, { json }: Answer, slot: ModelSlot, room?: string): void {
  const told = json.issue
    .slice(1)
    .map(({ extension }: { extension: { valueReference: { display: string } }[] }) =>
      Date.parse(extension[0]?.valueReference.display.split('/')[0] ?? ''),
    );
  const right = equivalents(model, slot, room).map(({ startMs }) => startMs);
  assert.deepEqual(told, right);
}

/** @param room that the appointment names: on reinstatement it alone will do */
function keep(world: World, id: string, slot: ModelSlot, places: Places, room: string | undefined): void {
  const { startMs, endMs, calendar, type } = slot;
  const { practitioner } = calendar;
  world.appointments.push({ id, practitioner, code: type.code, startMs, endMs, room, status: 'booked' });
  take(world.model, `Appointment/${id}`, places);
}

type Places = readonly { readonly actor: string; readonly fromMs: number; readonly toMs: number }[];

function take(model: Model, owner: string, places: Places, expiresMs?: number): void {
  give(model, owner);
  for (const each of places) model.taken.push({ ...each, owner, ...(expiresMs === undefined ? {} : { expiresMs }) });
}

function give(model: Model, owner: string): void {
  model.taken = live(model).filter((each) => each.owner !== owner);
}

function forget({ model, holds }: World, id: string): void {
  holds.splice(
    holds.findIndex((each) => each.id === id),
    1,
  );
  give(model, `hold/${id}`);
}

const visit = { resourceType: 'Appointment', participant: [{ actor: { reference: 'Patient/p' }, status: 'accepted' }] };

function appointmentOf({ practitioner, code, startMs }: Place, length: number, room: string | undefined) {
  const references = ['Patient/p', `Practitioner/${practitioner}`, 'Location/9', ...(room === undefined ? [] : [room])];
  return {
    resourceType: 'Appointment',
    status: 'booked',
    appointmentType: { coding: [{ code }] },
    start: new Date(startMs).toISOString(),
    end: new Date(startMs + length * minute).toISOString(),
    participant: references.map((reference) => ({ actor: { reference }, status: 'accepted' })),
  };
}

function parameters(given: Readonly<Record<string, unknown>>) {
  return {
    resourceType: 'Parameters',
    parameter: Object.entries(given).map(([name, value]) =>
      typeof value === 'string'
        ? { name, [name === 'hold' ? 'valueId' : 'valueString']: value }
        : { name, resource: value },
    ),
  };
}

function holdOf({ json }: Answer): string {
  return json.parameter.find((each: { name: string }) => each.name === 'hold').valueId;
}
