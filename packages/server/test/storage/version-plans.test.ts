/**
 * A new version finds the one before by its key, also while PostgreSQL has no statistics: told by the blocks that it reads, whatever
 * else the firm holds.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner } = await openTestDatabase({ after }, {});

const firm = 1;
const versionsMax = 4_000;

async function addVersions(vid: number, from: number, to: number): Promise<void> {
  await owner.transaction(firm, async (tx) => {
    await tx.query(sql`
      INSERT INTO resource_version (firm, rtype, id, vid, lu, content, xid, seq, epoch, application, method)
      SELECT ${firm}, 1, 'p' || g, ${vid}, 1, '{}', pg_current_xact_id(), ${vid * versionsMax} + g, 1, 1, 'C' FROM generate_series(${from}::int, ${to}::int) g`);
  });
}

/** Blocks of the table and its indexes that were read so far, in memory or not. */
async function countBlocks(): Promise<number> {
  await owner.query(sql`SELECT pg_stat_force_next_flush()`);
  const [row] = await owner.query<{ blocks: number }>(sql`
    SELECT (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int AS blocks
    FROM pg_statio_all_tables WHERE relname = 'resource_version'`);
  return row?.blocks ?? 0;
}

async function countBlocksOf(work: () => Promise<void>): Promise<number> {
  const before = await countBlocks();
  await work();
  return (await countBlocks()) - before;
}

test('second versions read as many blocks in a firm of 4,000 resources as in one of 400, without statistics', async () => {
  await owner.query(sql`ALTER TABLE resource_version SET (autovacuum_enabled = false)`);
  await addVersions(1, 1, 400);
  const few = await countBlocksOf(() => addVersions(2, 1, 100));
  await addVersions(1, 401, versionsMax);
  const many = await countBlocksOf(() => addVersions(2, 101, 200));
  assert.ok(few > 0 && many <= 2 * few, `${few} blocks, then ${many}`);
});
