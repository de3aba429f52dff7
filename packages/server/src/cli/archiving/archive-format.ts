/**
 * The file of an archive of the audit ledger: gzip (https://www.rfc-editor.org/rfc/rfc1952) of lines of JSON, so that it can be read
 * without this program.
 *
 *     {"praxisAuditArchive":1,"createdAt":…,"software":…,"publicKey":…,"environment":…,"firm":…,"ledger":…,"firstSeal":…,"lastSeal":…,"follows":…}
 *     {"seal":{"number":1,"at":…,"epoch":…,"xid":…,"seq":…,"rows":2,"marks":…,"head":…,"signature":…}}
 *     {"seq":…,"at":…,"interaction":…,"proof":…}   each row that the seal covers, in the order of commits, as audit_ledger shows it
 *     …
 *     {"list":{"fingerprint":…,"elements":…}}      each list of elements that rows name
 *     {"end":{"seals":…,"rows":…,"lists":…}}
 *
 * Columns that are NULL are left out. The SHA-256 of the file is in the record that the ledger keeps (audit/archive-record.ts).
 */
import type { ElementList } from '../../audit/ledger-statements.ts';
import type { LedgerRow, Seal } from '../../audit/seal.ts';

export const archiveFormatVersion = 1;

export interface ArchiveHeader {
  readonly praxisAuditArchive: typeof archiveFormatVersion;
  /** An instant. */
  readonly createdAt: string;
  /** Version of the program that made it. */
  readonly software: string;
  /** Of the key that signs the seals; PEM. */
  readonly publicKey: string;
  /** Null: it is the ledger of the service. */
  readonly environment: string | null;
  readonly firm: string | null;
  /** Number of the firm, which heads and proofs are over. */
  readonly ledger: number;
  readonly firstSeal: number;
  readonly lastSeal: number;
  /** Head of the seal before the first, in hexadecimal. */
  readonly follows: string;
}

/** How much of each is in the file. */
export interface ArchiveCounts {
  readonly seals: number;
  readonly rows: number;
  readonly lists: number;
}

export type ArchiveLine =
  | { readonly kind: 'seal'; readonly seal: Seal }
  | { readonly kind: 'row'; readonly row: LedgerRow }
  | { readonly kind: 'list'; readonly list: ElementList }
  | { readonly kind: 'end'; readonly counts: ArchiveCounts };

export function formatSealLine({ number, atMs, place, rows, marks, head, signature }: Seal): string {
  const bytes = {
    marks: marks.toString('base64'),
    head: head.toString('hex'),
    signature: Buffer.from(signature).toString('base64'),
  };
  return `${JSON.stringify({ seal: { number, at: atMs, ...place, rows, ...bytes } })}\n`;
}

export function formatRowLine({ proof, ...columns }: LedgerRow): string {
  const given = Object.entries({ ...columns, proof: proof?.toString('hex') ?? null });
  return `${JSON.stringify(Object.fromEntries(given.filter(([, value]) => value !== null)))}\n`;
}

type Members = Readonly<Record<string, unknown>>;

/** The line; undefined: it is none of an archive. */
export function parseArchiveLine(value: unknown): ArchiveLine | undefined {
  if (!isMembers(value)) return undefined;
  const { seal, list, end } = value;
  try {
    if (isMembers(seal)) return { kind: 'seal', seal: readSealMembers(seal) };
    if (isMembers(list))
      return { kind: 'list', list: { fingerprint: text(list, 'fingerprint'), elements: text(list, 'elements') } };
    if (isMembers(end))
      return {
        kind: 'end',
        counts: { seals: number(end, 'seals'), rows: number(end, 'rows'), lists: number(end, 'lists') },
      };
    return { kind: 'row', row: readRowMembers(value) };
  } catch (error) {
    if (error instanceof NotOfForm) return undefined;
    throw error;
  }
}

/** The header; undefined: it is none of an archive that this program reads. */
export function parseArchiveHeader(value: unknown): ArchiveHeader | undefined {
  if (!isMembers(value) || value['praxisAuditArchive'] !== archiveFormatVersion) return undefined;
  try {
    return {
      praxisAuditArchive: archiveFormatVersion,
      createdAt: text(value, 'createdAt'),
      software: text(value, 'software'),
      publicKey: text(value, 'publicKey'),
      environment: textOrNull(value, 'environment'),
      firm: textOrNull(value, 'firm'),
      ledger: number(value, 'ledger'),
      firstSeal: number(value, 'firstSeal'),
      lastSeal: number(value, 'lastSeal'),
      follows: text(value, 'follows'),
    };
  } catch (error) {
    if (error instanceof NotOfForm) return undefined;
    throw error;
  }
}

class NotOfForm extends Error {}

function readSealMembers(from: Members): Seal {
  return {
    number: number(from, 'number'),
    atMs: number(from, 'at'),
    place: { epoch: number(from, 'epoch'), xid: text(from, 'xid'), seq: number(from, 'seq') },
    rows: number(from, 'rows'),
    marks: Buffer.from(text(from, 'marks'), 'base64'),
    head: Buffer.from(text(from, 'head'), 'hex'),
    signature: Buffer.from(text(from, 'signature'), 'base64'),
  };
}

function readRowMembers(from: Members): LedgerRow {
  const proof = textOrNull(from, 'proof');
  return {
    epoch: number(from, 'epoch'),
    xid: text(from, 'xid'),
    seq: number(from, 'seq'),
    proof: proof === null ? null : Buffer.from(proof, 'hex'),
    at: time(from, 'at'),
    application: number(from, 'application'),
    vid: numberOrNull(from, 'vid'),
    shown: numberOrNull(from, 'shown'),
    times: numberOrNull(from, 'times'),
    rtype: numberOrNull(from, 'rtype'),
    outcome: number(from, 'outcome'),
    interaction: text(from, 'interaction'),
    id: textOrNull(from, 'id'),
    subject: textOrNull(from, 'subject'),
    token_id: textOrNull(from, 'token_id'),
    request_id: textOrNull(from, 'request_id'),
    flow: textOrNull(from, 'flow'),
    elements: textOrNull(from, 'elements'),
    entries: textOrNull(from, 'entries'),
    reason: textOrNull(from, 'reason'),
    patients: textOrNull(from, 'patients'),
  };
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOrNull(from: Members, name: string): string | null {
  const value = from[name] ?? null;
  if (value !== null && typeof value !== 'string') throw new NotOfForm(name);
  return value;
}

function text(from: Members, name: string): string {
  const value = textOrNull(from, name);
  if (value === null) throw new NotOfForm(name);
  return value;
}

function numberOrNull(from: Members, name: string): number | null {
  const value = from[name] ?? null;
  if (value !== null && (typeof value !== 'number' || !Number.isSafeInteger(value))) throw new NotOfForm(name);
  return value;
}

function number(from: Members, name: string): number {
  const value = numberOrNull(from, name);
  if (value === null) throw new NotOfForm(name);
  return value;
}

/** Latest moment of a Date (https://tc39.es/ecma262/#sec-time-values-and-time-range). */
const lastMs = 8_640_000_000_000_000;

function time(from: Members, name: string): number {
  const value = number(from, name);
  if (value < 0 || value > lastMs) throw new NotOfForm(name);
  return value;
}
