/**
 * What is done about content beside requests: what no resource holds is removed, and the bytes that nothing names
 * (docs/decisions/0193); and all of it can be walked, to see whether the bytes are those that came.
 */
import type { Content } from '../../content/content.ts';
import { removeAbandoned } from '../../content/receive.ts';
import type { Database } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { DeclaredJob } from '../../jobs/declared-job.ts';
import type { FirmWorkContext } from '../../jobs/firm-work.ts';
import { forEachFirm } from '../../storage/for-each-firm.ts';
import { buildInserts } from '../../storage/statement-runner.ts';

/** How long content waits for a resource that holds it, from when its URL was asked for. */
export const looseKeptMs = 24 * 60 * 60 * 1000;

/** How long after its upload began an object that nothing names is left alone: longer than any request lasts. */
const discardAfterMs = 60 * 60 * 1000;

/** Rows that one statement takes at most. */
const rowsMax = 500;
const pauseMs = 600_000;

/** Nothing that a caller sees depends on when it runs. */
export const contentUpkeepJob: DeclaredJob<ContentUpkeepOptions> = {
  worstCase: { harmless: 'removes what nothing holds, a bounded number at a time' },
  open: ({ database, clock, content }) => ({
    name: 'removal of content that nothing holds',
    pauseMs,
    async run(): Promise<'more' | 'done'> {
      const nowMs = clock.now();
      await removeAbandoned(content.incoming, nowMs - discardAfterMs);
      return await forEachFirm(database, async (firm) => {
        const loose = await removeLoose(database, firm, nowMs);
        const discarded = await removeDiscarded(database, content, firm, nowMs);
        return loose === rowsMax || discarded === rowsMax;
      });
    },
  }),
};

export interface ContentUpkeepOptions extends Pick<FirmWorkContext, 'database' | 'clock'> {
  readonly content: Content;
}

/** Its bytes are named for removal in the same transaction. */
async function removeLoose(database: Database, firm: number, nowMs: number): Promise<number> {
  return await database.transaction(firm, async (tx) => {
    const gone = await tx.query<{ object_key: string | null }>(sql`
      DELETE FROM document_content WHERE firm = ${firm} AND NOT held AND id IN (
        SELECT id FROM document_content WHERE firm = ${firm} AND NOT held AND created < ${nowMs - looseKeptMs}::bigint
        ORDER BY created LIMIT ${rowsMax} FOR UPDATE SKIP LOCKED)
      RETURNING object_key`);
    const names = gone.flatMap(({ object_key }) => object_key ?? []);
    const rows = names.map((name) => sql`(${firm}, ${name}, ${nowMs - discardAfterMs - 1})`);
    for (const named of buildInserts(sql`content_discard (firm, object_key, since)`, rows)) await tx.query(named);
    return gone.length;
  });
}

/** The row goes after the bytes: what is cut off between the two is done again. */
async function removeDiscarded(database: Database, { store }: Content, firm: number, nowMs: number): Promise<number> {
  const rows = await database.forFirm(firm).query<{ object_key: string }>(sql`
    SELECT object_key FROM content_discard WHERE firm = ${firm} AND since < ${nowMs - discardAfterMs}::bigint
    ORDER BY since LIMIT ${rowsMax}`);
  for (const { object_key: name } of rows) {
    await store.remove(name);
    await database.forFirm(firm).query(sql`DELETE FROM content_discard WHERE firm = ${firm} AND object_key = ${name}`);
  }
  return rows.length;
}

export interface StoredContent {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly sha256: Buffer;
}

/** All content of a firm that was uploaded, in the order of its ids. */
export async function* readFirmContents(database: Database, firm: number): AsyncGenerator<StoredContent> {
  let after = '';
  for (;;) {
    const rows: StoredContent[] = await database.forFirm(firm).query<StoredContent>(sql`
      SELECT id, object_key AS name, size, sha256 FROM document_content
      WHERE firm = ${firm} AND id > ${after} AND object_key IS NOT NULL ORDER BY id LIMIT ${rowsMax}`);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsMax) return;
    after = last.id;
  }
}
