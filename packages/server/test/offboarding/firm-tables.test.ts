/** No table with rows of firms is forgotten: each is erased with its firm, or stands here with the reason why it stays. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { erasedTables } from '../../src/offboarding/firm-tables.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner } = await openTestDatabase({ after });

/** Tables with rows of firms that stay. */
const kept: Readonly<Record<string, string>> = {
  firm_erasure: 'the record that the firm was erased, with the proof of it',
};

/** Tables of administrators, whose rows go with those of a firm's administrators. */
const followers: readonly string[] = ['admin_address', 'admin_session'];

interface Column {
  readonly name: string;
  readonly columns: readonly string[];
}

const tables = await owner.query<Column>(sql`
  SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') GROUP BY c.relname ORDER BY c.relname`);
const withFirm = tables.filter(({ columns }) => columns.includes('firm')).map(({ name }) => name);
const erased = erasedTables.map(({ name }) => name);

test('every table with a column firm is erased once, or kept for a reason', () => {
  assert.deepEqual([...erased, ...Object.keys(kept)].sort(), withFirm);
});

test('every table that refers to one of them is erased as well', async () => {
  const referring = await owner.query<{ name: string; to: string }>(sql`
    SELECT DISTINCT conrelid::regclass::text AS name, confrelid::regclass::text AS to FROM pg_constraint
    WHERE contype = 'f' AND confrelid::regclass::text = ANY (${erased}::text[]) AND conrelid <> confrelid ORDER BY 1, 2`);
  for (const { name, to } of referring) {
    if (followers.includes(name)) continue;
    assert.ok(erased.indexOf(name) >= 0 && erased.indexOf(name) < erased.indexOf(to), `${name} before ${to}`);
  }
});

test('what is exported of a table are columns of it, in the order of a key, and no secret', () => {
  const secrets = /hash|password|secret|sealed|token|headers|definition/;
  for (const { name, exported } of erasedTables) {
    if (typeof exported === 'string') continue;
    const { columns = [] } = tables.find((each) => each.name === name) ?? {};
    assert.deepEqual(
      exported.columns.filter((column) => !columns.includes(column) || secrets.test(column)),
      [],
      name,
    );
    assert.deepEqual(
      exported.key.filter((column) => !exported.columns.includes(column)),
      [],
      name,
    );
  }
});
