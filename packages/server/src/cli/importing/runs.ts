/**
 * Imports as the database keeps them (migration 0044): a row for each, and one for each stretch of a file that is imported, which is
 * committed with its resources. The same files in the same mode continue an import that has not ended.
 */
import type { Platform } from '../../app.ts';
import { makeUuid } from '../../base/ids.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { StatementError } from '../../database/sqlstate.ts';
import { sumRanges } from '../../storage/import-runs.ts';
import type { EpochRow } from '../../storage/rows.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import type { DoneFileStretch } from './places.ts';
import { buildProblemOutcome, type ImportProblem } from './problem.ts';

/** An import that this process goes on with. */
export interface HeldRun {
  readonly id: string;
  readonly holder: string;
  readonly begunMs: number;
}

export interface RunFacts {
  /** SHA-256 of what is imported and how. */
  readonly fingerprint: Buffer;
  readonly files: number;
  readonly bytes: number;
}

/** Counts of a stretch. */
export interface RangeCounts {
  readonly stored: number;
  readonly skipped: number;
  readonly refused: number;
}

interface NotedRange extends RangeCounts {
  readonly problems: readonly ImportProblem[];
  readonly notes: Readonly<Record<string, number>>;
}

export interface DoneRange extends DoneFileStretch, RangeCounts {
  readonly file: number;
}

type Store = Pick<Platform, 'store' | 'clock'>;

/**
 * Begins the import, or takes over one of the same fingerprint that has not ended.
 * @param isAnew whether one that has not ended is forgotten; what it has stored stays
 */
export async function holdRun(
  { store, clock }: Store,
  scope: TenantScope,
  { fingerprint, files, bytes }: RunFacts,
  isAnew: boolean,
): Promise<HeldRun> {
  const { firm } = scope;
  const fresh = { id: makeUuid(), holder: makeUuid(), begunMs: clock.now() };
  const forget = sql`DELETE FROM import_run WHERE firm = ${firm} AND fingerprint = ${fingerprint} AND finished IS NULL`;
  const begin = sql`
    INSERT INTO import_run (firm, begun, files, bytes, id, holder, fingerprint)
    VALUES (${firm}, ${fresh.begunMs}, ${files}, ${bytes}, ${fresh.id}, ${fresh.holder}, ${fingerprint})
    ON CONFLICT (firm, fingerprint) WHERE finished IS NULL DO UPDATE SET holder = ${fresh.holder}
    RETURNING id::text, begun`;
  const [row] = await store.change<{ id: string; begun: number }>(scope, isAnew ? [forget, begin] : [begin]);
  return { ...fresh, id: row?.id ?? fresh.id, begunMs: row?.begun ?? fresh.begunMs };
}

/**
 * Notes a stretch: an expression for a statement of the transaction that stores it, whose value is how long that has taken, in ms. It
 * fails where another process has taken the import over, or somebody has cancelled it (`isTakenOver`).
 */
export function noteRange(
  { firm }: TenantScope,
  { id, holder }: HeldRun,
  { file, from, to, toLine }: DoneFileStretch & { readonly file: number },
  { stored, skipped, refused, problems, notes }: NotedRange,
): Sql {
  const outcomes = JSON.stringify(problems.map(buildProblemOutcome));
  return sql`praxis_note_import(in_firm => ${firm}, in_run => ${id}, in_holder => ${holder}, in_file => ${file},
    in_from_byte => ${from.byte}, in_from_entry => ${from.entry}, in_to_byte => ${to.byte}, in_to_entry => ${to.entry},
    in_to_line => ${toLine}, in_stored => ${stored}, in_skipped => ${skipped}, in_refused => ${refused}, in_problems => ${outcomes},
    in_notes => ${JSON.stringify(notes)})`;
}

/** Whether the error says that another process has taken the import over, or forgotten it, or that somebody has cancelled it. */
export function isTakenOver(error: unknown): boolean {
  return error instanceof StatementError && (error.sqlState === 'PX002' || error.table === 'import_range');
}

interface RangeRow extends EpochRow, RangeCounts {
  readonly file: number | null;
  readonly fromByte: number;
  readonly fromEntry: number;
  readonly toByte: number;
  readonly toEntry: number;
  readonly toLine: number;
}

/** What of the import is done. */
export async function listDoneRanges(
  { store }: Store,
  scope: TenantScope,
  { id }: HeldRun,
): Promise<readonly DoneRange[]> {
  const rows = await store.run<RangeRow>(
    scope,
    sql`
    SELECT e.epoch, r.file, r.from_byte AS "fromByte", r.from_entry AS "fromEntry", r.to_byte AS "toByte", r.to_entry AS "toEntry",
      r.to_line AS "toLine", r.stored, r.skipped, r.refused
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT file, from_byte, from_entry, to_byte, to_entry, to_line, stored, skipped, refused FROM import_range
      WHERE firm = ${scope.firm} AND run = ${id} OFFSET 0) r ON true
    WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}`,
  );
  return rows.flatMap(({ file, fromByte, fromEntry, toByte, toEntry, toLine, stored, skipped, refused }) =>
    file === null
      ? []
      : [
          {
            file,
            from: { byte: fromByte, entry: fromEntry },
            to: { byte: toByte, entry: toEntry },
            toLine,
            stored,
            skipped,
            refused,
          },
        ],
  );
}

/** What is told of an import at its end: the OperationOutcomes that are kept, in the order of the files, and notes with how often. */
export async function readToldOfRun({ store }: Store, scope: TenantScope, { id }: HeldRun) {
  const rows = await store.run<EpochRow & { problems: string | null; notes: string | null }>(
    scope,
    sql`
    SELECT e.epoch, r.problems, r.notes
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT problems, notes, file, from_byte, from_entry FROM import_range
      WHERE firm = ${scope.firm} AND run = ${id} AND (problems <> '[]' OR notes <> '{}')) r ON true
    WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}
    ORDER BY r.file, r.from_byte, r.from_entry`,
  );
  const notes = new Map<string, number>();
  for (const row of rows)
    for (const [words, times] of Object.entries<number>(JSON.parse(row.notes ?? '{}')))
      notes.set(words, (notes.get(words) ?? 0) + times);
  return { outcomes: rows.flatMap(({ problems }): unknown[] => JSON.parse(problems ?? '[]')), notes };
}

/** Ends the import, unless somebody else has: the same files begin another one. What it did is kept in three numbers. */
export async function finishRun({ store, clock }: Store, scope: TenantScope, { id, holder }: HeldRun): Promise<void> {
  const { firm } = scope;
  await store.change(scope, [
    sql`
      UPDATE import_run SET finished = ${clock.now()}, stored = done.stored, skipped = done.skipped, refused = done.refused
      FROM (${sumRanges(firm, id)}) done WHERE firm = ${firm} AND id = ${id} AND holder = ${holder} AND finished IS NULL`,
    sql`
      DELETE FROM import_range r USING import_run i
      WHERE r.firm = ${firm} AND r.run = ${id} AND i.firm = ${firm} AND i.id = r.run AND i.finished IS NOT NULL`,
  ]);
}
