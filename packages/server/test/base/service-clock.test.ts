/** The time of the service: the database's clock, carried on by the monotonic one (docs/decisions/0245). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agreeMaxMs, believedAfterMs, openServiceClock, readingMaxMs } from '../../src/base/service-clock.ts';

const startMs = Date.UTC(2026, 10, 21, 9, 30);
const dayMs = 86_400_000;

/** A node with clocks that stand until `pass` moves them; `wallAheadMs` and `databaseAheadMs` are how wrong they are. */
function openWorld() {
  let passedMs = 0;
  const wrong = { wallAheadMs: 0, databaseAheadMs: 0 };
  const trueMs = (): number => startMs + passedMs;
  const clock = openServiceClock({
    wall: { now: () => trueMs() + wrong.wallAheadMs },
    monotonic: () => 1_000 + passedMs,
  });
  const read = (tookMs = 0): void => {
    const askedAtMs = 1_000 + passedMs - tookMs;
    clock.learn({ databaseMs: trueMs() + wrong.databaseAheadMs - tookMs / 2, askedAtMs, cameAtMs: 1_000 + passedMs });
  };
  return {
    clock,
    wrong,
    trueMs,
    read,
    /** Time passes, with a reading each second. */
    pass(ms: number): void {
      for (let left = ms; left > 0; left -= 1_000) {
        passedMs += Math.min(left, 1_000);
        read();
      }
    },
  };
}

test('until the first reading it is the clock of the machine, then that of the database', () => {
  const { clock, wrong, trueMs, read, pass } = openWorld();
  wrong.wallAheadMs = -7 * dayMs;
  assert.equal(clock.now(), trueMs() - 7 * dayMs);
  assert.equal(clock.state().isSteady, false);
  read();
  assert.equal(clock.now(), trueMs());
  assert.equal(clock.state().wallAheadMs, -7 * dayMs);
  pass(believedAfterMs);
  assert.equal(clock.now(), trueMs());
  assert.equal(clock.state().isSteady, true);
});

test('a wrong clock of the machine changes nothing but what is told about it', () => {
  const { clock, wrong, trueMs, read, pass } = openWorld();
  read();
  pass(believedAfterMs);
  for (const wallAheadMs of [600_000, 400 * dayMs, -dayMs, 0]) {
    wrong.wallAheadMs = wallAheadMs;
    pass(3_000);
    assert.equal(clock.now(), trueMs());
    assert.deepEqual(clock.state(), { wallAheadMs, databaseAheadMs: 0, isSteady: true });
  }
});

test("a jump of the database's clock is told and not believed, and steadiness has to be earned again", () => {
  const { clock, wrong, trueMs, read, pass } = openWorld();
  read();
  pass(believedAfterMs);
  for (const databaseAheadMs of [400 * dayMs, 600_000, -600_000]) {
    wrong.databaseAheadMs = databaseAheadMs;
    pass(3_000);
    assert.equal(clock.now(), trueMs());
    assert.deepEqual(clock.state(), { wallAheadMs: 0, databaseAheadMs, isSteady: false });
    wrong.databaseAheadMs = 0;
    pass(1_000);
    assert.deepEqual(clock.state(), { wallAheadMs: 0, databaseAheadMs: 0, isSteady: false });
    pass(believedAfterMs);
    assert.equal(clock.state().isSteady, true);
  }
});

test('a clock of the database that stays where it jumped to is believed after a while, there and back', () => {
  const { clock, wrong, trueMs, read, pass } = openWorld();
  read();
  for (const databaseAheadMs of [600_000, 0]) {
    const before = clock.now();
    wrong.databaseAheadMs = databaseAheadMs;
    pass(believedAfterMs);
    assert.equal(clock.now(), before + believedAfterMs);
    pass(1_000);
    assert.equal(clock.now(), trueMs() + databaseAheadMs);
    assert.equal(clock.state().isSteady, false);
  }
});

test('small differences are made up for slowly, and the time never goes back for them', () => {
  const { clock, wrong, trueMs, read, pass } = openWorld();
  read();
  wrong.databaseAheadMs = -agreeMaxMs;
  let last = clock.now();
  for (let step = 0; step < 40; step += 1) {
    pass(1_000);
    assert.ok(clock.now() >= last, `${clock.now()} < ${last}`);
    assert.ok(clock.now() - last <= 1_000);
    last = clock.now();
  }
  assert.equal(clock.now(), trueMs() - agreeMaxMs);
});

test('a reading that took too long says nothing, but for the first', () => {
  const { clock, wrong, trueMs, read } = openWorld();
  read(60_000);
  assert.equal(clock.now(), trueMs());
  wrong.databaseAheadMs = dayMs;
  read(readingMaxMs + 1);
  assert.equal(clock.state().databaseAheadMs, 0);
  read(readingMaxMs);
  assert.equal(clock.state().databaseAheadMs, dayMs);
});
