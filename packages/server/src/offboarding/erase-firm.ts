/**
 * Removing all of a firm whose erasure is confirmed, slice by slice: each is a short transaction that removes rows and counts them, so
 * it may be cut off anywhere, and any process goes on. The owner role does it, since the server's own can remove neither versions nor
 * rows of the ledger.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { listArchives } from '../audit/archive-record.ts';
import { openHeadFiles, resolveAuditHeadsDirectory } from '../audit/head-files.ts';
import { openSealingKey } from '../audit/seal.ts';
import { sealNext } from '../audit/sealing.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { makeUuid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Content } from '../content/content.ts';
import type { Database, Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { Progress } from '../jobs/jobs.ts';
import { getTypeName } from '../storage/rows.ts';
import { buildProof, type LastSealed, signProof } from './erasure-proof.ts';
import { type Erasure, getErasure } from './erasures.ts';
import { erasedTables } from './firm-tables.ts';

export interface EraseContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly content: Pick<Content, 'store'>;
  readonly config: Pick<Config, 'dataDir'>;
  readonly asOwner: <T>(work: (owner: Database) => Promise<T>) => Promise<T>;
}

/** Rows that one slice removes: more while it is quick, fewer where they are large. */
const rowsOfSlice = { first: 500, min: 20, max: 5_000 } as const;
const sliceMs = { quick: 100, slow: 300 } as const;

/** Objects of the content store that one slice removes, at most. */
const objectsOfSlice = 100;

/** How long one portion works, in ms, before other jobs have their turn. */
const portionMs = 1_000;

/** An upload that was under way may still store its object for so long after it was announced. */
const uploadMs = 60 * 60 * 1000;

/** Rows of requests that were under way are looked for often for so long after a firm was erased. */
const lateMs = 24 * 60 * 60 * 1000;

interface Running {
  readonly id: number;
  readonly firm: number;
  /** No transaction runs any more that may not know of the confirmation. */
  readonly passed: boolean;
  readonly noted: boolean;
}

/** How far this process has come: behind it lie removed rows, which take time to pass. It is no more than that. */
interface Place {
  /** Of `erasedTables`. */
  table: number;
  /** Key of the last row that was removed. */
  after: readonly string[] | undefined;
  /** Id of the last content whose object was removed. */
  content: string;
  /** Of the next slice. */
  rows: number;
}

export interface Eraser {
  /**
   * Does a portion of the work of each erasure.
   * @returns `waiting`: older transactions have to end first; `done`: nothing is left for now
   */
  eraseConfirmed(): Promise<Progress>;
  /** Removes what came late of firms that were erased: within the last day, or of all. */
  eraseLate(which: 'recent' | 'all'): Promise<void>;
}

export function openEraser(context: EraseContext): Eraser {
  const places = new Map<number, Place>();
  return {
    async eraseConfirmed() {
      let state: Progress = 'done';
      const faults: unknown[] = [];
      for (const running of await listRunning(context, sql`state = 'confirmed'`)) {
        const place = places.get(running.id) ?? { table: 0, after: undefined, content: '', rows: rowsOfSlice.first };
        places.set(running.id, place);
        try {
          const progress = await erasePortion(context, running, place);
          if (progress === 'more' || state === 'done') state = progress;
        } catch (error) {
          // A slice may have taken longer than a statement may: the next one is smaller.
          place.rows = Math.max(1, Math.floor(place.rows / 2));
          faults.push(error); // the others have their turn
        }
      }
      if (faults.length > 0) throw faults[0];
      return state;
    },
    async eraseLate(which) {
      const recent = which === 'all' ? sql.empty : sql`AND finished_at > ${context.clock.now() - lateMs}::bigint`;
      for (const running of await listRunning(context, sql`state = 'erased' ${recent}`)) {
        const { firm } = running;
        if ((await listTablesLeft(context.database.forFirm(firm), firm)).length > 0) await removeLate(context, running);
      }
    },
  };
}

async function removeLate(context: EraseContext, running: Running): Promise<void> {
  const { firm } = running;
  await context.asOwner(async (owner) => {
    const place = { content: '' };
    while ((await removeObjects(context, owner, running, place)) > 0);
    const keys = await readKeys(owner);
    for (const { name } of erasedTables) {
      let after: readonly string[] | undefined;
      const from = { after: undefined, rows: rowsOfSlice.max };
      do after = (await owner.transaction(undefined, (tx) => removeRows(tx, keys, name, firm, from))).last;
      while (after !== undefined);
    }
  });
}

