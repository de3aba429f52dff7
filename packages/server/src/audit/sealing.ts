/**
 * The job that seals ledgers: rows become part of the chain once no transaction can add any before them, so no write waits
 * for a seal or for another write. Any number of processes may run it; of two that make the same seal one succeeds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { serviceLedger } from './audit-row.ts';
import { type HeadFiles, type KnownHead, openHeadFiles, resolveAuditHeadsDirectory } from './head-files.ts';
import type { Ledger } from './ledger.ts';
import { beginning, computeHead, noHead, openSealingKey, type SealingKey, unsealedMaxMs } from './seal.ts';
import {
  addSeal,
  type LastSeal,
  selectFirstRowAfter,
  selectLastSeal,
  selectRowsToSeal,
  type ToSeal,
} from './seal-statements.ts';

/** Rows of one seal at most. */
const sealRowsMax = 5_000;

/** How often the ledgers of all firms are looked at, also of those that other processes have written. */
const sweepMs = 60_000;

/** What is seen while sealing, and should not be there. */
export type SealFinding = 'end-missing' | 'row-unproven';

export interface SealOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly key: SealingKey;
  readonly heads: HeadFiles;
  /** Called for each finding, for metrics. */
  readonly onFinding?: (finding: SealFinding) => void;
}

export interface SealingOptions extends SealOptions {
  readonly ledger: Pick<Ledger, 'takeTouched' | 'touch'>;
  /** Pause between two rounds, in ms: how old a row is, at most, when it is sealed. */
  readonly pauseMs: number;
}

export type SealingState = 'more' | 'waiting' | 'done';

/** Time for the last seals of a process, and between two looks whether others' transactions have ended. */
const finishMaxMs = 1_000;
const finishPauseMs = 20;

/**
 * A job (jobs/jobs.ts). One portion is one seal for each ledger that has new rows.
 * `finish` seals at shutdown what the process has written, as far as other transactions let it.
 */
export function openSealingJob(options: SealingOptions) {
  const { ledger } = options;
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  /** Since when ledgers have had rows and got no seal, as far as this process knows; by performance.now(). */
  const waiting = new Map<number, number>();
  const noteWaiting = (firm: number, nowMs: number): void => {
    if (!waiting.has(firm)) waiting.set(firm, nowMs);
  };
  const sealTouched = async (firms: Iterable<number>, isSweep: boolean): Promise<SealingState> => {
    let state: SealingState = 'done';
    for (const firm of firms) {
      const beganMs = performance.now();
      const sealed = await sealNext(options, firm);
      // What came before is sealed, or the next portion does it.
      if (sealed !== 'waiting') waiting.delete(firm);
      if (sealed !== 'done') {
        noteWaiting(firm, beganMs);
        ledger.touch(firm);
      }
      if (sealed === 'waiting' && isSweep) await warnOfOld(options, firm);
      if (sealed === 'more' || state === 'done') state = sealed;
    }
    return state;
  };
  return {
    name: 'seals of the audit ledger',
    /** For how long the ledger that has waited longest has had rows and got no seal, in ms; 0: none waits. */
    lagMs: () => Math.max(0, ...[...waiting.values()].map((sinceMs) => performance.now() - sinceMs)),
    pauseMs: options.pauseMs,
    async run(): Promise<SealingState> {
      const touched = ledger.takeTouched();
      const isSweep = performance.now() - sweptAtMs >= sweepMs;
      if (touched.length === 0 && !isSweep) return 'done';
      for (const firm of touched) noteWaiting(firm, performance.now());
      const firms = await listLedgers(options.database, isSweep ? undefined : touched);
      // Those of firms that are gone are sealed no more.
      for (const firm of isSweep ? waiting.keys() : touched) if (!firms.includes(firm)) waiting.delete(firm);
      if (isSweep) sweptAtMs = performance.now();
      return await sealTouched(firms, isSweep);
    },
    async finish(): Promise<void> {
      const endMs = performance.now() + finishMaxMs;
      try {
        for (let state: SealingState = 'more'; state !== 'done' && performance.now() < endMs; ) {
          state = await sealTouched(await listLedgers(options.database, ledger.takeTouched()), false);
          if (state === 'waiting') await delay(finishPauseMs);
        }
      } catch (error) {
        const problem = 'the last rows of the audit ledger were not sealed: another process will do so';
        options.log.error({ err: error }, problem);
      }
    },
  };
}

