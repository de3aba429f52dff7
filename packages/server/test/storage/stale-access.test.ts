/**
 * Every function of the store refuses a scope whose access epoch is no longer the stored one, and changes nothing
 * (settled.md "Credentials").
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { type Sql, sql } from '../../src/database/sql.ts';
import { firstPlace, openStore, type ResourceStore } from '../../src/storage/store.ts';
import type { TenantScope } from '../../src/tenancy/scope.ts';
import { openTestDatabase } from '../support/database.ts';
import { everything, indexRows, makeFirms, resourceWrite } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple } = await makeFirms(owner);
const store = openStore(runtime);
await store.write(maple, resourceWrite('known', 0, { index: indexRows('known') }));

const pageOf = ({ firm, application }: TenantScope): Sql => sql`
  SELECT e.epoch, r.rtype, r.id, r.vid, r.lu, r.content, r.rid
  FROM access_epoch e LEFT JOIN resource r ON r.firm = ${firm} WHERE e.firm = ${firm} AND e.application = ${application}`;
const estimateOf = ({ firm, application }: TenantScope): Sql => sql`
  SELECT epoch, 1::bigint AS total, false AS sampled, false AS bounded
  FROM access_epoch WHERE firm = ${firm} AND application = ${application}`;

const countOf = ({ firm, application }: TenantScope): Sql => sql`
  SELECT e.epoch, (SELECT count(*) FROM resource WHERE firm = ${firm}) AS total
  FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

type Call = (store: ResourceStore, scope: TenantScope) => Promise<unknown>;

/** One call of every function; the compiler sees to it that none is missing. */
const calls: Record<keyof ResourceStore, Call> = {
  read: (on, scope) => on.read(scope, 'Patient', 'known'),
  exists: (on, scope) => on.exists(scope, 'Patient', 'known'),
  readVersion: (on, scope) => on.readVersion(scope, 'Patient', 'known', 1),
  history: (on, scope) => on.history(scope, 'Patient', 'known', { limit: 10 }),
  typeHistory: (on, scope) => on.typeHistory(scope, 'Patient', { limit: 10 }),
  systemHistory: (on, scope) => on.systemHistory(scope, { limit: 10 }),
  currentVersions: (on, scope) => on.currentVersions(scope, [{ type: 'Patient', id: 'known' }]),
  write: (on, scope) => on.write(scope, resourceWrite('new', 0, { index: indexRows('new') })),
  writeMany: (on, scope) => on.writeMany(scope, [resourceWrite('new'), resourceWrite('known', 1)]),
  transaction: (on, scope) => on.transaction(scope, (inside) => inside.write(scope, resourceWrite('new'))),
  exclusively: (on, scope) => on.exclusively(scope, 'name', (inside) => inside.write(scope, resourceWrite('new'))),
  changes: (on, scope) => on.changes(scope, { after: firstPlace, limit: 10, types: undefined, comparedTypes: [] }),
  once: (on, scope) =>
    on.once(scope, { key: Buffer.alloc(32), request: Buffer.alloc(32), policy: '', atMs: 0 }, async (inside) => ({
      answer: await inside.write(scope, resourceWrite('new')),
      keep: { status: 201, facts: {}, body: undefined },
    })),
  keptAnswer: (on, scope) => on.keptAnswer(scope, Buffer.alloc(32), 0),
  placeSince: (on, scope) => on.placeSince(scope, 0),
  completeUntil: (on, scope) => on.completeUntil(scope),
  parameterStandings: (on, scope) => on.parameterStandings(scope),
  selectPage: (on, scope) => on.selectPage(scope, pageOf(scope)),
  selectLedger: (on, scope) => on.selectLedger(scope, pageOf(scope)),
  selectCount: (on, scope) => on.selectCount(scope, countOf(scope)),
  selectEstimate: (on, scope) => on.selectEstimate(scope, estimateOf(scope)),
  stream: (on, scope) => collect(on.stream(scope)),
};

const isStale = (error: unknown): boolean => error instanceof PraxisError && error.code === 'stale-access';

const wrongScopes: readonly (readonly [string, TenantScope])[] = [
  ['an older epoch', { ...maple, epoch: maple.epoch - 1 }],
  ['a later epoch', { ...maple, epoch: maple.epoch + 1 }],
  ['an application that the firm never authorised', { ...maple, application: 999_999 }],
  ['a firm that does not exist', { ...maple, firm: 999_999 }],
];

for (const [why, scope] of wrongScopes) {
  for (const [name, call] of Object.entries(calls)) {
    test(`${name} with ${why} fails with stale-access and changes nothing`, async () => {
      const before = await everything(owner);
      await assert.rejects(call(store, scope), isStale);
      assert.deepEqual(await everything(owner), before);
    });
  }
}

test('a revocation acts on the next statement, and a new scope works again', async () => {
  assert.equal(await store.exists(maple, 'Patient', 'known'), true);
  await owner.query(
    sql`UPDATE access_epoch SET epoch = epoch + 1 WHERE firm = ${maple.firm} AND application = ${maple.application}`,
  );
  for (const call of Object.values(calls)) await assert.rejects(call(store, maple), isStale);
  assert.equal(await store.exists({ ...maple, epoch: maple.epoch + 1 }, 'Patient', 'known'), true);
  assert.equal(await store.exists({ ...maple, epoch: maple.epoch + 1 }, 'Patient', 'new'), false);
});

test('a revocation in the middle of a transaction undoes what it had written', async () => {
  const scope = { ...maple, epoch: maple.epoch + 1 };
  /** Every table but that of the epochs, which the test itself writes to. */
  const others = async (): Promise<object> =>
    Object.fromEntries(Object.entries(await everything(owner)).filter(([table]) => table !== 'access_epoch'));
  const before = await others();
  const work = store.transaction(scope, async (inside) => {
    assert.deepEqual(await inside.write(scope, resourceWrite('undone')), { outcome: 'written', versionId: 1 });
    await owner.query(
      sql`UPDATE access_epoch SET epoch = epoch + 1 WHERE firm = ${maple.firm} AND application = ${maple.application}`,
    );
    await inside.write(scope, resourceWrite('undone', 1));
  });
  await assert.rejects(work, isStale);
  assert.deepEqual(await others(), before);
});
