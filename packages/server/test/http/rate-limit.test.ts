/**
 * Rate limits by API key, firm and address: who is refused, what the answers tell, and that several processes count together.
 * What counts more than once: rate-cost.test.ts.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSharedCounters } from '../../src/limits/shared-counters.ts';
import { assertRefused } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService(
  { after },
  { PRAXIS_RATE_LIMIT: '20', PRAXIS_FIRM_RATE_LIMIT: '50', PRAXIS_ADDRESS_RATE_LIMIT: '90' },
);
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const birch = await makeFirm(service, 'birch');
const callers = new Map<string, Awaited<ReturnType<typeof openCaller>>>();
async function caller(name: string, firm = maple) {
  const known = callers.get(name);
  if (known !== undefined) return known;
  const made = await openCaller(service, await makeApplication(service, name, ['acl/*'], [firm]), firm);
  callers.set(name, made);
  return made;
}

/** Every test begins a new minute. */
function nextMinute(): void {
  service.clock.advance(60_000);
}

const policy = '"api-key";q=20;w=60, "firm";q=50;w=60, "address";q=90;w=60';

test('an answer tells the limits and what is left of each', async () => {
  await caller('One'); // its token counts, too
  nextMinute();
  const one = await caller('One');
  const { status, headers } = await one.get('Patient');
  assert.equal(status, 200);
  assert.equal(headers.get('ratelimit-policy'), policy);
  assert.equal(headers.get('ratelimit'), '"api-key";r=19;t=60, "firm";r=49;t=60, "address";r=89;t=60');
  service.clock.advance(15_500);
  const refused = await one.get('Nothing');
  assert.equal(refused.status, 404);
  assert.equal(refused.headers.get('ratelimit'), '"api-key";r=18;t=45, "firm";r=48;t=45, "address";r=88;t=45');
  service.clock.advance(44_500);
});

test('a key, a firm and an address that have used up their minute are refused until it ends, the others are not', async () => {
  for (const [name, firm] of [['One'], ['Two'], ['Three'], ['Four', cedar], ['Five', birch]] as const)
    await caller(name, firm);
  nextMinute();
  const until = new Date(service.clock.now() + 60_000).toISOString();
  const refused = (whom: string, limit: number) => ({
    status: 429,
    error: 'rate-exceeded',
    issue: 'throttled',
    diagnostics: `The ${limit} requests a minute of ${whom} are used up (costly ones count more than once): wait 60 s, until ${until}`,
  });
  const one = await caller('One');
  for (let request = 1; request <= 20; request += 1) assert.equal((await one.get('Patient')).status, 200);
  const ofKey = await one.get('Patient');
  assertRefused(ofKey, refused('this API key', 20));
  assert.equal(ofKey.headers.get('retry-after'), '60');
  assert.equal(ofKey.headers.get('ratelimit'), '"api-key";r=0;t=60, "firm";r=29;t=60, "address";r=69;t=60');

  const two = await caller('Two');
  for (let request = 1; request <= 20; request += 1) assert.equal((await two.get('Patient')).status, 200);
  const three = await caller('Three');
  for (let request = 1; request <= 9; request += 1) assert.equal((await three.get('Patient')).status, 200);
  assertRefused(await three.get('Patient'), refused('all applications at this firm', 50));

  const four = await caller('Four', cedar);
  for (let request = 1; request <= 20; request += 1) assert.equal((await four.get('Patient')).status, 200);
  const five = await caller('Five', birch);
  for (let request = 1; request <= 19; request += 1) assert.equal((await five.get('Patient')).status, 200);
  assertRefused(await five.get('Patient'), refused('this address', 90));

  nextMinute();
  for (const again of [one, two, three, four, five]) assert.equal((await again.get('Patient')).status, 200);
});

test('processes count together once they have exchanged what they counted', async () => {
  nextMinute();
  const { database, clock } = service.platform;
  const [left, right] = [openSharedCounters(database, clock), openSharedCounters(database, clock)];
  left.add('shared', 7);
  right.add('shared', 5);
  assert.equal(right.add('shared', 1), 6);
  await left.exchange.run();
  await right.exchange.run();
  assert.equal(right.add('shared', 1), 14);
  await left.exchange.run();
  assert.equal(left.add('shared', 0), 7, 'nothing new to tell, so nothing is asked');
  left.add('shared', 1);
  await right.exchange.run();
  await left.exchange.run();
  assert.equal(left.add('shared', 0), 15);
  nextMinute();
  assert.equal(left.add('shared', 1), 1);
  await left.exchange.run();
  assert.equal(left.add('shared', 0), 1);
});
