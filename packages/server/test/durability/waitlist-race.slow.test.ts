/**
 * Twenty appointments of one time are cancelled at once on two nodes, one of which is killed by kill -9 in some rounds, while
 * those who wait accept as fast as they are offered something: each place that was given up goes to exactly one of them, and
 * none is lost (decision 0203). `WAITLIST_ROUNDS` sets how many rounds there are.
 * Slow: two nodes, one of which is killed and started again and again.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { openRandom } from '../../src/synthetic/random.ts';
import { openTwoNodes, type Place } from './two-nodes.ts';

const rounds = Number(process.env['WAITLIST_ROUNDS'] ?? 3);
const capacity = 20;
const waiters = 26;
const dayMs = 86_400_000;

const random = openRandom(20261121, 'waitlist');
const nodes = await openTwoNodes({ after }, { from: '08:00', to: '08:30', capacity }, random);
const { service, places } = nodes;

const at = (count: number, time: string): string =>
  `${new Date(nodes.firstDayMs + count * dayMs).toISOString().slice(0, 10)}T${time}:00Z`;
const visit = (count: number) => ({
  resourceType: 'Appointment',
  appointmentType: { coding: [{ code: 'VISIT' }] },
  participant: ['Patient/p', ...(count < 0 ? [] : ['Practitioner/12', 'Location/3'])].map((reference) => ({
    actor: { reference },
    status: 'accepted',
  })),
});

async function make(resource: object): Promise<string> {
  const { status, json, text } = await places[0].caller.send('POST', 'Appointment', resource);
  assert.equal(status, 201, text);
  return json.id;
}

/** The status of the answer; undefined: the node was gone. */
async function send({ caller }: Place, path: string, body?: object): Promise<number | undefined> {
  try {
    return (await caller.send('POST', path, body)).status;
  } catch {
    return undefined;
  }
}

const reason = {
  resourceType: 'Parameters',
  parameter: [{ name: 'reason', valueCodeableConcept: { text: 'ill' } }],
};

interface State {
  readonly cancelled: number;
  readonly proposed: readonly string[];
  readonly booked: number;
  readonly left: number;
  readonly places: number;
}

/** Of one round, by the day of its time; those who wait are told apart by their comment. */
async function stateOf(count: number): Promise<State> {
  const [row] = await service.database.owner.query<State>(sql`
    WITH own AS (
      SELECT id, content::jsonb AS a FROM resource WHERE content LIKE ${`%"comment":"round ${count}"%`})
    SELECT count(*) FILTER (WHERE a->>'status' = 'cancelled')::int AS cancelled,
      COALESCE(array_agg(id) FILTER (WHERE a->>'status' = 'proposed'), '{}') AS proposed,
      count(*) FILTER (WHERE a->>'status' = 'booked')::int AS booked,
      (SELECT count(*)::int FROM freed_time) AS left,
      (SELECT count(*)::int FROM occupancy WHERE starts = ${Date.parse(at(count, '08:00'))}) AS places
    FROM own`);
  assert.ok(row !== undefined);
  return row;
}

/** Accepts what is offered, each offer by two at once, until nothing is left to be offered. */
async function acceptAll(count: number, total: number): Promise<void> {
  for (let looks = 0; looks < 120; looks += 1) {
    const { proposed, booked, left } = await stateOf(count);
    if (left === 0 && proposed.length === 0 && booked >= total) return;
    const answers = await Promise.all(
      proposed.flatMap((id) => places.map((place) => send(place, `Appointment/${id}/$accept-offer`))),
    );
    for (const status of answers) assert.ok([200, 422, 409, undefined].includes(status), String(status));
    await delay(100);
  }
  assert.fail(`round ${count}: ${JSON.stringify(await stateOf(count))}`);
}

async function round(count: number): Promise<void> {
  const comment = `round ${count}`;
  const times = { start: at(count, '08:00'), end: at(count, '08:30') };
  const booked = await Promise.all(
    Array.from({ length: capacity }, () => make({ ...visit(count), ...times, status: 'booked', comment })),
  );
  const requestedPeriod = [times];
  await Promise.all(
    Array.from({ length: waiters }, () => make({ ...visit(-1), status: 'waitlist', comment, requestedPeriod })),
  );
  const victim = nodes.anyPlace();
  const isKilled = count % 3 === 1;
  const cancelling = booked.map((id, index) =>
    send(places[index % 2 === 0 ? 0 : 1], `Appointment/${id}/$cancel`, reason),
  );
  if (isKilled) {
    await delay(random.integer(5, 150));
    await victim.node.kill();
  }
  const answers = await Promise.all(cancelling);
  if (isKilled) await nodes.replace(victim);
  // Those whose node was gone are asked again: what was cancelled already cannot be told from what was not, and need not be.
  const again = answers.flatMap((status, index) => (status === undefined ? [booked[index] ?? ''] : []));
  for (const id of again) await send(places[0], `Appointment/${id}/$cancel`, reason);
  assert.equal((await stateOf(count)).cancelled, capacity, comment);
  await acceptAll(count, capacity);
  await delay(1_500);
  const { left, proposed, ...state } = await stateOf(count);
  assert.deepEqual(
    { left, proposed, ...state },
    { left: 0, proposed: [], cancelled: capacity, booked: capacity, places: capacity },
  );
}

test(`${rounds} rounds of ${capacity} cancellations for ${waiters} who wait`, async () => {
  for (let count = 0; count < rounds; count += 1) await round(count);
});
