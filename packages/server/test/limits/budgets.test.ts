/** Budgets: what is refused, in which words, and that long work lets others go on (docs/decisions/0215). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Budget, openBudget, sliceMs, stepsPerTurn } from '@praxis/fhir';
import { PraxisError } from '../../src/base/errors.ts';
import { makeTooCostlyError, openBudgets } from '../../src/limits/budgets.ts';
import { watchLoopTurn } from '../../src/limits/loop-turn.ts';
import { openSlices, type Slices } from '../../src/limits/slices.ts';

const work = { what: 'The filter', cheaper: 'use a shorter pattern' };
const limits = { steps: 10, bytes: 100, ms: 1_000 };

/** A budget whose clock is moved by hand. */
function openAt(more: Partial<typeof limits> = {}, heldMs?: (nowMs: number) => number) {
  let nowMs = 5_000;
  let slices = 0;
  const host = {
    now: () => nowMs,
    nextSlice: async () => {
      slices++;
    },
    ...(heldMs === undefined ? {} : { heldMs }),
    errorOf: makeTooCostlyError,
  };
  return {
    budget: openBudget({ ...limits, ...more }, host),
    pass: (ms: number) => {
      nowMs += ms;
    },
    slices: () => slices,
  };
}

const refusal = (limit: string) => (error: unknown) => {
  assert(error instanceof PraxisError);
  assert.equal(error.code, 'too-costly');
  assert.equal(error.status, 422);
  assert.equal(
    error.details.diagnostics,
    `The filter costs more than one request may: the limit is ${limit}. Nothing was changed. To make it cheaper: use a shorter pattern`,
  );
  return true;
};

test('the step after the last is refused', () => {
  const { budget } = openAt();
  budget.spend(10, work);
  assert.equal(budget.stepsLeft, 0);
  assert.throws(() => budget.spend(1, work), refusal('10 steps of computing'));
});

test('parts that could have come alone bring steps of their own', () => {
  const { budget } = openAt();
  budget.extend({ steps: 5, ms: 0 });
  budget.spend(15, work);
  assert.throws(() => budget.spend(1, work), refusal('15 steps of computing'));
});

test('bytes can be given back; a refused take takes nothing', () => {
  const { budget } = openAt();
  budget.take(60, work);
  assert.throws(() => budget.take(41, work), refusal('100 bytes'));
  budget.take(40, work);
  budget.giveBack(30);
  budget.take(30, work);
});

test('work whose time is over ends at its next pause', async () => {
  const { budget, pass } = openAt();
  pass(1_000);
  await budget.breathe(work);
  pass(1);
  await assert.rejects(budget.breathe(work), refusal('1 s'));
});

test('work that has held the thread for a slice asks for the next one', async () => {
  const { budget, pass, slices } = openAt();
  await budget.breathe(work);
  assert.equal(slices(), 0);
  pass(sliceMs);
  await budget.breathe(work);
  await budget.breathe(work);
  assert.equal(slices(), 1);
});

test('work that has waited goes on, until the thread has been held for a slice', async () => {
  let turnBeganMs = 5_000;
  const { budget, pass, slices } = openAt({}, (nowMs) => nowMs - turnBeganMs);
  pass(20);
  turnBeganMs = 5_020; // it waited for the database
  await budget.breathe(work);
  pass(sliceMs - 1);
  await budget.breathe(work);
  assert.equal(slices(), 0);
  pass(1);
  await budget.breathe(work);
  assert.equal(slices(), 1);
});

test('a turn of the event loop is known from the first look at it, and ends when others go on', async () => {
  const heldMs = watchLoopTurn();
  assert.equal(heldMs(100), 0);
  assert.equal(heldMs(107), 7);
  await Promise.resolve();
  assert.equal(heldMs(109), 9, 'a microtask is the same turn');
  for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(heldMs(200), 0);
});

test('work of many steps waits for its turn before each piece, small work never', async () => {
  const { budget, slices } = openAt({ steps: 10 * stepsPerTurn });
  budget.spend(stepsPerTurn, work);
  await budget.turn(work);
  assert.equal(slices(), 0);
  budget.spend(1, work);
  await budget.turn(work);
  await budget.turn(work);
  assert.equal(slices(), 1, 'its steps are counted anew from then on');
  budget.spend(stepsPerTurn + 1, work);
  await budget.turn(work);
  assert.equal(slices(), 2);
});

test('one slice begins in a turn of the event loop, and applications take turns', async () => {
  const slices = openSlices();
  const order: string[] = [];
  let loops = 0;
  const counting = setInterval(() => undefined, 1_000);
  const count = (): void => {
    loops++;
    if (order.length < 4) setImmediate(count);
  };
  setImmediate(count);
  const take = async (application: number, name: string): Promise<number> => {
    await slices.next({ application, firm: 1 });
    order.push(name);
    return loops;
  };
  const turns = await Promise.all([take(1, 'a'), take(1, 'b'), take(1, 'c'), take(2, 'other')]);
  clearInterval(counting);
  assert.deepEqual(order, ['a', 'other', 'b', 'c']);
  assert.equal(new Set(turns).size, 4, 'each in a turn of its own');
});

