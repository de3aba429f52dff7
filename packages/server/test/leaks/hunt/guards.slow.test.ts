/**
 * The leak hunt finds a leak as soon as a guard is taken out of the code: it could see what the guards hide.
 * Slow: hunts once for each guard that it takes out.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { guards } from './guards.ts';
import { switchOff } from './unguarded.ts';

const { hunt, newTally } = await import('./hunt.ts');
const { openWorlds } = await import('./worlds.ts');

/** Requests within which a missing guard is found. */
const requests = 4_000;
const seed = 1;
const worlds = await openWorlds({ after });

for (const { name, at, by, ways, plantsAnew } of guards) {
  test(`without "${name}" the hunt finds a leak`, async () => {
    if (plantsAnew) worlds.spoilAll();
    switchOff(name);
    const tally = newTally();
    const leak = await hunt(worlds, tally, { seed, requests, kinds: at, by, ways, quick: true });
    assert.ok(leak !== undefined, `${tally.requests} requests found nothing`);
  });
}
