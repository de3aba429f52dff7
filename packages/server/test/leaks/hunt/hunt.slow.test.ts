/** The leak hunt at small size: with a seed that stays, and with one that is new each day. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { hunt, newTally } from './hunt.ts';
import { leakText } from './report.ts';
import { openWorlds } from './worlds.ts';

const requests = 750;
const msPerDay = 86_400_000;
const seeds = { fixed: 20_261_121, 'of the day': Math.floor(Date.now() / msPerDay) };
const worlds = await openWorlds({ after });

for (const [name, seed] of Object.entries(seeds)) {
  test(`nobody is told what is hidden (the seed ${name}, ${seed})`, async () => {
    const tally = newTally();
    const leak = await hunt(worlds, tally, { seed, requests });
    assert.equal(leak && leakText(leak), undefined);
    assert.deepEqual(tally.faults, []);
    const differed = [...tally.entitled.values()].reduce((sum, each) => sum + each.differed, 0);
    assert.ok(differed > 0, 'those who may see the secrets were told the same: the hunt would find nothing');
  });
}
