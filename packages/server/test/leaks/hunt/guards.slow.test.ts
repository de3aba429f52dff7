/**
 * The leak hunt finds a leak as soon as a guard is taken out of the code: it could see what the guards hide.
 * Slow: hunts once for each guard that it takes out.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { guards } from './guards.ts';
import { type Told, tellingGuards } from './telling-guards.ts';
import { switchOff } from './unguarded.ts';

const { hunt, newTally } = await import('./hunt.ts');
const { openWorlds } = await import('./worlds.ts');
const { findTelling, openTellingWorlds } = await import('./tellings.ts');

/** Requests within which a missing guard is found. */
const requests = 4_000;
const seed = 1;
const worlds = await openWorlds({ after });
const tellingWorlds = await openTellingWorlds({ after });

for (const { name, at, by, ways, plantsAnew } of guards) {
  test(`without "${name}" the hunt finds a leak`, async () => {
    if (plantsAnew) worlds.spoilAll();
    switchOff(name);
    const tally = newTally();
    const leak = await hunt(worlds, tally, { seed, requests, kinds: at, by, ways, quick: true });
    assert.ok(leak !== undefined, `${tally.requests} requests found nothing`);
  });
}

test('events and exports tell nobody what is hidden', async () => {
  switchOff(undefined);
  const scenes: readonly (readonly Told[])[] = [
    ['masked', 'rows', 'times', 'others'],
    ['rows', 'times', 'others'],
  ];
  for (const by of scenes) assert.equal(await findTelling(tellingWorlds, by), undefined);
});

for (const { name, by } of tellingGuards) {
  test(`without "${name}" events or exports tell what is hidden`, async () => {
    switchOff(name);
    assert.notEqual(await findTelling(tellingWorlds, [by]), undefined);
  });
}
