/** How many lanes go on at the same time: one always, and of the others half of what is left to the process. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { openLaneRoom, runLanes, withLanes } from '../../../src/practice/subscriptions/delivering/lanes.ts';
import type { SubscriptionEvent } from '../../../src/practice/subscriptions/store.ts';

test('lanes are lent while they are used, to nobody all of them, and to everybody one', async () => {
  const room = openLaneRoom();
  const ends: (() => void)[] = [];
  const borrow = async (lanes: number): Promise<{ readonly given: number; readonly done: Promise<void> }> => {
    let given = 0;
    const done = withLanes(room, lanes, async (atOnce) => {
      given = atOnce;
      await new Promise<void>((resolve) => ends.push(resolve));
    });
    return { given, done };
  };
  const borrowed: { readonly given: number; readonly done: Promise<void> }[] = [];
  for (let count = 1; count <= 30; count += 1) borrowed.push(await borrow(10));
  const given = borrowed.map((each) => each.given);
  assert.equal(given[0], 10);
  assert.equal(given.at(-1), 1);
  assert.ok(given.every((each) => each >= 1));
  assert.ok(given.reduce((sum, each) => sum + each - 1, 0) <= 64);
  for (const end of ends) end();
  await Promise.all(borrowed.map(({ done }) => done));
  assert.deepEqual(room, openLaneRoom());
  await assert.rejects(
    withLanes(room, 10, () => Promise.reject(new Error('away'))),
    /away/,
  );
  assert.deepEqual(room, openLaneRoom());
});

test('of more lanes than may go on, those with the oldest events do, and the window is not done', async () => {
  const events: readonly SubscriptionEvent[] = Array.from({ length: 40 }, (_, at) => ({
    number: at + 1,
    atMs: 0,
    rtype: 1,
    id: `patient-${at}`,
    vid: 1,
    kind: 'create',
  }));
  const told: number[] = [];
  const ran = await runLanes({ events, places: [0, 0, 0, 0, 0], max: 100, atOnce: 2 }, async (batch) => {
    told.push(...batch.map(({ number }) => number));
    return { last: batch.at(-1)?.number ?? 0 };
  });
  assert.deepEqual([ran.failed, ran.hasMoved, ran.isDone], [[], true, false]);
  assert.equal(told.includes(1), true);
  assert.ok(told.length < events.length);
  await assert.rejects(
    runLanes({ events, places: [0, 0], max: 1, atOnce: 2 }, () => Promise.reject(new Error('away'))),
    /away/,
  );
});
