/**
 * Requests for which a process has no place wait before anything is done for them, and are refused when none becomes free in
 * time (docs/decisions/0262). The searches are held up by a lock on the table that they read.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after }, { PRAXIS_STATEMENT_TIMEOUT_MS: '60000', PRAXIS_RATE_LIMIT: '0' });
const maple = await makeFirm(service, 'maple');
const noisy = await openCaller(service, await makeApplication(service, 'Noisy', ['acl/*'], [maple]), maple);
const quiet = await openCaller(service, await makeApplication(service, 'Quiet', ['acl/*'], [maple]), maple);
for (const caller of [noisy, quiet]) assert.equal((await caller.get('Patient?family=none')).status, 200);
assert.equal((await quiet.send('PUT', 'Patient/p', { ...patient('Stone'), id: 'p' })).status, 201);

/** An application that is alone has so many of the 48 places. */
const placesOfOne = 32;

const atTheDoor = {
  status: 429,
  retryAfter: '1',
  text: 'Too many requests of this application are being worked on at once: send another when one is answered',
};

async function search() {
  const answer = await noisy.get('Patient?family=stone');
  const text: string | undefined = answer.json.issue?.[0]?.diagnostics;
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') ?? undefined, text };
}

/** Searches, of which no more reach the database than there are places; then `meanwhile`, with the table still locked. */
async function crowd<T>(
  searches: number,
  meanwhile: () => Promise<T>,
): Promise<[T, Awaited<ReturnType<typeof search>>[]]> {
  const { promise, resolve } = Promise.withResolvers<[T, ReturnType<typeof search>[]]>();
  await service.database.owner.transaction(undefined, async (tx) => {
    await tx.query(sql`LOCK TABLE index_string IN ACCESS EXCLUSIVE MODE`);
    const sent = Array.from({ length: searches }, search);
    for (;;) {
      if (countInBothLanes() >= placesOfOne) break;
      await delay(5);
    }
    resolve([await meanwhile(), sent]);
  });
  const [result, sent] = await promise;
  return [result, await Promise.all(sent)];
}

function countInBothLanes(): number {
  const { shared, exclusive } = service.platform.database.load();
  return shared.inFlight + shared.waiting + exclusive.inFlight + exclusive.waiting;
}

/** The fewest of some moments: a job of the service may ask something as well, for a moment. */
async function countAtTheDatabase(): Promise<number> {
  const counts: number[] = [];
  for (let look = 0; look < 20; look += 1) {
    counts.push(countInBothLanes());
    await delay(10);
  }
  return Math.min(...counts);
}

test('beyond its places an application waits for them to be free, and others are answered meanwhile', async () => {
  const [meanwhile, answers] = await crowd(placesOfOne + 20, async () => {
    const read = await quiet.get('Patient/p');
    return { read: read.status, atTheDatabase: await countAtTheDatabase() };
  });
  assert.deepEqual(meanwhile, { read: 200, atTheDatabase: placesOfOne });
  assert.deepEqual(
    new Set(answers.map(({ status }) => status)),
    new Set([200]),
    'all who waited are answered once there is a place',
  );
});

test('who has waited for two seconds is refused at the door: 429, when to come again, and nothing done', async () => {
  const [, answers] = await crowd(placesOfOne * 3, async () => {
    await delay(2_500);
  });
  const refused = answers.filter(({ text }) => text === atTheDoor.text);
  assert.ok(refused.length >= placesOfOne, `${refused.length} refused at the door`);
  assert.deepEqual(new Set(refused.map((each) => JSON.stringify(each))), new Set([JSON.stringify(atTheDoor)]));
  assert.equal((await search()).status, 200);
});
