/**
 * What an application may do at a firm now, without a call of it: what is done in its name later, such as sending it what it
 * subscribed to, is decided by this at the moment when it is done.
 */
import { limitToOwnRows } from '../../access/own-rows.ts';
import type { AccessPolicy } from '../../access/policy.ts';
import type { Clock } from '../../base/clock.ts';
import { type Database, pointRead } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { type ApplicationSettings, readSettings } from '../../tenancy/application-settings.ts';
import { openScope, type TenantScope } from '../../tenancy/scope.ts';
import { readSearchParameters, searchParametersJson } from '../../tenancy/search-parameters.ts';
import { decideLegacy } from '../legacy/sunset.ts';
import {
  type LegacyTermsRow,
  noTermsColumns,
  selectLegacyTermsColumns,
  toLegacyTerms,
} from '../legacy/sunset-schedule.ts';
import { openPolicies } from './policies.ts';

/** For whom: an application at a firm, within the entries of the token by which it asked. */
export interface ApplicationQuestion {
  readonly firm: number;
  readonly application: number;
  /** Entries of the token; undefined: one of the legacy flow, which carries none and ends with the flow. */
  readonly tokenEntries: readonly string[] | undefined;
}

export interface ApplicationSession {
  readonly scope: TenantScope;
  readonly policy: AccessPolicy;
  readonly settings: ApplicationSettings;
  readonly firm: { readonly environment: string; readonly prefix: string };
}

export interface ApplicationSessions {
  /** Undefined: the application may do nothing there at this moment. Always read from the database. */
  read(question: ApplicationQuestion): Promise<ApplicationSession | undefined>;
}

interface SessionRow extends LegacyTermsRow {
  readonly acl: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly environment: string;
  readonly prefix: string;
  readonly timeZone: string;
  readonly requiresReferences: boolean;
  readonly searchParameters: string | null;
  readonly authorisedAcl: readonly string[];
  readonly operatorRows: unknown;
  readonly expiresAtMs: number | null;
  readonly epoch: number;
}

/** Policies that one process remembers for this. */
const policiesMax = 2_000;

export function openApplicationSessions(database: Database, clock: Clock): ApplicationSessions {
  const policies = openPolicies(policiesMax);
  return {
    async read({ firm, application, tokenEntries }) {
      const nowMs = clock.now();
      const caller = { environment: sql`f.environment`, firm: sql`f.id`, application: sql`a.id` };
      const terms = tokenEntries === undefined ? selectLegacyTermsColumns(caller, nowMs) : noTermsColumns;
      const [row] = await database.query<SessionRow>(
        sql`
        SELECT a.acl, a.settings, n.name AS environment, f.prefix, f.time_zone AS "timeZone",
          f.requires_references AS "requiresReferences", ${searchParametersJson(sql`f.id`)} AS "searchParameters",
          z.acl AS "authorisedAcl", z.operator_rows AS "operatorRows", z.expires_at AS "expiresAtMs", e.epoch, ${terms}
        FROM firm f JOIN environment n ON n.id = f.environment
        JOIN authorisation z ON z.firm = f.id AND z.state = 'active'
        JOIN application a ON a.id = z.application AND a.state = 'active'
        JOIN access_epoch e ON e.firm = f.id AND e.application = a.id
        WHERE f.id = ${firm} AND a.id = ${application} AND f.state = 'active'`,
        pointRead,
      );
      if (row === undefined) return undefined;
      const legacy = decideLegacy(toLegacyTerms(row), nowMs);
      if (tokenEntries === undefined && legacy.kind !== 'open') return undefined;
      const endsAtMs = Math.min(row.expiresAtMs ?? Number.POSITIVE_INFINITY, legacy.changesAtMs);
      if (nowMs >= endsAtMs) return undefined;
      const { environment, prefix, timeZone, requiresReferences, searchParameters, epoch } = row;
      const scope = openScope({
        firm,
        application,
        epoch,
        environment,
        firmPrefix: prefix,
        product: 'pm',
        timeZone,
        requiresReferences,
        searchParameters: readSearchParameters(searchParameters),
        endsAtMs,
        rightsEndAtMs: endsAtMs,
      });
      const policy = policies.effective(tokenEntries, row.acl, row.authorisedAcl, row.operatorRows);
      return {
        scope,
        policy: limitToOwnRows(policy, application),
        settings: readSettings(row.settings),
        firm: { environment, prefix },
      };
    },
  };
}
