/**
 * $validate is done in turns: no firm waits for all that another has asked for (docs/decisions/0213).
 * Slow: validates for many firms at once until turns show.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { turnLimits } from '../../src/validation/validator.ts';
import { entryProblem } from '../oauth/world.ts';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { firmProfile } from './validate-profiles.ts';

const service = await openTestService({ after });
const { clock } = service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple, cedar]);
const passing = await makeApplication(service, 'For a minute', ['acl/*'], [maple]);
const ending = { purpose: 'Test', expiresAtMs: clock.now() + 60_000 };
await authorise(service.platform.database, clock, maple, passing.application, ending, entryProblem);

const slow = 'http://maple.example.org/StructureDefinition/slow';
const expression = `'${'a'.repeat(60)}!'.matches('^(a+)+$')`;
const plainly = 'Patient/$validate?profile=http://hl7.org/fhir/StructureDefinition/Patient';
const constraint = [{ key: 'own-1', severity: 'error', human: 'Slow', expression }];
const [root, ...elements] = firmProfile.snapshot.element;

test('a slow profile of one firm keeps others waiting for one validation at most, and its own are bounded', async () => {
  const atMaple = await openCaller(service, vendor, maple);
  const atCedar = await openCaller(service, vendor, cedar);
  const forAMinute = await openCaller(service, passing, maple);
  const profile = { ...firmProfile, url: slow, snapshot: { element: [{ ...root, constraint }, ...elements] } };
  assert.equal((await atMaple.send('POST', 'StructureDefinition', profile)).status, 201);
  for (const caller of [atMaple, atCedar, forAMinute]) assert.equal((await caller.get('Patient')).status, 200);

  const order: string[] = [];
  const noting = async (name: string, answer: Promise<Answer>): Promise<Answer> => {
    const got = await answer;
    order.push(name);
    return got;
  };
  const hostile = Array.from({ length: 2 }, (_, index) =>
    noting(`slow ${index}`, atMaple.send('POST', `Patient/$validate?profile=${slow}`, patient('Slow'))),
  );
  await delay(1_000); // until one of them is under way, which takes five seconds
  const plain = Array.from({ length: turnLimits.ofFirmMax }, () => atMaple.send('POST', plainly, patient('Stone')));
  // Those that are too many are told so while the first is still under way.
  const early = await Promise.race(plain);
  assert.equal(early.headers.get('retry-after'), '5');
  assertRefused(early, {
    status: 429,
    error: 'rate-exceeded',
    issue: 'throttled',
    diagnostics:
      'At most 8 validations of an application may wait at once at one practice, and as many do: send another when one is answered',
  });
  const mine = noting('cedar', atCedar.send('POST', plainly, patient('Reed')));
  const ended = noting('ended', forAMinute.send('POST', plainly, patient('Stone')));
  await delay(300); // until both wait
  clock.advance(60_000);

  assert.equal((await mine).status, 200);
  assert.equal((await ended).status, 403, 'its authorisation ended while it waited');
  const statuses = (await Promise.all([...hostile, ...plain])).map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [...Array.from({ length: turnLimits.ofFirmMax }, () => 200), 429, 429]);
  assert.ok(order.indexOf('cedar') < Math.max(order.indexOf('slow 0'), order.indexOf('slow 1')), order.join(', '));
});
