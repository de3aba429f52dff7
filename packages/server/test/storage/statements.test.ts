/**
 * Every statement that the store sends names the firm as a bound value; without that, row-level security alone still hides
 * every other firm. The statements are those that a tour of the store really sends, compared with the catalogue.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openDimensions } from '../../src/audit/dimensions.ts';
import type { Database } from '../../src/database/database.ts';
import { type Sql, sql } from '../../src/database/sql.ts';
import { buildPortionStatement } from '../../src/storage/portions.ts';
import { statements } from '../../src/storage/statements.ts';
import { openStore } from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import { indexRows, makeFirms, nowMs, resourceDelete, resourceWrite, tenantTables } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple, cedar } = await makeFirms(owner);

/** A database that notes every statement, in transactions too. */
function recording(database: Database, sent: Sql[]): Database {
  return {
    ...database,
    forFirm: (firm) => ({
      query(statement, options) {
        sent.push(statement);
        return database.forFirm(firm).query(statement, options);
      },
    }),
    transaction: (firm, work, options) =>
      database.transaction(
        firm,
        (tx) =>
          work({
            query(statement) {
              sent.push(statement);
              return tx.query(statement);
            },
          }),
        options,
      ),
    query() {
      throw new Error('storage sent a statement without a firm');
    },
  };
}

/** Every function of the store, but those that run statements of others. */
async function tour(): Promise<Sql[]> {
  const sent: Sql[] = [];
  const store = openStore(recording(runtime, sent));
  await store.write(maple, resourceWrite('one', 0, { index: indexRows('one') }));
  await store.write(maple, resourceWrite('one', 1, { index: indexRows('two') }));
  await store.writeMany(maple, [
    resourceWrite('two'),
    resourceWrite('three', 0, { index: indexRows('three') }),
    resourceDelete('one', 2),
  ]);
  await store.read(maple, 'Patient', 'two');
  await store.exists(maple, 'Patient', 'two');
  await store.readVersion(maple, 'Patient', 'one', 2);
  await store.history(maple, 'Patient', 'one', { limit: 5 });
  await store.history(maple, 'Patient', 'one', { limit: 5, beforeVersion: 3 });
  const { next } = await store.typeHistory(maple, 'Patient', { limit: 2 });
  await store.typeHistory(maple, 'Patient', { limit: 2, ...(next === undefined ? {} : { after: next }) });
  await store.systemHistory(maple, { limit: 2, sinceMs: 0, beforeMs: nowMs + 9, currentAfterMs: nowMs });
  await store.currentVersions(maple, [{ type: 'Patient', id: 'two' }]);
  for await (const _resource of store.stream(maple));
  await store.portion(maple, { type: undefined, after: undefined, limit: 5, bytesMax: 1_000 });
  for await (const _resource of store.stream(maple, { types: ['Patient'] }));
  await store.transaction(maple, (inside) => inside.write(maple, resourceWrite('two', 1)));
  await store.createMany(maple, [resourceWrite('many')]);
  await store.exclusively(maple, 'name', async () => undefined);
  return sent;
}

const keys = openDimensions().begin(maple.firm);

/** One statement of each maker of the catalogue, made for maple. */
const catalogue: Record<keyof typeof statements | 'portion' | 'writeAgain', Sql> = {
  read: statements.read(maple, 'Patient', 'two'),
  exists: statements.exists(maple, 'Patient', 'two'),
  readVersion: statements.readVersion(maple, 'Patient', 'two', 1),
  history: statements.history(maple, 'Patient', 'two', { limit: 5 }),
  typeHistory: statements.typeHistory(maple, 'Patient', { limit: 5 }),
  systemHistory: statements.systemHistory(maple, { limit: 5 }),
  currentVersions: statements.currentVersions(maple, [{ type: 'Patient', id: 'two' }]),
  stream: statements.stream(maple, { afterRid: 0, limit: 5, types: undefined }),
  portion: buildPortionStatement(maple, { type: undefined, after: undefined, limit: 5, bytesMax: 1_000 }),
  epoch: statements.epoch(maple),
  lock: statements.lock(maple, 'name'),
  unlock: statements.unlock(maple, 'name'),
  // The first of a caller brings the caller.
  write: statements.write(maple, [resourceWrite('two', 2)], { keys }),
  create: statements.create(maple, [resourceWrite('many')], sql`0`, { keys, lockWaitMs: 3_000 }),
  writeAgain: statements.write(maple, [resourceWrite('two', 2)], { keys }),
};

const sent = await tour();

test('the store sends what the catalogue holds, and the catalogue holds nothing else', () => {
  assert.deepEqual(new Set(sent.map(({ text }) => text)), new Set(Object.values(catalogue).map(({ text }) => text)));
});

