/**
 * What sealing reads of a large ledger: the rows it takes and a few blocks of an index, whatever the planner believes about
 * the ledger's size. Plans are those of the service: prepared, generic, made and kept as row-level security binds them.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { CommitPosition } from '../../src/audit/seal.ts';
import {
  selectFirstRowAfter,
  selectLastSeal,
  selectRowsBetween,
  selectRowsToSeal,
  selectSealsAfter,
} from '../../src/audit/seal-statements.ts';
import type { Queryable } from '../../src/database/database.ts';
import { type Sql, sql } from '../../src/database/sql.ts';
import { openTestDatabase } from '../support/database.ts';
import { blocksOf, prepared } from '../support/prepared-plans.ts';

const { owner, runtime } = await openTestDatabase({ after });
const firm = 7;
const rows = 120_000;
const rowsOfSeal = 5_000;
/** Ids of transactions that have long ended, whatever else runs in the server. */
const xidOf = (seq: number): string => String(3 + Math.floor(seq / 1000));
const placeOf = (seq: number): CommitPosition => ({ epoch: 1, xid: xidOf(seq), seq });

/** Rows of the ledger, and a seal for every tenth of them, from one number to another. */
async function fill(from: number, to: number): Promise<void> {
  const numbers = sql`generate_series(${from}::int, ${to}::int) AS n`;
  await owner.query(sql`
    INSERT INTO audit_event (at, xid, seq, firm, epoch, application, outcome, interaction, proof)
    SELECT 1700000000000 + n, (3 + n / 1000)::text::xid8, n, ${firm}, 1, 1, 0, 'create', decode(repeat('00', 24), 'hex') FROM ${numbers}`);
  await owner.query(sql`
    INSERT INTO audit_seal (firm, at, row_xid, row_seq, number, row_epoch, rows, marks, head, signature)
    SELECT ${firm}, n, '3', n, 1 + n / 10, 1, 10, decode(repeat('00', 240), 'hex'), '\\x00', '\\x00' FROM ${numbers} WHERE n % 10 = 0`);
}

/** By name: the statement at the end of a ledger of that many rows, and the rows that it finds there. */
const statements: Readonly<Record<string, (last: number) => Sql>> = {
  rowsToSeal: (last) => selectRowsToSeal(firm, placeOf(last - 3), rowsOfSeal),
  'rowsToSeal, up to date': (last) => selectRowsToSeal(firm, placeOf(last), rowsOfSeal),
  firstRowAfter: (last) => selectFirstRowAfter(firm, placeOf(last - 3)),
  'rowsBetween, to a place': (last) => selectRowsBetween(firm, placeOf(last - 9), placeOf(last - 3), rowsOfSeal),
  'rowsBetween, to the end': (last) => selectRowsBetween(firm, placeOf(last - 3), undefined, rowsOfSeal),
  lastSeal: () => selectLastSeal(firm),
  sealsAfter: (last) => selectSealsAfter(firm, last / 10 - 3, 50),
};

/** Those that no statistics mislead; the others are right once a table that has grown was analysed, as autovacuum does. */
const steadfast = new Set(
  Object.keys(statements).filter((name) => /^(rowsToSeal|firstRowAfter|rowsBetween)/.test(name)),
);

await owner.query(sql`ALTER TABLE audit_event SET (autovacuum_enabled = off)`);

/** Blocks that a few rows by their index may take: some levels, some leaves, the rows. */
const fewBlocks = 40;

async function assertFew(tx: Queryable, names: Iterable<string>, when: string): Promise<void> {
  for (const name of names) {
    const statement = statements[name]?.(rows) ?? assert.fail(name);
    // A first run may make the plan, which reads the catalogue.
    await prepared(tx, name, statement);
    const blocks = blocksOf(await prepared(tx, name, statement));
    assert.ok(blocks <= fewBlocks, `${name} reads ${blocks} blocks ${when}`);
  }
}

test('what seals read does not grow with the ledger, also by plans from when it was small', {
  timeout: 60_000,
}, async () => {
  await fill(1, 10);
  await owner.query(sql`ANALYZE audit_event`);
  await runtime.transaction(firm, async (tx) => {
    for (const [name, make] of Object.entries(statements)) await prepared(tx, name, make(10));
    await fill(11, rows);
    await assertFew(tx, steadfast, 'by a plan from when the ledger was small');
  });
  await owner.query(sql`ANALYZE audit_event, audit_seal`);
  await runtime.transaction(firm, async (tx) => {
    await assertFew(tx, Object.keys(statements), 'with statistics');
    // A full seal: its rows lie together.
    const full = blocksOf(await prepared(tx, 'rowsToSeal', selectRowsToSeal(firm, placeOf(60_000), rowsOfSeal)));
    assert.ok(full < rowsOfSeal / 10, `${full} blocks for ${rowsOfSeal} rows`);
  });
});

test('rows are found in order, after the first place and up to the second, and only those a server can have written', async () => {
  await owner.query(sql`UPDATE audit_event SET at = 9223372036854775807 WHERE firm = ${firm} AND seq = 1002`);
  await owner.query(sql`UPDATE audit_event SET seq = -5 WHERE firm = ${firm} AND seq = 1003`);
  const ledger = runtime.forFirm(firm);
  const found = await ledger.query<{ seq: number }>(selectRowsBetween(firm, placeOf(998), placeOf(1005), 100));
  assert.deepEqual(
    found.map(({ seq }) => seq),
    [999, 1000, 1001, 1004, 1005],
  );
  const two = await ledger.query<{ seq: number }>(selectRowsBetween(firm, placeOf(998), undefined, 2));
  assert.deepEqual(
    two.map(({ seq }) => seq),
    [999, 1000],
  );
  assert.deepEqual(await ledger.query(selectFirstRowAfter(firm, placeOf(1001))), [{ at: 1700000001004 }]);
  assert.deepEqual(await ledger.query(selectFirstRowAfter(firm, placeOf(rows))), []);
  // Nor of another firm, with or without the right number.
  assert.deepEqual(await runtime.forFirm(8).query(selectRowsBetween(firm, placeOf(0), undefined, 10)), []);
  assert.deepEqual(await runtime.forFirm(8).query(selectRowsBetween(8, placeOf(0), undefined, 10)), []);
});
