/**
 * A firm sees and changes its own rows only: through the store, and by any statement at all under the runtime role.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openDimensions } from '../../src/audit/dimensions.ts';
import { type Sql, sql } from '../../src/database/sql.ts';
import { StatementError } from '../../src/database/sqlstate.ts';
import { statements } from '../../src/storage/statements.ts';
import { openStore } from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import {
  contentText,
  everything,
  indexRows,
  makeFirms,
  nowMs,
  opened,
  resourceDelete,
  resourceWrite,
  tenantTables,
} from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple, cedar } = await makeFirms(owner);
const store = openStore(runtime);

await store.write(maple, resourceWrite('shared-id', 0, { note: 'of maple', index: indexRows('maple') }));
await store.write(cedar, resourceWrite('cedar-only', 0, { note: 'of cedar', index: indexRows('cedar') }));

const refused = (error: unknown): boolean => error instanceof StatementError && error.sqlState === '42501';

test('nothing of another firm is found, whatever is asked for', async () => {
  assert.equal(await store.read(cedar, 'Patient', 'shared-id'), undefined);
  assert.equal(await store.exists(cedar, 'Patient', 'shared-id'), false);
  assert.equal(await store.readVersion(cedar, 'Patient', 'shared-id', 1), undefined);
  assert.deepEqual(await store.history(cedar, 'Patient', 'shared-id', { limit: 10 }), { versions: [], hasMore: false });
  assert.deepEqual(await store.currentVersions(cedar, [{ type: 'Patient', id: 'shared-id' }]), []);
  const seen: string[] = [];
  for await (const resource of store.stream(cedar)) seen.push(resource.id);
  assert.deepEqual(seen, ['cedar-only']);
});

test('a search statement that forgets the firm shows the rows of the scope only', async () => {
  const careless = sql`SELECT e.epoch, r.rtype, r.id, r.vid, r.lu, r.content, r.rid FROM access_epoch e LEFT JOIN resource r ON true
    WHERE e.firm = ${cedar.firm} AND e.application = ${cedar.application}`;
  assert.deepEqual(
    (await store.selectPage(cedar, careless)).map(({ id }) => id),
    ['cedar-only'],
  );
});

test('writes of another firm neither find nor touch the resource', async () => {
  const before = await everything(owner);
  assert.deepEqual(await store.write(cedar, resourceWrite('shared-id', 1)), {
    outcome: 'conflict',
    currentVersion: undefined,
  });
  assert.deepEqual(await store.write(cedar, resourceDelete('shared-id', 1)), {
    outcome: 'conflict',
    currentVersion: undefined,
  });
  assert.deepEqual(await everything(owner), before);
});

test('the same id in two firms is two resources', async () => {
  assert.deepEqual(await store.write(cedar, resourceWrite('shared-id', 0, { note: 'of cedar' })), {
    outcome: 'written',
    versionId: 1,
  });
  assert.deepEqual(await store.write(cedar, resourceDelete('shared-id', 1)), { outcome: 'written', versionId: 2 });
  assert.deepEqual(opened(await store.read(maple, 'Patient', 'shared-id')), {
    type: 'Patient',
    id: 'shared-id',
    versionId: 1,
    lastUpdatedMs: nowMs,
    deleted: false,
    content: contentText('Patient', 'shared-id', 1, 'of maple'),
  });
});

test('the write function refuses a firm that is not the session’s', async () => {
  const before = await everything(owner);
  const smuggled = resourceWrite('smuggled', 0, { index: indexRows('smuggled') });
  const foreign = statements.write(maple, [smuggled], { keys: openDimensions().begin(maple.firm) });
  await assert.rejects(runtime.forFirm(cedar.firm).query(foreign), refused);
  await assert.rejects(runtime.query(foreign), refused);
  const update = await runtime
    .forFirm(cedar.firm)
    .query(statements.write(maple, [resourceWrite('shared-id', 1)], { keys: openDimensions().begin(maple.firm) }));
  assert.deepEqual(update, [{ outcome: 'conflict', vid: null }]);
  assert.deepEqual(await everything(owner), before);
});

for (const table of tenantTables) {
  test(`${table} shows no row without a firm, and only its own to a firm`, async () => {
    const firms = sql`SELECT DISTINCT firm FROM ${sql.identifier(table)}`;
    assert.deepEqual(await runtime.query(firms), []);
    assert.deepEqual(await runtime.forFirm(maple.firm).query(firms), [{ firm: maple.firm }]);
    assert.deepEqual(await runtime.forFirm(cedar.firm).query(sql`${firms} WHERE firm = ${maple.firm}`), []);
    assert.equal((await owner.query(firms)).length, 2);
  });
}

/** What the runtime role may not do even to rows of its own firm. */
const forbidden: readonly (readonly [string, Sql])[] = [
  ['change a version', sql`UPDATE resource_version SET content = NULL`],
  ['remove a version', sql`DELETE FROM resource_version`],
  ['change the audit ledger', sql`UPDATE audit_event SET shown = 0`],
  ['change a caller of the audit ledger', sql`UPDATE audit_caller SET subject = 'nobody'`],
  ['remove from the audit ledger', sql`DELETE FROM audit_event`],
  ['remove a resource', sql`DELETE FROM resource`],
  ['move a resource to another firm', sql`UPDATE resource SET firm = ${cedar.firm}`],
  ['renumber a resource', sql`UPDATE resource SET rid = 1`],
  ['change an index row', sql`UPDATE index_token SET code = ''`],
  ['raise the epoch of the order', sql`UPDATE order_epoch SET epoch = 2`],
  ['empty a table', sql`TRUNCATE resource`],
  [
    'add a row for another firm',
    sql`INSERT INTO index_date (rid, lo, hi, firm, param) VALUES (1, 1, 2, ${cedar.firm}, 1)`,
  ],
];

for (const [what, statement] of forbidden) {
  test(`the runtime role cannot ${what}`, async () => {
    await assert.rejects(runtime.forFirm(maple.firm).query(statement), refused);
  });
}

test('a transaction refuses a scope of another firm', async () => {
  const before = await everything(owner);
  await assert.rejects(
    store.transaction(maple, (inside) => inside.write(cedar, resourceWrite('strayed'))),
    TypeError,
  );
  assert.deepEqual(await everything(owner), before);
});
