/**
 * The leak hunt at small size, with two seeds that stay. `npm run leak-hunt` takes that of the day.
 * Slow: a hunt of many random requests to two services.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { hunt, newTally } from './hunt.ts';
import { leakText } from './report.ts';
import { openWorlds } from './worlds.ts';

const requests = 750;
const seeds = [20_261_121, 20_778];
const worlds = await openWorlds({ after });

for (const seed of seeds) {
  test(`nobody is told what is hidden (the seed ${seed})`, async () => {
    const tally = newTally();
    const leak = await hunt(worlds, tally, { seed, requests });
    assert.equal(leak && leakText(leak), undefined);
    assert.deepEqual(tally.faults, []);
    const differed = [...tally.entitled.values()].reduce((sum, each) => sum + each.differed, 0);
    assert.ok(differed > 0, 'those who may see the secrets were told the same: the hunt would find nothing');
  });
}
