/**
 * Operators' terms for the legacy flow: when it is deprecated and ends, and planned brown-outs before that, for an
 * environment, a firm of it, an application of it, or both. Each change raises the access epochs of those it touches, so
 * that it acts on their next request at every node; nothing else than the clock is needed for what was planned.
 */
import type { Clock } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import type { Database } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { Application } from '../../tenancy/applications.ts';
import type { Environment } from '../../tenancy/environments.ts';
import { type Affected, changeRights } from '../../tenancy/epochs.ts';
import type { Firm } from '../../tenancy/firms.ts';
import type { BrownOutTerm, SunsetTerm } from './sunset.ts';

/** For whom a term is set; firm and application are of the environment. */
export interface LegacyScope {
  readonly environment: Environment;
  readonly firm?: Firm;
  readonly application?: Application;
}

export interface SunsetDraft {
  readonly deprecatedAtMs: number;
  readonly sunsetAtMs?: number;
  /** Page for people about the migration. */
  readonly link: string;
}

/** A term as it is stored; firm and application by name, null: all. */
interface ListedScope {
  readonly firm: string | null;
  readonly application: string | null;
}

export type ListedSunset = ListedScope & Omit<SunsetTerm, keyof ListedScope>;
export type ListedBrownOut = ListedScope & Omit<BrownOutTerm, keyof ListedScope> & { readonly id: number };

export const linkLengthMax = 500;
/** Longest brown-out, in ms: what lasts longer is an end, and should be announced as one. */
export const brownOutMsMax = 7 * 86_400_000;
/** Brown-outs of an environment that are not over: each session reads those that fit it. */
export const brownOutsMax = 200;