async function listRunning({ database }: EraseContext, condition: Sql): Promise<readonly Running[]> {
  return await database.query<Running>(sql`
    SELECT id, firm, ledger IS NOT NULL AS noted, COALESCE(
      order_epoch <> (SELECT o.epoch FROM order_epoch o) OR confirmed_xid < pg_snapshot_xmin(pg_current_snapshot()), false) AS passed
    FROM firm_erasure WHERE ${condition} ORDER BY confirmed_at, id`);
}

async function erasePortion(context: EraseContext, running: Running, place: Place): Promise<Progress> {
  if (!running.passed) return 'waiting';
  return await context.asOwner(async (owner) => {
    if (!running.noted && !(await noteLedger(context, owner, running))) return 'waiting';
    const keys = await readKeys(owner);
    const endMs = performance.now() + portionMs;
    while (performance.now() < endMs) {
      const beganMs = performance.now();
      const progress = await eraseSlice(context, owner, keys, running, place);
      if (progress !== 'more') return progress;
      const tookMs = performance.now() - beganMs;
      if (tookMs < sliceMs.quick) place.rows = Math.min(rowsOfSlice.max, place.rows * 2);
      if (tookMs > sliceMs.slow) place.rows = Math.max(rowsOfSlice.min, Math.floor(place.rows / 2));
      // Others have the database for as long as the slice had it.
      await delay(tookMs);
    }
    return 'more';
  });
}

/** Seals what is not sealed yet, and notes the end of the chain. Whether there was nothing to wait for. */
async function noteLedger(context: EraseContext, owner: Database, { id, firm }: Running): Promise<boolean> {
  const { secrets, config } = context;
  const heads = openHeadFiles(resolveAuditHeadsDirectory(config));
  const sealing = { ...context, key: openSealingKey(secrets), heads };
  for (let state: Progress = 'more'; state !== 'done'; ) {
    state = await sealNext(sealing, firm);
    if (state === 'waiting') return false;
  }
  const archives = await listArchives(owner, firm);
  const [end] = await owner.query<{ seal: number; head: Buffer; rows: number }>(sql`
    SELECT number AS seal, head, (SELECT sum(rows)::bigint FROM audit_seal WHERE firm = ${firm}) AS rows
    FROM audit_seal WHERE firm = ${firm} ORDER BY number DESC LIMIT 1`);
  const ledger: LastSealed = {
    seal: end?.seal ?? 0,
    head: end?.head.toString('hex') ?? '',
    rows: Number(end?.rows ?? 0),
    archives: archives.map(({ file, digest }) => ({ file, sha256: digest.toString('hex') })),
  };
  await owner.query(sql`UPDATE firm_erasure SET ledger = ${sql.json(ledger)} WHERE id = ${id} AND ledger IS NULL`);
  return true;
}

/** @returns `done`: all is removed, or what is left has to wait for time to pass */
async function eraseSlice(
  context: EraseContext,
  owner: Database,
  keys: TableKeys,
  running: Running,
  place: Place,
): Promise<Progress> {
  if ((await removeObjects(context, owner, running, place)) > 0) return 'more';
  return await owner.transaction(undefined, async (tx) => {
    // Of several processes one works at a time.
    const [row] = await tx.query<{ state: string; mine: boolean }>(sql`
      WITH mine AS (SELECT id FROM firm_erasure WHERE id = ${running.id} AND state = 'confirmed' FOR UPDATE SKIP LOCKED)
      SELECT state, EXISTS (SELECT FROM mine) AS mine FROM firm_erasure WHERE id = ${running.id}`);
    if (row?.mine !== true) return row?.state === 'confirmed' ? 'waiting' : 'done';
    const table = erasedTables[place.table];
    if (table !== undefined) {
      const { counts, last } = await removeRows(tx, keys, table.name, running.firm, place);
      if (Object.keys(counts).length > 0) await tx.query(addCounts(running.id, counts));
      if (last === undefined) {
        place.table += 1;
        place.rows = rowsOfSlice.first; // rows of the next one have another size
      }
      place.after = last;
      return 'more';
    }
    // Should the transaction fail, or rows be left.
    place.table = 0;
    place.content = '';
    const left = await listTablesLeft(tx, running.firm);
    if (left.length > 0) return left.every((name) => name === 'content_discard') ? 'done' : 'more';
    await finish(context, tx, running);
    return 'done';
  });
}

