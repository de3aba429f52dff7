/**
 * Random sequences of calendar and booking operations against a model in memory: equal after each step, in what is answered,
 * what is taken and which slots are free. `MODEL_STEPS` sets how many steps there are (with many of them,
 * `TEST_FILE_TIMEOUT_MS` as well), `MODEL_SEED` with which seed.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../../src/database/sql.ts';
import { makeSlotIds } from '../../../../src/practice/calendars/slots/slot-id.ts';
import { openRandom } from '../../../../src/synthetic/random.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../../support/service.ts';
import { put, putPlaces } from '../../calendars/world.ts';
import { isFree, live, minute, slotsOfDay } from './model.ts';
import { calendarOf, practitioners, randomWindows, storeCalendar } from './practice.ts';
import { steps, type World } from './steps.ts';

const stepsWanted = Number(process.env['MODEL_STEPS'] ?? 600);
const seed = Number(process.env['MODEL_SEED'] ?? 20261121);

/** Steps after which the practice is emptied and has other calendars: each round is a test of its own. */
const roundSteps = 300;

const service = await openTestService({ after });
const firm = await makeFirm(service, 'maple', 'sandbox', 'UTC');
const application = await makeApplication(service, 'Everything', ['acl/*'], [firm]);
const random = openRandom(seed, 'model');
const dayMs = 24 * 60 * minute;
const monday = Date.UTC(2026, 10, 23);

const world: World = {
  model: { nowMs: service.clock.now(), calendars: [], taken: [] },
  firm: firm.id,
  caller: await openCaller(service, application, firm),
  random,
  monday,
  holds: [],
  appointments: [],
};
await putPlaces(world.caller, practitioners, ['9', '31', '32']);
await put(world.caller, { resourceType: 'Patient', id: 'p' });

const versions = new Map<string, number>();

async function changeCalendar(practitioner: (typeof practitioners)[number]): Promise<void> {
  const number = practitioners.indexOf(practitioner) + 1;
  const calendar = calendarOf(number, practitioner, randomWindows(random));
  const { version } = await storeCalendar(service.platform, firm, calendar, versions.get(practitioner));
  versions.set(practitioner, version);
  const { calendars } = world.model;
  world.model.calendars = [...calendars.filter((each) => each.number !== number), calendar].sort(
    (a, b) => a.number - b.number,
  );
  await service.service.jobs.settle();
}

async function advance(ms: number): Promise<void> {
  service.clock.advance(ms);
  world.model.nowMs = service.clock.now();
}

/** Cancels everything, and starts again with other calendars. */
async function startRound(): Promise<void> {
  for (const { id } of world.appointments.splice(0)) await world.caller.send('DELETE', `Appointment/${id}`);
  await service.database.owner.query(sql`DELETE FROM slot_hold`);
  await service.database.owner.query(sql`DELETE FROM occupancy WHERE expires IS NOT NULL`);
  world.holds.splice(0);
  world.model.taken = [];
  for (const practitioner of practitioners) await changeCalendar(practitioner);
  world.caller = await openCaller(service, application, firm);
}

async function step(): Promise<string> {
  if (random.chance(0.02)) {
    const practitioner = random.pick(practitioners);
    await changeCalendar(practitioner);
    return `calendar of ${practitioner}`;
  }
  if (random.chance(0.08)) {
    await advance(random.integer(1, 3) * minute);
    world.caller = await openCaller(service, application, firm);
    return 'time passes';
  }
  const total = steps.reduce((sum, [weight]) => sum + weight, 0);
  let left = random.integer(0, total - 1);
  for (const [weight, run] of steps) {
    if (left < weight) return await run(world);
    left -= weight;
  }
  throw new Error('no step');
}

/** What is taken: the table against the model. */
async function compareTaken(): Promise<void> {
  const rows = await service.database.owner.query<{ text: string }>(sql`
    SELECT actor || ' ' || owner || ' ' || starts || ' ' || ends AS text FROM occupancy
    WHERE expires IS NULL OR expires > ${world.model.nowMs}::bigint`);
  const right = live(world.model).map(({ actor, owner, fromMs, toMs }) => `${actor} ${owner} ${fromMs} ${toMs}`);
  assert.deepEqual(rows.map(({ text }) => text).sort(), right.sort());
}

/** What is free on one day: a search for slots, and $find, against the model. */
async function compareFree(): Promise<void> {
  const midnight = monday + random.integer(0, 2) * dayMs;
  const date = new Date(midnight).toISOString().slice(0, 10);
  const free = slotsOfDay(world.model, midnight)
    .filter((slot) => isFree(world.model, slot))
    .map(({ calendar, type, startMs }) => makeSlotIds(firm.id, calendar.number, type.code)(startMs));
  const idsIn = (json: { entry?: { resource: { id: string } }[] }): string[] =>
    (json.entry ?? []).map(({ resource }) => resource.id);
  const searched = await world.caller.get(`Slot?date=${date}&status=free`);
  assert.deepEqual(idsIn(searched.json), free);
  const types = 'appointment-type=SHORT&appointment-type=LONG&appointment-type=ROOM';
  const found = await world.caller.get(`Slot/$find?${types}&start=${date}&end=${date}&_count=100`);
  assert.deepEqual(idsIn(found.json), free.slice(0, 100));
}

for (let first = 0; first < stepsWanted; first += roundSteps) {
  const last = Math.min(first + roundSteps, stepsWanted);
  test(`steps ${first} to ${last - 1} of seed ${seed}`, async () => {
    const done: string[] = [];
    try {
      await startRound();
      for (let number = first; number < last; number += 1) {
        done.push(`${number}: ${await step()}`);
        await compareTaken();
        if (number % 10 === 0) await compareFree();
      }
    } catch (error) {
      throw new Error(`of seed ${seed}, after\n${done.slice(-12).join('\n')}`, { cause: error });
    }
  });
}
