/** Work in turns: who comes next, and how much may wait (docs/decisions/0213). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { openFairQueue, type TurnOf } from '../../src/limits/fair-queue.ts';

const limits = { ofFirmMax: 4, ofApplicationMax: 6, allMax: 9, what: 'pieces', retrySeconds: 3 };

/** Work that ends when it is let go; `done` tells in which order it was begun. */
function openWork(of = limits) {
  const inTurn = openFairQueue(of);
  const done: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const add = (turn: TurnOf, fails = false): Promise<string> => {
    const name = `${turn.application}/${turn.firm}`;
    return inTurn(turn, async () => {
      await gate;
      done.push(name);
      if (fails) throw new Error('failed');
      return name;
    });
  };
  return { add, open, done };
}

test('applications take turns, and the firms of each within its turn', async () => {
  const { add, open, done } = openWork();
  const turns = ['1/1', '1/1', '1/1', '1/1', '1/2', '2/1', '2/1', '3/3'].map((name) => {
    const [application = 0, firm = 0] = name.split('/').map(Number);
    return { application, firm };
  });
  const all = Promise.all(turns.map((turn) => add(turn)));
  open();
  await all;
  // The first was under way before others came: its firm and application come after them.
  assert.deepEqual(done, ['1/1', '2/1', '3/3', '1/2', '2/1', '1/1', '1/1', '1/1']);
});

test('work that fails is told to who asked for it alone, and gives its place back', async () => {
  const { add, open, done } = openWork({ ...limits, ofFirmMax: 2 });
  const of = { application: 1, firm: 1 };
  const failing = add(of, true);
  const next = add(of);
  await assert.rejects(add(of), { code: 'rate-exceeded' });
  open();
  await assert.rejects(failing, { message: 'failed' });
  assert.equal(await next, '1/1');
  assert.equal(await add(of), '1/1');
  assert.equal(done.length, 3);
});

test('what may wait is bounded: of an application at a firm, of an application, of all', async () => {
  const { add, open, done } = openWork();
  const accepted: Promise<string>[] = [];
  const fill = (application: number, firm: number, count: number) => {
    for (let each = 0; each < count; each += 1) accepted.push(add({ application, firm }));
  };
  const refusal = async (turn: TurnOf) => {
    const error = await add(turn).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof Error && 'details' in error && 'code' in error);
    return { code: error.code, details: error.details };
  };
  const headers = { 'retry-after': '3' };
  const told = (max: number, where: string) => ({
    code: 'rate-exceeded',
    details: {
      diagnostics: `At most ${max} pieces of an application may wait at once ${where}, and as many do: send another when one is answered`,
      headers,
      limit: 'work',
    },
  });
  fill(1, 1, 4);
  assert.deepEqual(await refusal({ application: 1, firm: 1 }), told(4, 'at one practice'));
  fill(1, 2, 2);
  assert.deepEqual(await refusal({ application: 1, firm: 3 }), told(6, 'at all practices together'));
  fill(2, 1, 3);
  assert.deepEqual(await refusal({ application: 3, firm: 3 }), {
    code: 'unavailable',
    details: { diagnostics: 'Too many pieces are waiting: try again in a moment', headers, limit: 'work' },
  });
  open();
  assert.equal((await Promise.all(accepted)).length, 9);
  assert.equal(done.length, 9);
  assert.equal(await add({ application: 3, firm: 3 }), '3/3');
});