/** What may stand between the angle brackets of a Link header and in `error_uri`. */
const linkPattern = /^[!#-;=?-Z_a-z~]+$/;

/**
 * Announces the deprecation, and the end where one is given; replaces what was announced for the same scope.
 * @throws PraxisError `rule-broken` for a malformed link or an end before the deprecation
 */
export async function setSunset(database: Database, scope: LegacyScope, draft: SunsetDraft): Promise<void> {
  const link = requireLink(draft.link);
  const { deprecatedAtMs, sunsetAtMs = null } = draft;
  if (sunsetAtMs !== null && sunsetAtMs < deprecatedAtMs) {
    fail('rule-broken', {
      diagnostics: 'sunset must not be before deprecated (RFC 9745 section 4)',
      expression: ['sunset'],
    });
  }
  await changeRights(database, affectedBy(scope), async (tx) => {
    await tx.query(sql`
      INSERT INTO legacy_sunset (environment, firm, application, deprecated_at, sunset_at, link)
      VALUES (${valuesOf(scope)}, ${sql.timestamp(deprecatedAtMs)}, ${sql.timestamp(sunsetAtMs)}, ${link})
      ON CONFLICT (environment, firm, application) DO UPDATE
      SET deprecated_at = EXCLUDED.deprecated_at, sunset_at = EXCLUDED.sunset_at, link = EXCLUDED.link, state = 'active'`);
  });
}

/**
 * Takes back what was announced for exactly this scope; what was announced for a wider one counts again.
 * @throws PraxisError `resource-not-found` when nothing was
 */
export async function clearSunset(database: Database, scope: LegacyScope): Promise<void> {
  await changeRights(database, affectedBy(scope), async (tx) => {
    const cleared = await tx.query(sql`
      UPDATE legacy_sunset SET state = 'cleared'
      WHERE state = 'active' AND environment = ${scope.environment.id} AND firm IS NOT DISTINCT FROM ${scope.firm?.id ?? null}::int
        AND application IS NOT DISTINCT FROM ${scope.application?.id ?? null}::int RETURNING id`);
    if (cleared.length === 0) fail('resource-not-found', { diagnostics: 'no sunset is set for exactly this scope' });
  });
}

/** What is announced in an environment, the widest first. */
export async function listSunsets(database: Database, environment: Environment): Promise<ListedSunset[]> {
  return await database.query<ListedSunset>(sql`
    SELECT f.prefix AS firm, a.name AS application, t.deprecated_at AS "deprecatedAtMs", t.sunset_at AS "sunsetAtMs", t.link
    FROM legacy_sunset t LEFT JOIN firm f ON f.id = t.firm LEFT JOIN application a ON a.id = t.application
    WHERE t.environment = ${environment.id} AND t.state = 'active' ORDER BY a.name NULLS FIRST, f.prefix NULLS FIRST`);
}

/**
 * Plans a brown-out from `startsAtMs` until before `endsAtMs`. Returns its id.
 * @throws PraxisError `rule-broken` when it ends before it starts, is over, is too long, or is one too many
 */
export async function addBrownOut(
  database: Database,
  clock: Clock,
  scope: LegacyScope,
  { startsAtMs, endsAtMs }: { readonly startsAtMs: number; readonly endsAtMs: number },
): Promise<number> {
  if (endsAtMs <= startsAtMs) fail('rule-broken', { diagnostics: 'until must be after from', expression: ['until'] });
  if (endsAtMs <= clock.now()) fail('rule-broken', { diagnostics: 'until has passed', expression: ['until'] });
  if (endsAtMs - startsAtMs > brownOutMsMax) {
    fail('rule-broken', {
      diagnostics: `a brown-out lasts at most ${brownOutMsMax / 86_400_000} days: announce a longer one as sunset`,
      expression: ['until'],
    });
  }
  return await changeRights(database, affectedBy(scope), async (tx) => {
    const [made] = await tx.query<{ id: number }>(sql`
      INSERT INTO legacy_brown_out (environment, firm, application, starts_at, ends_at)
      SELECT ${valuesOf(scope)}, ${sql.timestamp(startsAtMs)}, ${sql.timestamp(endsAtMs)}
      WHERE (SELECT count(*) FROM legacy_brown_out
             WHERE environment = ${scope.environment.id} AND state = 'active' AND ends_at > ${sql.timestamp(clock.now())}) < ${brownOutsMax}
      RETURNING id`);
    const diagnostics = `environment ${scope.environment.name} has ${brownOutsMax} brown-outs that are not over`;
    return made?.id ?? fail('rule-broken', { diagnostics });
  });
}

/**
 * Takes a brown-out back; one that is running ends with the next request.
 * @throws PraxisError `resource-not-found` when the environment has no brown-out of this id
 */
export async function removeBrownOut(database: Database, environment: Environment, id: number): Promise<void> {
  await changeRights(database, { environment: environment.id }, async (tx) => {
    const removed = await tx.query(sql`
      UPDATE legacy_brown_out SET state = 'removed'
      WHERE id = ${id} AND environment = ${environment.id} AND state = 'active' RETURNING id`);
    if (removed.length === 0)
      fail('resource-not-found', { diagnostics: `environment ${environment.name} has no brown-out ${id}` });
  });
}

/** The brown-outs of an environment, past ones too, by their beginning. */
export async function listBrownOuts(database: Database, environment: Environment): Promise<ListedBrownOut[]> {
  return await database.query<ListedBrownOut>(sql`
    SELECT t.id, f.prefix AS firm, a.name AS application, t.starts_at AS "startsAtMs", t.ends_at AS "endsAtMs"
    FROM legacy_brown_out t LEFT JOIN firm f ON f.id = t.firm LEFT JOIN application a ON a.id = t.application
    WHERE t.environment = ${environment.id} AND t.state = 'active' ORDER BY t.starts_at, t.id`);
}

function affectedBy({ environment, firm, application }: LegacyScope): Affected {
  if (firm && application) return { pair: { firm: firm.id, application: application.id } };
  if (application) return { application: application.id };
  return firm ? { firm: firm.id } : { environment: environment.id };
}

function valuesOf({ environment, firm, application }: LegacyScope): Sql {
  return sql`${environment.id}::int, ${firm?.id ?? null}::int, ${application?.id ?? null}::int`;
}

function requireLink(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = linkPattern.test(text) && text.length <= linkLengthMax && !url?.username && !url?.password;
  if (isPlain && (url?.protocol === 'https:' || url?.protocol === 'http:') && /^https?:\/\//.test(text)) return text;
  return fail('rule-broken', {
    diagnostics: `link must be an absolute http or https URL of at most ${linkLengthMax} characters, percent-encoded`,
    expression: ['link'],
  });
}
