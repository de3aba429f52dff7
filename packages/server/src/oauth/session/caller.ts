/**
 * Everything that an API call depends on besides its token, in one statement, so in one snapshot: API key, holder of the
 * token, application, firm, authorisation and epoch. It does the same work whatever of them exists.
 */
import { type Database, pointRead } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { searchParametersJson } from '../../tenancy/search-parameters.ts';
import type { ApiKeyFacts } from '../client-auth/api-key-header.ts';
import type { LegacyTerms } from '../legacy/sunset.ts';
import {
  type LegacyTermsRow,
  noTermsColumns,
  selectLegacyTermsColumns,
  toLegacyTerms,
} from '../legacy/sunset-schedule.ts';
import type { AccessToken } from './access-token.ts';
import { selectHolder, selectStatusColumns, type TokenStatus } from './token-status.ts';

export interface CallerQuestion {
  readonly token: AccessToken;
  readonly keyHash: Buffer;
  readonly environment: number;
  readonly firmPrefix: string;
  readonly nowMs: number;
}

export interface CallerFacts extends ApiKeyFacts, TokenStatus {
  /** Of a legacy account. */
  readonly username: string | null;
  readonly accountFirm: number | null;
  /** The holder's application. */
  readonly application: number | null;
  readonly applicationName: string | null;
  readonly applicationState: string | null;
  readonly acl: readonly string[] | null;
  readonly settings: Readonly<Record<string, unknown>> | null;
  /** The firm of the path. */
  readonly firm: number | null;
  readonly firmState: string | null;
  readonly timeZone: string | null;
  readonly requiresReferences: boolean | null;
  /** As `searchParametersJson` gives them. */
  readonly searchParameters: string | null;
  /** Of the firm for the holder's application. */
  readonly authorisationState: string | null;
  readonly authorisedAcl: readonly string[] | null;
  /** What operators say about entries there, as stored. */
  readonly operatorRows: unknown;
  readonly authorisationExpiresAt: number | null;
  readonly epoch: number | null;
  /** All that fit a legacy token's application at the firm, whether or not the caller may know them; none for other flows. */
  readonly legacyTerms: LegacyTerms;
}

/** The facts as they are now. */
export async function findCaller(database: Database, question: CallerQuestion): Promise<CallerFacts> {
  const [row] = await database.query<Omit<CallerFacts, 'legacyTerms'> & LegacyTermsRow>(
    sql`
    SELECT k.id AS "keyId", k.flow AS "keyFlow", k.state AS "keyState", k.application AS "keyApplication", ka.environment AS "keyEnvironment",
           h.username, h.firm AS "accountFirm",
           a.id AS application, a.name AS "applicationName", a.state AS "applicationState", a.acl, a.settings,
           ${selectStatusColumns(question.token)},
           f.id AS firm, f.state AS "firmState", f.time_zone AS "timeZone",
           f.requires_references AS "requiresReferences",
           ${searchParametersJson(sql`f.id`)} AS "searchParameters",
           z.state AS "authorisationState", z.acl AS "authorisedAcl", z.operator_rows AS "operatorRows", z.expires_at AS "authorisationExpiresAt", e.epoch,
           ${termsColumns(question)}
    FROM (VALUES (1)) AS request(one)
    LEFT JOIN api_key k ON k.hash = ${question.keyHash}
    LEFT JOIN application ka ON ka.id = k.application
    LEFT JOIN (${selectHolder(question.token)}) h ON true
    LEFT JOIN application a ON a.id = h.application
    LEFT JOIN firm f ON f.environment = ${question.environment} AND f.prefix = ${question.firmPrefix}
    LEFT JOIN authorisation z ON z.firm = f.id AND z.application = a.id
    LEFT JOIN access_epoch e ON e.firm = f.id AND e.application = a.id`,
    pointRead,
  );
  if (!row) throw new Error('a statement without conditions gave no row');
  return { ...row, legacyTerms: toLegacyTerms(row) };
}

function termsColumns({ token, environment, nowMs }: CallerQuestion): Sql {
  const caller = { environment: sql`${environment}`, firm: sql`f.id`, application: sql`a.id` };
  return token.flow === 'legacy' ? selectLegacyTermsColumns(caller, nowMs) : noTermsColumns;
}
