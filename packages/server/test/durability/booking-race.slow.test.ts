/**
 * 64 bookers for the same slot, on two nodes, one of which is killed by kill -9 in some rounds: as many appointments as there
 * is room for, never more or fewer, and every one who lost was told of slots that were free (decision 0188).
 * `BOOKING_ROUNDS` sets how many rounds there are (with many of them, `TEST_FILE_TIMEOUT_MS` as well).
 * Slow: two nodes, one of which is killed and started again and again.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { makeSlotIds } from '../../src/practice/calendars/slots/slot-id.ts';
import { openRandom } from '../../src/synthetic/random.ts';
import type { Answer } from '../support/service.ts';
import { openTwoNodes, type Place } from './two-nodes.ts';

const rounds = Number(process.env['BOOKING_ROUNDS'] ?? 6);
/** The share of rounds in which a node is killed. */
const killedShare = rounds > 20 ? 0.1 : 0.35;
/** Rounds of one test. */
const roundsEach = 20;
const bookers = 64;
const minuteMs = 60_000;
const capacity = 3;

const random = openRandom(20261121, 'race');
const nodes = await openTwoNodes({ after }, { from: '00:00', to: '24:00', capacity }, random);
const { service, firm, places } = nodes;

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
  const startMs = nodes.firstDayMs + count * 6 * 30 * minuteMs;
  const slot = makeSlotIds(firm.id, nodes.calendar, 'VISIT')(startMs);
  const isKilled = random.chance(killedShare);
  const victim = nodes.anyPlace();
  const asked = Array.from({ length: bookers }, (_, index) => book(places[index % 2 === 0 ? 0 : 1], slot));
  if (isKilled) {
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
  if (isKilled) await nodes.replace(victim);
  for (const answer of lost) assert.equal(answer?.json.issue.length, 6);
  const told = random.pick(lost)?.json.issue.slice(1) ?? [];
  const { reference } =
    random.pick<{ extension: { valueReference: { reference: string } }[] }>(told).extension[0]?.valueReference ?? {};
  const chosen = await book(nodes.anyPlace(), reference?.slice('Slot/'.length) ?? '');
  assert.equal(chosen?.status, 201, 'an alternative was free');
}

for (let first = 0; first < rounds; first += roundsEach) {
  const last = Math.min(first + roundsEach, rounds);
  test(`rounds ${first} to ${last - 1}: ${bookers} bookers for ${capacity} places`, async () => {
    await nodes.renew();
    for (let count = first; count < last; count += 1) await round(count);
  });
}

test('nodes were killed in some of the rounds', () => {
  assert.ok(kills > 0);
});
