/**
 * Everything that an API call depends on besides its token, in one statement, so in one snapshot: API key, holder of the
 * token, application, firm, authorisation and epoch. It does the same work whatever of them exists.
 */
import type { Database } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { AccessToken } from './access-token.ts';
import type { ApiKeyFacts } from './api-key-header.ts';

const pointRead = { short: true, idempotent: true } as const;

export interface CallerQuestion {
  readonly token: AccessToken;
  readonly keyHash: Buffer;
  readonly environment: number;
  readonly firmPrefix: string;
}

export interface CallerFacts extends ApiKeyFacts {
  /** Of the client or the legacy account; null when there is none. */
  readonly holderState: string | null;
  /** Of a legacy account. */
  readonly username: string | null;
  readonly accountFirm: number | null;
  readonly passwordHash: Buffer | null;
  /** The holder's application. */
  readonly application: number | null;
  readonly applicationName: string | null;
  readonly applicationState: string | null;
  readonly acl: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** The firm of the path. */
  readonly firm?: { readonly id: number; readonly state: string; readonly timeZone: string };
  /** Of the firm for the holder's application. */
  readonly authorisation?: {
    readonly state: string;
    readonly acl: readonly string[];
    readonly expiresAt: number | null;
    readonly epoch: number;
  };
}

interface CallerRow extends Omit<CallerFacts, 'acl' | 'settings' | 'firm' | 'authorisation'> {
  readonly acl: readonly string[] | null;
  readonly settings: Readonly<Record<string, unknown>> | null;
  readonly firmId: number | null;
  readonly firmState: string | null;
  readonly timeZone: string | null;
  readonly authorisationState: string | null;
  readonly authorisedAcl: readonly string[] | null;
  readonly expiresAt: number | null;
  readonly epoch: number | null;
}

/** The facts as they are now. */
export async function findCaller(database: Database, question: CallerQuestion): Promise<CallerFacts> {
  const [row] = await database.query<CallerRow>(
    sql`
    SELECT k.id AS "keyId", k.flow AS "keyFlow", k.state AS "keyState", k.application AS "keyApplication", ka.environment AS "keyEnvironment",
           h.state AS "holderState", h.username, h.firm AS "accountFirm", h.password_hash AS "passwordHash",
           a.id AS application, a.name AS "applicationName", a.state AS "applicationState", a.acl, a.settings,
           f.id AS "firmId", f.state AS "firmState", f.time_zone AS "timeZone",
           z.state AS "authorisationState", z.acl AS "authorisedAcl", z.expires_at AS "expiresAt", e.epoch
    FROM (VALUES (1)) AS request(one)
    LEFT JOIN api_key k ON k.hash = ${question.keyHash}
    LEFT JOIN application ka ON ka.id = k.application
    LEFT JOIN (${holder(question.token)}) h ON true
    LEFT JOIN application a ON a.id = h.application
    LEFT JOIN firm f ON f.environment = ${question.environment} AND f.prefix = ${question.firmPrefix}
    LEFT JOIN authorisation z ON z.firm = f.id AND z.application = a.id
    LEFT JOIN access_epoch e ON e.firm = f.id AND e.application = a.id`,
    pointRead,
  );
  if (!row) throw new Error('a statement without conditions gave no row');
  return toFacts(row);
}

/** The account or client that the token names. */
function holder(token: AccessToken): Sql {
  return token.flow === 'client'
    ? sql`SELECT application, state, NULL::text AS username, NULL::int AS firm, NULL::bytea AS password_hash FROM client WHERE client_id = ${token.clientId}`
    : sql`SELECT application, state, username, firm, password_hash FROM legacy_account WHERE subject = ${token.subject}`;
}

function toFacts(row: CallerRow): CallerFacts {
  const { acl, settings, firmId, firmState, timeZone, authorisationState, authorisedAcl, expiresAt, epoch, ...facts } =
    row;
  const firm =
    firmId !== null && firmState !== null && timeZone !== null ? { id: firmId, state: firmState, timeZone } : undefined;
  const authorisation =
    authorisationState !== null && authorisedAcl !== null && epoch !== null
      ? { state: authorisationState, acl: authorisedAcl, expiresAt, epoch }
      : undefined;
  return {
    ...facts,
    acl: acl ?? [],
    settings: settings ?? {},
    ...(firm ? { firm } : {}),
    ...(authorisation ? { authorisation } : {}),
  };
}
