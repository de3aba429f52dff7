/**
 * The service's own ledger as operators read it: what belongs to no firm, so that no AuditEvent of a firm tells of it: requests
 * for tokens, about them and to end them, callers who were turned away, and administration.
 */
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { serviceLedger } from './audit-row.ts';

export interface ServiceRow {
  readonly atMs: number;
  /** One of `serviceActions`. */
  readonly action: string;
  /** The realm, environment and firm, or what a command or action was about. */
  readonly about: string | null;
  /** Name of the application as it is now; null: none is known. */
  readonly application: string | null;
  /** Who proved to be it: a client's or an account's subject, or an administrator. */
  readonly subject: string | null;
  /** https://hl7.org/fhir/R4/valueset-audit-event-outcome.html; 0: it succeeded. */
  readonly outcome: number;
  /** Error code of a refusal. */
  readonly reason: string | null;
  /** How the token was got. */
  readonly flow: string | null;
  /** `jti` of the token, never the token. */
  readonly tokenId: string | null;
  /** Equal refusals that the row stands for. */
  readonly times: number;
  readonly requestId: string | null;
}

export interface ServiceQuestion {
  /** In milliseconds since 1970; from included, to not. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Only refusals and failures. */
  readonly isRefused: boolean;
  /** Rows at most. */
  readonly limit: number;
}

/** The rows of a period, newest first. */
export async function listServiceRows(database: Database, question: ServiceQuestion): Promise<ServiceRow[]> {
  const { fromMs, toMs, isRefused, limit } = question;
  const refused = isRefused ? sql`AND a.outcome <> 0` : sql.empty;
  return await database.forFirm(serviceLedger).query<ServiceRow>(sql`
    SELECT a.at AS "atMs", a.interaction AS action, a.id AS about, n.name AS application, a.subject, a.outcome, a.reason,
      a.flow, a.token_id AS "tokenId", COALESCE(a.times, 1) AS times, a.request_id AS "requestId"
    FROM audit_ledger a LEFT JOIN application n ON n.id = a.application
    WHERE a.firm = ${serviceLedger} AND a.at >= ${fromMs} AND a.at < ${toMs} ${refused}
    ORDER BY a.at DESC, a.seq DESC LIMIT ${limit}`);
}
