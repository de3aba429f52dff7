/**
 * Random steps on one day of a practitioner's slots and those who wait for them, against a model of a few lines: after each
 * step everybody stands where the model says (decisions 0202, 0203). `WAITLIST_STEPS` and `WAITLIST_SEED` set how many and which.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openRandom } from '../../../src/synthetic/random.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from '../calendars/world.ts';

const steps = Number(process.env['WAITLIST_STEPS'] ?? 150);
const random = openRandom(Number(process.env['WAITLIST_SEED'] ?? 20261121), 'waitlist model');
const minuteMs = 60_000;
const offerMs = 15 * minuteMs;

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple', 'sandbox', 'UTC');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
let caller: Caller = await openCaller(service, application, maple);
await putPlaces(caller, ['12'], ['3']);
await put(caller, { resourceType: 'Patient', id: 'p' });
await keepCalendar(service.platform, maple, plainCalendar);
await service.service.jobs.settle();
// The job runs between the steps alone, so that the model knows what it has seen.
await service.service.jobs.stop();

/** Half hours from 09:00 to 12:00 of Monday, 23 November 2026. */
const slots = [0, 1, 2, 3, 4, 5];
const startOf = (slot: number): string =>
  new Date(Date.UTC(2026, 10, 23, 9) + slot * 30 * minuteMs).toISOString().replace('.000Z', '+00:00');

interface Entry {
  readonly id: string;
  readonly priority: number;
  /** Slots that it waits for. */
  readonly first: number;
  readonly last: number;
  status: 'waitlist' | 'proposed' | 'booked' | 'cancelled';
  slot: number | undefined;
  expiresMs: number;
  readonly offered: Set<number>;
}

/** In the order of entry. */
const entries: Entry[] = [];
/** Slot → appointments that were booked without waiting. */
const booked = new Map<number, string>();

const isTaken = (slot: number): boolean =>
  booked.has(slot) || entries.some((each) => each.slot === slot && ['proposed', 'booked'].includes(each.status));

function modelOffer(slot: number): void {
  if (isTaken(slot)) return;
  const [first] = entries
    .filter(({ status, offered }) => status === 'waitlist' && !offered.has(slot))
    .filter((each) => each.first <= slot && slot <= each.last)
    .toSorted((one, other) => (one.priority || 99) - (other.priority || 99));
  if (first === undefined) return;
  first.offered.add(slot);
  Object.assign(first, { status: 'proposed', slot, expiresMs: service.clock.now() + offerMs });
}

/** Who leaves a slot in this way, or goes back to the list. */
function modelLeave(entry: Entry, status: Entry['status']): number {
  const slot = entry.slot ?? -1;
  Object.assign(entry, { status, slot: undefined });
  return slot;
}

async function send(method: string, path: string, body?: object): Promise<string> {
  const { status, json, text } = await caller.send(method, path, body, {
    'content-type': method === 'PATCH' ? 'application/json-patch+json' : 'application/fhir+json',
  });
  assert.ok(status < 300, text);
  return json?.id ?? '';
}

const participant = (references: readonly string[]) =>
  references.map((reference) => ({ actor: { reference }, status: 'accepted' }));
const visit = { resourceType: 'Appointment', appointmentType: { coding: [{ code: 'FOLLOWUP' }] } };

async function book(): Promise<void> {
  const free = slots.filter((slot) => !isTaken(slot));
  const slot = random.pick(free.length === 0 ? [-1] : free);
  if (slot < 0) return;
  const times = { start: startOf(slot), end: startOf(slot + 1), status: 'booked' };
  const actors = participant(['Patient/p', 'Practitioner/12', 'Location/3']);
  booked.set(slot, await send('POST', 'Appointment', { ...visit, ...times, participant: actors }));
}

async function wait(): Promise<void> {
  const first = random.integer(0, 5);
  const last = random.integer(first, 5);
  const priority = random.integer(0, 3);
  const requestedPeriod = [{ start: startOf(first), end: startOf(last + 1) }];
  const entry = { ...visit, status: 'waitlist', priority, requestedPeriod, participant: participant(['Patient/p']) };
  const id = await send('POST', 'Appointment', entry);
  const offered = new Set<number>();
  entries.push({ id, priority, first, last, status: 'waitlist', slot: undefined, expiresMs: 0, offered });
}

/** An appointment that was booked is given up: deleted, or cancelled. */
async function giveUp(): Promise<void> {
  const [slot, id] = random.pick([...booked, [-1, ''] as const]);
  if (slot < 0) return;
  const change = [{ op: 'replace', path: '/status', value: 'cancelled' }];
  await (random.integer(0, 1) === 0 ? send('DELETE', `Appointment/${id}`) : send('PATCH', `Appointment/${id}`, change));
  booked.delete(slot);
  modelOffer(slot);
}

async function answer(): Promise<void> {
  const offered = entries.filter(({ status, expiresMs }) => status === 'proposed' && expiresMs > service.clock.now());
  if (offered.length === 0) return;
  const entry = random.pick(offered);
  if (random.integer(0, 2) === 0) {
    await send('POST', `Appointment/${entry.id}/$accept-offer`);
    entry.status = 'booked';
    return;
  }
  await send('POST', `Appointment/${entry.id}/$decline-offer`);
  modelOffer(modelLeave(entry, 'waitlist'));
}

/** Whoever waits, was offered a slot or has it leaves altogether. */
async function leave(): Promise<void> {
  const entry = random.pick(entries);
  if (entry === undefined || entry.status === 'cancelled') return;
  const change = [{ op: 'replace', path: '/status', value: 'cancelled' }];
  await send('PATCH', `Appointment/${entry.id}`, change);
  const slot = modelLeave(entry, 'cancelled');
  if (slot >= 0) modelOffer(slot);
}

async function pass(): Promise<void> {
  service.clock.advance(random.integer(1, 9) * minuteMs);
  caller = await openCaller(service, application, maple);
  modelEnd();
}

/** Offers whose time is over; all of them wait again before anything is offered. */
function modelEnd(): void {
  const ended = entries
    .filter(({ status, expiresMs }) => status === 'proposed' && expiresMs <= service.clock.now())
    .toSorted((one, other) => one.expiresMs - other.expiresMs);
  for (const slot of ended.map((entry) => modelLeave(entry, 'waitlist'))) modelOffer(slot);
}

async function compare(step: string): Promise<void> {
  for (const { id, status, slot } of entries) {
    const { json } = await caller.get(`Appointment/${id}`);
    const expected = status === 'cancelled' ? [status] : [status, slot === undefined ? undefined : startOf(slot)];
    const found = status === 'cancelled' ? [json.status] : [json.status, json.start];
    assert.deepEqual(found, expected, `${step}: ${id}`);
  }
  // Nothing happens any more to those who have left.
  for (const gone of entries.filter(({ status }) => status === 'cancelled')) entries.splice(entries.indexOf(gone), 1);
}

test(`${steps} random steps`, async () => {
  for (let step = 0; step < steps; step += 1) {
    service.clock.advance(1_000);
    await service.service.jobs.settle();
    modelEnd();
    const [name, act] = random.pick([
      ['book', book],
      ['book', book],
      ['wait', wait],
      ['give up', giveUp],
      ['give up', giveUp],
      ['answer', answer],
      ['answer', answer],
      ['leave', entries.length === 0 ? wait : leave],
      ['pass', pass],
    ] as const);
    await act();
    await service.service.jobs.settle();
    await compare(`step ${step}, ${name}`);
  }
  const told = Map.groupBy(entries, ({ status }) => status);
  assert.ok(told.has('booked') && told.has('waitlist'), 'something has happened');
});