/** The firm as a condition, or as the first of the values to insert. */
const boundFirm = /\bfirm = \$(\d+)|INSERT INTO \w+ \(firm,[^)]*\) VALUES \(\$(\d+)/g;
const tableNames = new RegExp(
  `\\b(?:FROM|JOIN|INTO)\\s+(${[...tenantTables, 'write_lock', 'access_epoch'].join('|')})\\b`,
  'g',
);

for (const [name, { text, values }] of Object.entries(catalogue)) {
  test(`${name} names the firm as a bound value for every table`, () => {
    const bound = [...text.matchAll(boundFirm)];
    const given = [...bound, ...text.matchAll(/\bin_firm => \$(\d+)/g)];
    assert.ok(given.length > 0);
    const firms = given.map(([, inCondition, inValues]) => values[Number(inCondition ?? inValues) - 1]);
    assert.deepEqual(new Set(firms), new Set([maple.firm]));
    assert.equal(bound.length, [...text.matchAll(tableNames)].length, 'one per table');
  });
}

/** `statement` with the firm taken out of its conditions on tenant tables. */
function withoutFirm({ text, values }: Sql): Sql {
  const careless = text.replaceAll(/(?<!e\.)\bfirm = (\$\d+)/g, '$1::int IS NOT NULL');
  assert.notEqual(careless, text);
  // A statement that the template would not have made, which is the point.
  return { text: careless, values } as unknown as Sql;
}

/** What a statement finds; without the transactions of the whole server, on which other test files work meanwhile. */
async function foundAs({ firm }: typeof maple, statement: Sql): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows = await runtime.forFirm(firm).query<Readonly<Record<string, unknown>>>(statement);
  return rows.map(({ snapshot: _, horizon: __, ...row }) => row);
}

for (const [name, statement] of Object.entries(catalogue).filter(
  // What writes is run without its firm in tenancy/request-statements.test.ts; the epoch is the control plane's.
  ([name]) => !['write', 'writeAgain', 'create', 'lock', 'unlock', 'epoch'].includes(name),
)) {
  test(`${name} without its firm finds the same rows as maple, and none of them as cedar`, async () => {
    const complete = await foundAs(maple, statement);
    assert.ok(complete.length > 0 && complete.every(({ vid }) => vid !== null), 'the statement finds something');
    assert.deepEqual(await foundAs(maple, withoutFirm(statement)), complete);
    const asCedar = await foundAs(cedar, withoutFirm(statement));
    assert.deepEqual(
      asCedar.flatMap(({ epoch, ...found }) => Object.values(found)).filter((value) => value !== null),
      [],
    );
  });
}

test('inside the function that creates every statement on a tenant table names the firm', async () => {
  const [source] = await owner.query<{ text: string }>(
    sql`SELECT prosrc AS text FROM pg_proc WHERE proname = 'praxis_create_resources'`,
  );
  const parts = (source?.text ?? '').split(';').map((part) => part.replaceAll(/\s+/g, ' '));
  const touching = parts.filter((part) => new RegExp(`\\b(?:INTO|FROM) (?:${tenantTables.join('|')})\\b`).test(part));
  assert.equal(touching.length, 2 + 3 + 5, 'resource, version, audit three times, and each index table');
  for (const part of touching) assert.match(part, /\bfirm = in_firm\b|\bin_firm\b.*\bFROM\b/, part);
});

test('inside the functions that note what is imported every statement on a tenant table names the firm', async () => {
  const sources = await owner.query<{ name: string; text: string }>(
    sql`SELECT proname::text AS name, prosrc AS text FROM pg_proc WHERE proname LIKE 'praxis_note_%' ORDER BY 1`,
  );
  const touching = sources.flatMap(({ name, text }) =>
    text
      .split(';')
      .map((part) => part.replaceAll(/\s+/g, ' '))
      .filter((part) => /\b(?:INTO|FROM|UPDATE) (?:import_run|import_range|bookable_actor)\b/.test(part))
      .map((part) => [name, part] as const),
  );
  const counts = Object.fromEntries(
    [...Map.groupBy(touching, ([name]) => name)].map(([name, parts]) => [name, parts.length]),
  );
  assert.deepEqual(counts, { praxis_note_appointments: 2, praxis_note_import: 2 });
  for (const [, part] of touching) assert.match(part, /\bfirm = in_firm\b|\bVALUES \(in_firm\b/, part);
});

test('inside the functions of events every statement on a table of subscriptions names the firm', async () => {
  const sources = await owner.query<{ name: string; text: string }>(
    sql`SELECT proname::text AS name, prosrc AS text FROM pg_proc WHERE proname IN ('praxis_admit_events', 'praxis_note_delivered') ORDER BY 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name, text } of sources)
    for (const part of text.split(';').map((each) => each.replaceAll(/\s+/g, ' '))) {
      const tables = part.match(/\b(?:INTO|FROM|JOIN|UPDATE) subscription(?:_\w+)?\b/g) ?? [];
      counts[name] = (counts[name] ?? 0) + tables.length;
      const firms = part.match(/\bfirm = in_firm\b|\b(?:SELECT|VALUES) \(?in_firm\b/g) ?? [];
      assert.equal(firms.length >= tables.length, true, part);
    }
  assert.deepEqual(counts, { praxis_admit_events: 8, praxis_note_delivered: 3 });
});

test('inside the write function every statement on a tenant table names the firm', async () => {
  const [source] = await owner.query<{ text: string }>(
    sql`SELECT prosrc AS text FROM pg_proc WHERE proname = 'praxis_write_resources'`,
  );
  const parts = (source?.text ?? '').split(';').map((part) => part.replaceAll(/\s+/g, ' '));
  const touching = parts.filter((part) =>
    new RegExp(`\\b(?:INTO|FROM|UPDATE) (?:${tenantTables.join('|')})\\b`).test(part),
  );
  assert.equal(
    touching.length,
    3 + 1 + 3 + 5 * 4,
    'resource three times, version, audit three times, and four times each index table',
  );
  for (const part of touching)
    assert.match(part, /\bfirm = in_firm\b|\bin_firm\b.*\bFROM unnest|VALUES \(.*\bin_firm\b/, part);
});
