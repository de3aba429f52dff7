/** Writing an archive of the audit ledger, a page of rows at a time. What is written is checked afterwards (check-archive.ts). */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Platform } from '../../app.ts';
import type { ElementList } from '../../audit/ledger-statements.ts';
import { type LedgerRow, openSealingKey, type Seal, type SealEnd } from '../../audit/seal.ts';
import {
  readSeal,
  type SealRow,
  selectNamedLists,
  selectRowsBetween,
  selectSealsAfter,
} from '../../audit/seal-statements.ts';
import { toInstant } from '../../base/clock.ts';
import type { FirmConnection } from '../../database/database.ts';
import { version } from '../../version.ts';
import { type ArchiveHeader, archiveFormatVersion, formatRowLine, formatSealLine } from './archive-format.ts';

/** A ledger that can be archived. */
export interface NamedLedger {
  readonly id: number;
  /** Null: the ledger of the service. */
  readonly environment: string | null;
  readonly firm: string | null;
}

export interface ArchiveRange {
  readonly ledger: NamedLedger;
  /** What the first seal follows. */
  readonly before: SealEnd;
  readonly lastSeal: number;
}

const rowsOfArchivePage = 5_000;
const sealsOfArchivePage = 20;
const listsOfArchivePage = 500;

/** Writes the seals of the range with their rows to a new file, which its owner alone can read, and which is on the disk then. */
export async function writeArchive(
  platform: Platform,
  file: string,
  range: ArchiveRange,
  onRows: (rows: number) => void,
): Promise<void> {
  const lines = Readable.from(archiveLines(platform, range, onRows));
  await pipeline(lines, createGzip(), createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
}

async function* archiveLines(
  { database, secrets, clock }: Platform,
  { ledger, before, lastSeal }: ArchiveRange,
  onRows: (rows: number) => void,
): AsyncGenerator<string> {
  const header: ArchiveHeader = {
    praxisAuditArchive: archiveFormatVersion,
    createdAt: toInstant(clock.now()),
    software: version,
    publicKey: openSealingKey(secrets).publicKey,
    environment: ledger.environment,
    firm: ledger.firm,
    ledger: ledger.id,
    firstSeal: before.number + 1,
    lastSeal,
    follows: before.head.toString('hex'),
  };
  yield `${JSON.stringify(header)}\n`;
  const as = database.forFirm(ledger.id);
  const named = new Set<string>();
  let seals = 0;
  let rows = 0;
  let last = before;
  for await (const seal of sealsOf(as, ledger.id, before, lastSeal)) {
    yield formatSealLine(seal);
    seals += 1;
    for await (const page of rowPages(as, ledger.id, last, seal)) {
      for (const { elements } of page) if (elements !== null && elements !== 'all') named.add(elements);
      yield page.map(formatRowLine).join('');
      rows += page.length;
      onRows(rows);
    }
    last = seal;
  }
  const lists = [...named].toSorted();
  for (let from = 0; from < lists.length; from += listsOfArchivePage) {
    const found = await as.query<ElementList>(
      selectNamedLists(ledger.id, lists.slice(from, from + listsOfArchivePage)),
    );
    yield found.map((list) => `${JSON.stringify({ list })}\n`).join('');
  }
  yield `${JSON.stringify({ end: { seals, rows, lists: lists.length } })}\n`;
}

async function* sealsOf(as: FirmConnection, firm: number, before: SealEnd, lastSeal: number): AsyncGenerator<Seal> {
  for (let after = before.number; after < lastSeal; ) {
    const page = await as.query<SealRow>(selectSealsAfter(firm, after, sealsOfArchivePage));
    const seals = page.map(readSeal).filter(({ number }) => number <= lastSeal);
    yield* seals;
    const last = seals.at(-1);
    if (last === undefined) return;
    after = last.number;
  }
}

async function* rowPages(
  as: FirmConnection,
  firm: number,
  from: SealEnd,
  seal: Seal,
): AsyncGenerator<readonly LedgerRow[]> {
  for (let after = from.place; ; ) {
    const page = await as.query<LedgerRow>(selectRowsBetween(firm, after, seal.place, rowsOfArchivePage));
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < rowsOfArchivePage) return;
    after = last;
  }
}
