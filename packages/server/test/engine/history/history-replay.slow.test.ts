/**
 * The history is the whole truth: replayed from its oldest version on, that of the firm and that of each type give the
 * current state, over the official examples, a synthetic practice and random series of writes
 * (https://hl7.org/fhir/R4/http.html#history).
 * Slow: replays the history of all official examples.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { generatePractice } from '../../../src/synthetic/practice.ts';
import { officialExamples } from '../../search/official-examples.ts';
import { openTestService, startMs } from '../../support/service.ts';
import { assertReplayed, isLong, openWorld, type Resource, sendAll, storeAll, type World } from './replaying.ts';

const seriesMax = 40;
const seriesRuns = 3;

const service = await openTestService({ after });

const examples = officialExamples().map((example) => example as unknown as Resource);

test('over the official examples and random writes, replayed histories equal the current state', async () => {
  const short = examples.filter((example) => !isLong(example));
  const world = await openWorld(service, 'maple', short);
  const loaded = await storeAll(world);
  assert.ok(loaded.filter((status) => status === '201').length > short.length / 2, 'most examples are stored');
  await assertReplayed(world, 100);
  await assertReplayedAfterSeries(world);
});

test('over a synthetic practice and random writes as well', async () => {
  const practice = generatePractice({
    seed: 'history',
    firm: 'cedar',
    name: 'Cedar',
    timeZone: 'America/New_York',
    patients: 1,
    todayMs: startMs,
  });
  const world = await openWorld(service, 'cedar', [...practice] as unknown as Resource[]);
  assert.deepEqual(new Set(await storeAll(world)), new Set(['201']));
  await assertReplayed(world, 100);
  await assertReplayedAfterSeries(world);
});

/** Random series of writes, each followed by a replay of everything. */
async function assertReplayedAfterSeries(world: World): Promise<void> {
  const place = fc.nat(world.resources.length - 1);
  const step = fc.record({
    kind: fc.constantFrom('create', 'update', 'swap', 'delete', 'delete'),
    place,
    other: place,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: seriesMax }),
      fc.integer({ min: 30, max: 100 }),
      async (series, count) => {
        await sendAll(
          world,
          series.map((each) => requestOf(world, each)),
        );
        service.clock.advance(series.length % 3);
        await assertReplayed(world, count);
      },
    ),
    { numRuns: seriesRuns, seed: 20261121 },
  );
}

/** A write of an example: as new, as it is again (reviving it where it was deleted), with another one's content, or gone. */
function requestOf({ resources }: World, { kind, place, other }: { kind: string; place: number; other: number }) {
  const { id, ...content } = resources[place] ?? { id: '', resourceType: 'Patient' };
  const type = content.resourceType;
  const url = `${type}/${id}`;
  const alike = resources.filter(({ resourceType }) => resourceType === type);
  if (kind === 'delete') return { method: 'DELETE', url };
  if (kind === 'create') return { method: 'POST', url: type, resource: content };
  return { method: 'PUT', url, resource: { ...(kind === 'swap' ? alike[other % alike.length] : content), id } };
}