/**
 * Removes objects of the content store, and then the rows that name them: what is cut off between the two is done again.
 * An object of an upload that may still be under way is left until it can be no longer.
 */
async function removeObjects(
  { content, clock }: EraseContext,
  owner: Database,
  { id, firm }: Running,
  place: Pick<Place, 'content'>,
): Promise<number> {
  const contents = await owner.query<{ id: string; name: string }>(sql`
    SELECT id, object_key AS name FROM document_content
    WHERE firm = ${firm} AND id > ${place.content} AND object_key IS NOT NULL ORDER BY id LIMIT ${objectsOfSlice}`);
  const loose = await owner.query<{ name: string }>(sql`
    SELECT object_key AS name FROM content_discard
    WHERE firm = ${firm} AND since < ${clock.now() - uploadMs}::bigint ORDER BY object_key LIMIT ${objectsOfSlice}`);
  for (const { name } of [...contents, ...loose]) await content.store.remove(name);
  if (contents.length + loose.length === 0) return 0;
  const ids = contents.map((each) => each.id);
  const names = loose.map(({ name }) => name);
  await owner.transaction(undefined, async (tx) => {
    const held = await tx.query(
      sql`DELETE FROM document_content WHERE firm = ${firm} AND id = ANY (${ids}::text[]) RETURNING 1 AS gone`,
    );
    const discarded = await tx.query(
      sql`DELETE FROM content_discard WHERE firm = ${firm} AND object_key = ANY (${names}::text[]) RETURNING 1 AS gone`,
    );
    const objects = held.length + discarded.length;
    await tx.query(
      addCounts(id, { document_content: held.length, content_discard: discarded.length, '/objects': objects }),
    );
  });
  place.content = ids.at(-1) ?? place.content;
  return contents.length + loose.length;
}

/** Tables whose rows are counted by type as well. */
const typedTables: Readonly<Record<string, Sql>> = {
  // A row without content is that of a deleted resource.
  resource: sql`content IS NOT NULL`,
  resource_version: sql`true`,
};

/** By table: the columns behind the firm in its primary key; none where that begins with another column. */
type TableKeys = ReadonlyMap<string, readonly string[]>;

async function readKeys(owner: Queryable): Promise<TableKeys> {
  const rows = await owner.query<{ name: string; columns: readonly string[] }>(sql`
    SELECT i.indrelid::regclass::text AS name, array_agg(a.attname::text ORDER BY k.place) AS columns
    FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(column_number, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.column_number
    WHERE i.indisprimary AND i.indrelid = ANY (${erasedTables.map(({ name }) => name)}::text[]::regclass[]) GROUP BY i.indrelid`);
  return new Map(rows.map(({ name, columns: [first, ...others] }) => [name, first === 'firm' ? others : []] as const));
}

interface Removed {
  /** Rows by table, and by type where they have one. */
  readonly counts: Readonly<Record<string, number>>;
  /** Key of the last row; undefined: none is behind it. */
  readonly last: readonly string[] | undefined;
}

/**
 * Removes the next rows of a firm in the order of their keys. Only by an index, whatever the planner believes about sizes: a slice
 * must not read the rows of all firms.
 */
