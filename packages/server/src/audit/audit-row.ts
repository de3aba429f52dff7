/**
 * Rows of the audit ledger: who did what at whose request, or was refused, about which patients, and by which access
 * entries. They become AuditEvents (https://hl7.org/fhir/R4/auditevent.html) when they are read. No content, and no query
 * values beyond ids.
 */

/** Interactions that write, by their R4 codes (https://hl7.org/fhir/R4/valueset-type-restful-interaction.html). */
export type WriteInteraction = 'create' | 'update' | 'patch' | 'delete';

/** The row of a write. Storage writes it in the transaction of the change; firm, application and resource are its own. */
export interface AuditRow {
  readonly atMs: number;
  readonly interaction: WriteInteraction;
  /** Whom the token names: a client id or a legacy account's subject. */
  readonly subject: string;
  /** The token's unique id; never the token. */
  readonly tokenId: string;
  /** The id that the answer and the log carry. */
  readonly requestId: string;
  /** How the token was got. */
  readonly flow?: string;
  /** The access entries that allow it. */
  readonly entries?: readonly string[];
  /** Ids of the patients that the resource is about: `findPatients`. */
  readonly patients?: Patients;
}

/** Any other row: what was read or refused, and what the service itself did. */
export interface AccessRow {
  readonly atMs: number;
  /** 0: no application is known. */
  readonly application: number;
  /** An R4 code as above, `$name` of an operation, or one of `serviceActions`. */
  readonly interaction: string;
  /** Number of the resource type (search/numbers.ts). */
  readonly typeNumber?: number;
  /** Id of the resource, or what else the row is about. */
  readonly id?: string;
  readonly versionId?: number;
  readonly outcome: AuditOutcome;
  readonly subject?: string;
  readonly tokenId?: string;
  readonly requestId?: string;
  readonly flow?: string;
  /** Resources that the answer showed; of an introspection 1 when it told of a live token. */
  readonly shown?: number;
  /** Elements that were shown: all, or their names; absent where nothing was. */
  readonly elements?: 'all' | readonly string[];
  /** Access entries that allowed it; of a refusal: of which one is missing. */
  readonly entries?: readonly string[];
  /** Error code of a refusal. */
  readonly reason?: string;
  readonly patients?: Patients;
  /** Rows with the same text here that are written together become one, which counts them: for floods of refusals. */
  readonly repeats?: string;
}

export interface Patients {
  readonly ids: readonly string[];
  /** There are more than the limit lets in. */
  readonly more: boolean;
}

/** https://hl7.org/fhir/R4/valueset-audit-event-outcome.html */
export type AuditOutcome = 0 | 4 | 8 | 12;

/** What the service itself does, in place of an interaction. */
export const serviceActions = ['authenticate', 'token', 'introspect', 'revoke', 'administer'] as const;

/** The ledger of what belongs to no firm; no firm has this number. */
export const serviceLedger = 0;

/** Distinct patients that one row names: more than any page of matches is about. */
export const rowPatientsMax = 1_000;

/** The mark of a row that names only some of the patients. */
const more = '+';

/** The column `patients`; null: none. */
export function formatPatients(patients: Patients | undefined): string | null {
  if (patients === undefined || patients.ids.length === 0) return null;
  return [...patients.ids, ...(patients.more ? [more] : [])].join(' ');
}

export function readPatients(text: string | null): Patients {
  const words = text === null ? [] : text.split(' ');
  return { ids: words.filter((word) => word !== more), more: words.includes(more) };
}

/** The column `entries`; null: none. */
export function formatEntries(entries: readonly string[] | undefined): string | null {
  return entries === undefined || entries.length === 0 ? null : entries.join(' ');
}
