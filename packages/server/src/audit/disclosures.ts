/**
 * Which application saw which data of a patient, and when: the rows of a ledger that concern the patient and showed
 * something. Rows of archives are not among them: which archives there are is asked apart, so that nobody takes a part for all.
 */
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { type ArchiveRecord, listArchives } from './archive-record.ts';
import { namesPatient, selectPatientPlaces } from './patient-places.ts';

export interface Disclosure {
  readonly atMs: number;
  /** Name of the application as it is now. */
  readonly application: string;
  readonly subject: string | null;
  readonly interaction: string;
  /** Number of the resource type that was asked for (search/numbers.ts); null: of several. */
  readonly typeNumber: number | null;
  readonly id: string | null;
  readonly shown: number;
  /** `all`, or names separated by spaces. */
  readonly elements: string;
  readonly entries: string | null;
  readonly requestId: string | null;
}

export interface DisclosureQuestion {
  readonly firm: number;
  readonly patient: string;
  /** In milliseconds since 1970; from included, to not. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Rows read at once. */
const pageRows = 1_000;

/** The disclosures, oldest first. */
export async function* streamDisclosures(database: Database, question: DisclosureQuestion): AsyncGenerator<Disclosure> {
  const { firm, patient, fromMs, toMs } = question;
  for (let after = { at: fromMs, seq: 0 }; ; ) {
    const rows = await database.forFirm(firm).query<Disclosure & { readonly seq: number }>(sql`
      SELECT p.seq, p.at AS "atMs", COALESCE(n.name, a.application::text) AS application, a.subject, a.interaction,
        a.rtype AS "typeNumber", a.id, a.shown, COALESCE(l.elements, a.elements) AS elements, a.entries,
        a.request_id AS "requestId"
      FROM (${selectPatientPlaces(firm, patient)}) p
      JOIN audit_ledger a ON a.firm = ${firm} AND a.at = p.at AND a.seq = p.seq
      LEFT JOIN audit_elements l ON l.firm = ${firm} AND l.fingerprint = a.elements
      LEFT JOIN application n ON n.id = a.application
      WHERE ${namesPatient(patient)} AND (p.at, p.seq) > (${after.at}::bigint, ${after.seq}::bigint) AND p.at < ${toMs}
        AND a.shown > 0
      ORDER BY p.at, p.seq LIMIT ${pageRows}`);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = { at: last.atMs, seq: last.seq };
  }
}

/** Archives that have rows of the period, of whichever patients, oldest first. */
export async function listDisclosureArchives(
  database: Database,
  { firm, fromMs, toMs }: DisclosureQuestion,
): Promise<readonly ArchiveRecord[]> {
  const archives = await listArchives(database.forFirm(firm), firm);
  return archives.filter((archive) => archive.untilMs >= fromMs && archive.fromMs < toMs);
}
