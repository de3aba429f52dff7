/**
 * 64 bookers for the same slot, on two nodes, one of which is killed by kill -9 in some rounds: as many appointments as there
 * is room for, never more or fewer, and every one who lost was told of slots that were free (decision 0188).
 * `BOOKING_ROUNDS` sets how many rounds there are (with many of them, `TEST_FILE_TIMEOUT_MS` as well).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { slotIds } from '../../src/scheduling/slot-id.ts';
import { openRandom } from '../../src/synthetic/random.ts';
import { keepCalendar, put, putPlaces } from '../scheduling/world.ts';
import { type Node, startNode } from '../support/nodes.ts';
import {
  type Answer,
  type Caller,
  callerOf,
  clientToken,
  makeApplication,
  makeFirm,
  openTestService,
} from '../support/service.ts';

const rounds = Number(process.env['BOOKING_ROUNDS'] ?? 6);
/** The share of rounds in which a node is killed. */
const killedShare = rounds > 20 ? 0.1 : 0.35;
/** Rounds of one test. */
const roundsEach = 20;
const bookers = 64;
const dayMs = 86_400_000;
const minuteMs = 60_000;

const secretKey = Buffer.alloc(32, 7).toString('base64url');
const service = await openTestService({ after }, { PRAXIS_SECRET_KEY: secretKey });
const firm = await makeFirm(service, 'maple', 'sandbox', 'UTC');
const application = await makeApplication(service, 'Everything', ['acl/*'], [firm]);
const random = openRandom(20261121, 'race');

// The nodes live by the real clock.
const firstDay = Math.ceil(Date.now() / dayMs) * dayMs + dayMs;
const capacity = 3;

const here = callerOf(firm, await clientToken(service, application), application.clientKey);
await putPlaces(here, ['12'], ['3']);
await put(here, { resourceType: 'Patient', id: 'p' });
const { number } = await keepCalendar(service.platform, firm, {
  practitioner: '12',
  location: '3',
  appointmentTypes: [{ code: 'VISIT', minutes: 30 }],
  weekly: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '24:00', capacity }],
});
await service.service.jobs.settle();

interface Place {
  node: Node;
  caller: Caller;
}

async function open(): Promise<Place> {
  const node = await startNode(service.database, secretKey);
  const base = firm.base.replace(service.origin, node.origin);
  return { node, caller: await callerAt(node, base) };
}

/** By a token of the node's own: it lives by the real clock. */
async function callerAt(node: Node, base: string): Promise<Caller> {
  const token = await clientToken({ ...service, origin: node.origin }, application);
  return callerOf({ base }, token, application.clientKey);
}

const places: Place[] = [await open(), await open()];
after(() => Promise.all(places.map(({ node }) => node.stop())));

const visit = { resourceType: 'Appointment', participant: [{ actor: { reference: 'Patient/p' }, status: 'accepted' }] };
const body = (slot: string) => ({
  resourceType: 'Parameters',
  parameter: [
    { name: 'appointment', resource: visit },
    { name: 'slot', valueString: `Slot/${slot}` },
  ],
});

/** The answer; undefined: the node was gone. */
async function book({ caller }: Place, slot: string): Promise<Answer | undefined> {
  try {
    return await caller.send('POST', 'Appointment/$book', body(slot));
  } catch {
    return undefined;
  }
}

async function taken(startMs: number): Promise<number> {
  const [row] = await service.database.owner.query<{ taken: number }>(
    sql`SELECT count(*)::int AS taken FROM occupancy WHERE starts = ${startMs} AND owner LIKE 'Appointment/%'`,
  );
  return row?.taken ?? 0;
}

async function appointments(start: string): Promise<number> {
  const [row] = await service.database.owner.query<{ found: number }>(
    sql`SELECT count(*)::int AS found FROM resource WHERE content LIKE ${`%"start":"${start}"%`}`,
  );
  return row?.found ?? 0;
}

let kills = 0;

async function round(count: number): Promise<void> {
  const startMs = firstDay + count * 6 * 30 * minuteMs;
  const slot = slotIds(firm.id, number, 'VISIT')(startMs);
  const isKilled = random.chance(killedShare);
  const victim = places[random.integer(0, 1)];
  const asked = Array.from({ length: bookers }, (_, index) => book(places[index % 2] as Place, slot));
  if (isKilled && victim !== undefined) {
    kills += 1;
    await new Promise((resolve) => setTimeout(resolve, random.integer(5, 120)));
    await victim.node.kill();
  }
  const answers = await Promise.all(asked);
  const statuses = answers.map((answer) => answer?.status);
  const won = statuses.filter((status) => status === 201).length;
  const lost = answers.filter((answer) => answer?.status === 409);
  assert.ok(
    statuses.every((status) => [201, 409, undefined].includes(status)),
    `round ${count}: ${statuses.join()}`,
  );
  if (!isKilled) assert.deepEqual([won, lost.length], [capacity, bookers - capacity]);
  assert.equal(await taken(startMs), capacity, `round ${count}`);
  assert.equal(await appointments(new Date(startMs).toISOString().replace('.000Z', '+00:00')), capacity);
  if (isKilled && victim !== undefined) Object.assign(victim, await open());
  for (const answer of lost) assert.equal(answer?.json.issue.length, 6);
  const told = random.pick(lost)?.json.issue.slice(1) ?? [];
  const { reference } =
    random.pick<{ extension: { valueReference: { reference: string } }[] }>(told).extension[0]?.valueReference ?? {};
  const chosen = await book(random.pick(places), reference?.slice('Slot/'.length) ?? '');
  assert.equal(chosen?.status, 201, 'an alternative was free');
}

for (let first = 0; first < rounds; first += roundsEach) {
  const last = Math.min(first + roundsEach, rounds);
  test(`rounds ${first} to ${last - 1}: ${bookers} bookers for ${capacity} places`, async () => {
    // Tokens live for 15 minutes.
    for (const place of places)
      place.caller = await callerAt(place.node, firm.base.replace(service.origin, place.node.origin));
    for (let count = first; count < last; count += 1) await round(count);
  });
}

test('nodes were killed in some of the rounds', () => {
  assert.ok(kills > 0);
});