/** What of the platform the seals need. */
export interface SealingPlatform extends Pick<SealOptions, 'database' | 'clock' | 'log'> {
  readonly config: Pick<Config, 'dataDir' | 'auditSealMs'>;
  readonly secrets: Secrets;
}

/** The job as the settings have it; undefined: this process seals nothing. */
export function openSealing(
  { config, secrets, database, clock, log }: SealingPlatform,
  ledger: SealingOptions['ledger'],
  { auditFindings }: Pick<Metrics, 'auditFindings'>,
) {
  if (config.auditSealMs === 0) return undefined;
  for (const finding of ['end-missing', 'row-unproven'] as const) auditFindings.inc({ finding }, 0);
  return openSealingJob({
    database,
    clock,
    log,
    key: openSealingKey(secrets),
    heads: openHeadFiles(resolveAuditHeadsDirectory(config)),
    ledger,
    onFinding: (finding) => auditFindings.inc({ finding }),
    pauseMs: config.auditSealMs,
  });
}

/** Says in the log that a transaction that does not end holds up the seals of a ledger. */
async function warnOfOld({ database, clock, log }: SealingOptions, firm: number): Promise<void> {
  const ledger = database.forFirm(firm);
  const [last] = await ledger.query<LastSeal>(selectLastSeal(firm));
  const [row] = await ledger.query<{ at: number }>(selectFirstRowAfter(firm, last ?? beginning));
  if (row !== undefined && clock.now() - row.at > unsealedMaxMs)
    log.error({ firm, sinceMs: row.at }, 'rows of the audit ledger cannot be sealed: a transaction does not end');
}

/**
 * Ledgers to seal, of all firms or of these. Not those of firms that are being erased: their end is noted before their rows go, and it
 * is no fault then that the end is missing (offboarding/erase-firm.ts).
 */
async function listLedgers(database: Database, touched: readonly number[] | undefined): Promise<number[]> {
  const among = touched === undefined ? sql.empty : sql`AND id = ANY (${touched}::int[])`;
  const firms = await database.query<{ id: number }>(
    sql`SELECT id FROM firm WHERE state IN ('active', 'suspended') ${among} ORDER BY id`,
  );
  const isServiceToo = touched === undefined || touched.includes(serviceLedger);
  return [...(isServiceToo ? [serviceLedger] : []), ...firms.map(({ id }) => id)];
}

/** Seals the next rows of a ledger. `waiting`: there are rows that older transactions may still come before. */
export async function sealNext(options: SealOptions, firm: number): Promise<SealingState> {
  const { database, clock, key, heads, log, onFinding } = options;
  const ledger = database.forFirm(firm);
  // Before the database is read: meanwhile another process may add a seal and note it.
  const known = heads.read(firm);
  const [last] = await ledger.query<LastSeal>(selectLastSeal(firm));
  const gone = known !== undefined && isGone(known, last) ? known : undefined;
  if (gone !== undefined) {
    log.error({ firm, seal: gone.number }, 'the end of an audit ledger is missing: praxis audit verify tells more');
    onFinding?.('end-missing');
  }
  const after = last ?? beginning;
  const [next] = await ledger.query<ToSeal>(selectRowsToSeal(firm, after, sealRowsMax));
  if (next === undefined || next.marks === null) {
    if (last !== undefined && (gone !== undefined || last.number !== known?.number))
      await heads.note(firm, knownOf(last), gone);
    const [waiting] = await ledger.query(selectFirstRowAfter(firm, after));
    return waiting === undefined ? 'done' : 'waiting';
  }
  const { epoch, xid, seq, rows, unproven, marks } = next;
  if (unproven.length > 0) {
    log.error({ firm, rows: unproven }, 'rows without a proof are in an audit ledger: praxis audit verify tells more');
    onFinding?.('row-unproven');
  }
  const facts = { number: (last?.number ?? 0) + 1, atMs: clock.now(), place: { epoch, xid, seq }, rows, marks };
  const head = computeHead(firm, last?.head ?? noHead, facts);
  const seal = { ...facts, head, signature: key.sign(head) };
  const [added] = await ledger.query(addSeal(firm, seal));
  if (added !== undefined) await heads.note(firm, knownOf(seal), gone);
  return 'more';
}

/** Whether a seal that was there is not any more, or another one is in its place. */
function isGone(known: KnownHead, last: LastSeal | undefined): boolean {
  if (last === undefined || last.number < known.number) return true;
  return last.number === known.number && last.head.toString('hex') !== known.head;
}

function knownOf({ number, head }: Pick<LastSeal, 'number' | 'head'>): KnownHead {
  return { number, head: head.toString('hex') };
}