const always = { sinceMs: 1, untilMs: Number.POSITIVE_INFINITY, slices: 5 };

/** Holds the event loop. */
function holdLoop(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('before a slice of long work the event loop has three times as much time for others as it was busy', async () => {
  const slices = openSlices();
  const of = { application: 1, firm: 1 };
  await slices.nextOfLong(of, always);
  holdLoop(25);
  const beganMs = performance.now();
  const long = slices.nextOfLong(of, always).then(() => performance.now() - beganMs);
  const order: string[] = [];
  await Promise.all([
    long.then(() => order.push('long')),
    slices.next({ application: 2, firm: 1 }).then(() => order.push('short')),
  ]);
  assert.deepEqual(order, ['short', 'long'], 'short work does not wait for the rest of long work');
  assert.ok((await long) >= 70, `${await long} ms after a piece of 25 ms`);
});

test('long work does not rest while nobody else has a request under way', async () => {
  const of = { application: 1, firm: 1 };
  let hasOthers = false;
  const slices = openSlices(() => hasOthers);
  const restMs = async (): Promise<number> => {
    holdLoop(25);
    const beganMs = performance.now();
    await slices.nextOfLong(of, always);
    return performance.now() - beganMs;
  };
  await slices.nextOfLong(of, always);
  assert.ok((await restMs()) < 20);
  hasOthers = true;
  assert.ok((await restMs()) >= 70);
});

test('of the long work of one application at a firm the oldest comes first, whenever it asks; others come in turns', async () => {
  const slices = openSlices();
  const order: string[] = [];
  const take = (application: number, sinceMs: number, untilMs = Number.POSITIVE_INFINITY): Promise<void> =>
    slices
      .nextOfLong({ application, firm: 1 }, { sinceMs, untilMs, slices: 5 })
      .then(() => void order.push(`${application} since ${sinceMs}`));
  await Promise.all([take(1, 30), take(1, 20), take(2, 90), take(1, 0), take(1, 10), take(2, 80)]);
  assert.deepEqual(order, ['1 since 0', '2 since 80', '1 since 10', '2 since 90', '1 since 20', '1 since 30']);
  order.length = 0;
  await Promise.all([take(1, 20), take(1, 30, performance.now() - 1)]);
  assert.deepEqual(order, ['1 since 30', '1 since 20'], 'what is over is ended first');
});

test('a budget that has taken many slices is one of long work, and tells how many', async () => {
  const given: string[] = [];
  const slices: Slices = {
    next: async () => void given.push('short'),
    nextOfLong: async (_, age) => void given.push(`long ${age.slices}`),
    alone: () => assert.fail('nothing asks to be alone'),
    countLarge: () => 0,
  };
  const budget = openBudgets(slices)({ application: 1, firm: 1 }, { ...limits, ms: 60_000 });
  for (let slice = 0; slice < 10; slice += 1) {
    holdLoop(sliceMs);
    await budget.breathe(work);
  }
  assert.deepEqual(given, [...Array<string>(8).fill('short'), 'long 9', 'long 10']);
});

test('slices of long work count as large when it has taken many of them, and when it is alone', async () => {
  const of = { application: 1, firm: 1 };
  const slices = openSlices(() => false);
  await slices.next(of);
  await slices.nextOfLong(of, { ...always, slices: 24 });
  assert.equal(slices.countLarge(), 0);
  await slices.nextOfLong(of, { ...always, slices: 25 });
  await slices.alone(of, async () => undefined);
  assert.equal(slices.countLarge(), 2);
});

test('the budgets of a process use its clock', () => {
  const budget = openBudgets(openSlices())({ application: 1, firm: 1 }, limits);
  assert.throws(() => budget.spend(11, work), refusal('10 steps of computing'));
});

test('work whose sender has gone ends at its next slice, and where it waits for one', async () => {
  const hold = async (budget: Budget): Promise<void> => {
    for (const until = performance.now() + sliceMs; performance.now() < until; );
    await budget.breathe(work);
  };
  const gone = {
    code: 'request-malformed',
    message: 'request-malformed: The connection ended before the answer was ready',
  };
  const open = openBudgets(openSlices());
  let isGone = false;
  const budget = open({ application: 1, firm: 1 }, { ...limits, ms: 60_000 }, () => isGone);
  await hold(budget);
  const waiting = hold(budget);
  isGone = true;
  await assert.rejects(waiting, gone);
  await assert.rejects(hold(budget), gone);
});
