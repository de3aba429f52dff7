/** How many workers get connections, look by look (docs/decisions/0283, 0284, 0300). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Look, Placement } from '../../src/cli/serving/placement.ts';

const everyMs = 500;

/** Looks one after another at a machine of two cores; returns how many workers got connections after each. */
function follow(placement: Placement, looks: readonly Partial<Look>[], fromMs = 0): number[] {
  return looks.map((look, index) =>
    placement.decide({
      nowMs: fromMs + index * everyMs,
      cores: 2,
      idleCores: 2,
      loopUses: [0, 0],
      usedCores: 0,
      hasLargeWork: false,
      hasWaiting: false,
      ...look,
    }),
  );
}

/** Database and callers use what the workers leave. */
const full: Partial<Look> = { idleCores: 0.1, loopUses: [0.8, 0.8], usedCores: 1.2 };
const served: Partial<Look> = { idleCores: 0.1, loopUses: [0.99], usedCores: 0.95 };
/** The event loop of one worker has no room left, and the machine has. */
const insufficient: Partial<Look> = { idleCores: 0.8, loopUses: [0.99], usedCores: 0.95 };

test('all workers get connections while the machine has room, and when they fill it themselves', () => {
  const room: Partial<Look> = { idleCores: 0.3, loopUses: [0.8, 0.8], usedCores: 1.2 };
  const ownLoad: Partial<Look> = { idleCores: 0, loopUses: [1, 1], usedCores: 1.9 };
  const others: Partial<Look> = { idleCores: 0, loopUses: [0.5, 0.5], usedCores: 0.2 };
  for (const look of [room, ownLoad, others])
    assert.deepEqual(follow(new Placement(2), Array<typeof look>(4).fill(look)), [2, 2, 2, 2]);
  assert.deepEqual(follow(new Placement(1), [full, full, full]), [1, 1, 1]);
});

test('on a full machine half of the workers get them; looks at an idle node in between do not count', () => {
  const idle: Partial<Look> = { idleCores: 0.1 };
  assert.deepEqual(follow(new Placement(2), [full, idle, full, served]), [2, 2, 1, 1]);
  assert.deepEqual(follow(new Placement(2), [full, { ...full, idleCores: 1 }, full, full]), [2, 2, 2, 1]);
  assert.deepEqual(follow(new Placement(3), [full, full]), [3, 2]);
});

test('when half of them do not suffice all get connections again, for five minutes at least', () => {
  const placement = new Placement(2);
  assert.deepEqual(
    follow(placement, [full, full, insufficient, served, insufficient, insufficient]),
    [2, 1, 1, 1, 1, 2],
  );
  assert.deepEqual(follow(placement, [full, full, full], 290_000), [2, 2, 2]);
  assert.deepEqual(follow(placement, [full, full], 310_000), [2, 1]);
});

test('a worker without room suffices while the machine has little of it and no request waits for a place', () => {
  const little: Partial<Look> = { ...insufficient, idleCores: 0.7 };
  assert.deepEqual(follow(new Placement(2), [full, full, little, little, little]), [2, 1, 1, 1, 1]);
  const waiting: Partial<Look> = { ...little, hasWaiting: true };
  assert.deepEqual(follow(new Placement(2), [full, full, waiting, waiting]), [2, 1, 1, 2]);
  const enough: Partial<Look> = { ...waiting, loopUses: [0.9] };
  assert.deepEqual(
    follow(new Placement(2), [full, full, enough, enough]),
    [2, 1, 1, 1],
    'what waits does so for the database',
  );
});

test('work of other threads, such as signing tokens, does not make an event loop insufficient', () => {
  const signing: Partial<Look> = { idleCores: 0.8, loopUses: [0.7], usedCores: 1.3 };
  assert.deepEqual(follow(new Placement(2), [full, full, signing, signing, signing]), [2, 1, 1, 1, 1]);
});

test('half a minute after the machine had little room for the last time all get connections again', () => {
  const placement = new Placement(2);
  const little: Partial<Look> = { ...served, idleCores: 0.7 };
  assert.deepEqual(follow(placement, [full, full]), [2, 1]);
  assert.deepEqual(follow(placement, [little], 29_000), [1]);
  assert.deepEqual(follow(placement, [{}], 58_000), [1]);
  assert.deepEqual(follow(placement, [{}], 59_500), [2]);
});

test('while there is large work all workers get them, however full the machine is, and for half a minute after it', () => {
  const placement = new Placement(2);
  const large: Partial<Look> = { ...full, hasLargeWork: true };
  assert.deepEqual(follow(placement, [full, full, served]), [2, 1, 1]);
  assert.deepEqual(follow(placement, [{ ...served, hasLargeWork: true }, full, full], 2_000), [2, 2, 2]);
  assert.deepEqual(follow(placement, [full, large, full, full], 31_000), [2, 2, 2, 2]);
  assert.deepEqual(follow(placement, [full, full], 60_000), [2, 2]);
  assert.deepEqual(follow(placement, [full, full], 63_000), [2, 1]);
});