async function removeRows(
  tx: Queryable,
  keys: TableKeys,
  table: string,
  firm: number,
  { after, rows: limit }: Pick<Place, 'after' | 'rows'>,
): Promise<Removed> {
  // Rows of objects go with the objects.
  if (table === 'content_discard') return { counts: {}, last: undefined };
  if (table === 'administrator') await removeSessions(tx, firm);
  await tx.query(sql`SELECT set_config('enable_seqscan', 'off', true)`);
  const name = sql.identifier(table);
  const key = (keys.get(table) ?? []).map((column) => sql.identifier(column));
  const behind =
    key.length === 0 || after === undefined ? sql.empty : sql`AND (${sql.join(key)}) > (${bindAll(after)})`;
  // Never before its object.
  const only = table === 'document_content' ? sql`AND object_key IS NULL` : sql.empty;
  const inOrder = key.length === 0 ? sql.empty : sql`ORDER BY ${sql.join(key)}`;
  const texts =
    key.length === 0 ? sql`'{}'::text[]` : sql`ARRAY[${sql.join(key.map((column) => sql`${column}::text`))}]`;
  const counted = typedTables[table];
  const shown =
    counted === undefined ? sql`NULL::smallint AS rtype, true AS counted` : sql`rtype, ${counted} AS counted`;
  const rows = await tx.query<{ rtype: number | null; rows: number; counted: number; last: readonly string[] }>(sql`
    WITH next AS MATERIALIZED (
      SELECT ctid AS place, ${texts} AS key, row_number() OVER () AS nth FROM (
        SELECT ctid, ${key.length === 0 ? sql`firm` : sql.join(key)} FROM ${name} WHERE firm = ${firm} ${behind} ${only} ${inOrder} LIMIT ${limit}) page),
    gone AS (DELETE FROM ${name} WHERE ctid = ANY (ARRAY(SELECT place FROM next)) RETURNING ${shown})
    SELECT rtype, count(*)::int AS rows, count(*) FILTER (WHERE counted)::int AS counted,
      (SELECT key FROM next ORDER BY nth DESC LIMIT 1) AS last
    FROM gone GROUP BY rtype`);
  const all = rows.reduce((sum, each) => sum + each.rows, 0);
  const byType = rows.flatMap(({ rtype, counted: count }) =>
    rtype === null ? [] : [[`${table}/${getTypeName(rtype)}`, count] as const],
  );
  return {
    counts: all === 0 ? {} : { [table]: all, ...Object.fromEntries(byType) },
    last: all < limit ? undefined : rows[0]?.last,
  };
}

function bindAll(values: readonly string[]): Sql {
  return sql.join(values.map((value) => sql`${value}`));
}

async function removeSessions(tx: Queryable, firm: number): Promise<void> {
  const theirs = sql`WHERE administrator IN (SELECT id FROM administrator WHERE firm = ${firm})`;
  await tx.query(sql`DELETE FROM admin_session ${theirs}`);
  await tx.query(sql`DELETE FROM admin_address ${theirs}`);
}

function addCounts(id: number, counts: Readonly<Record<string, number>>): Sql {
  return sql`
    UPDATE firm_erasure SET erased = erased || (
      SELECT jsonb_object_agg(n.key, COALESCE((erased ->> n.key)::bigint, 0) + n.value::bigint) FROM jsonb_each_text(${sql.json(counts)}::jsonb) n)
    WHERE id = ${id} AND state = 'confirmed'`;
}

/** Names of tables that still have rows of the firm. @param query sees the rows of the firm */
export async function listTablesLeft(query: Queryable, firm: number): Promise<readonly string[]> {
  const left = erasedTables.map(
    ({ name }) =>
      sql`SELECT ${name}::text AS name WHERE EXISTS (SELECT FROM ${sql.identifier(name)} WHERE firm = ${firm})`,
  );
  const rows = await query.query<{ name: string }>(sql.join(left, sql` UNION ALL `));
  return rows.map(({ name }) => name);
}

/** The firm is gone: its number stays taken, its prefix is free. */
async function finish({ clock, secrets }: EraseContext, tx: Queryable, { id, firm }: Running): Promise<void> {
  const erasure = await getErasure({ database: tx, clock }, id);
  const [row] = await tx.query<{ ledger: LastSealed }>(sql`SELECT ledger FROM firm_erasure WHERE id = ${id}`);
  if (row === undefined) throw new TypeError('there is no such erasure');
  const finishedAtMs = clock.now();
  const { tables, types, contents } = splitCounts(erasure.erased);
  const proof = buildProof({ ...erasure, erased: tables }, { ledger: row.ledger, types, contents, finishedAtMs });
  const signature = signProof(openSealingKey(secrets), proof);
  await tx.query(sql`
    UPDATE firm SET state = 'erased', prefix = ${`erased-${makeUuid()}`}, name = 'Erased', time_zone = 'UTC' WHERE id = ${firm}`);
  await tx.query(sql`
    UPDATE firm_erasure SET state = 'erased', finished_at = ${finishedAtMs}, erased = ${sql.json(tables)}, proof = ${proof}, signature = ${signature}
    WHERE id = ${id}`);
}

function splitCounts(erased: Erasure['erased']) {
  const tables: Record<string, number> = {};
  const types: Record<string, { resources: number; versions: number }> = {};
  let contents = 0;
  for (const [key, count] of Object.entries(erased)) {
    const [table = '', type] = key.split('/');
    if (table === '') contents = count;
    else if (type === undefined) tables[table] = count;
    else {
      types[type] ??= { resources: 0, versions: 0 };
      types[type][table === 'resource' ? 'resources' : 'versions'] = count;
    }
  }
  return { tables, types, contents };
}
