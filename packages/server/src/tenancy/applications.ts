/**
 * Applications: the vendors' programs. An application belongs to one environment; its acl is the most that any token of
 * it may carry, and a firm authorises a subset of it.
 */
import { fail } from '../base/errors.ts';
import type { Database, Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { type ApplicationSettings, readSettings, requireSettings } from './application-settings.ts';
import { getEnvironment } from './environments.ts';
import { changeRights } from './epochs.ts';
import { type EntryProblem, requireEntries, requireTitle } from './names.ts';

export interface Application {
  readonly id: number;
  readonly environment: string;
  /** Unique in its environment; the `iss` of its legacy tokens. */
  readonly name: string;
  readonly state: 'active' | 'suspended';
  /** Access entries, sorted. */
  readonly acl: readonly string[];
  readonly settings: ApplicationSettings;
}

export interface ApplicationDraft extends Pick<Application, 'environment' | 'name' | 'acl'> {
  readonly settings?: Readonly<Record<string, unknown>>;
}

/**
 * @throws PraxisError `rule-broken` for a malformed name, entry or setting, `resource-not-found` for an unknown
 *   environment, `duplicate` when the environment has an application of this name
 */
export async function createApplication(
  database: Queryable,
  draft: ApplicationDraft,
  problemOf: EntryProblem,
): Promise<Application> {
  requireTitle('name', draft.name);
  const acl = requireEntries(draft.acl, problemOf);
  const settings = requireSettings(draft.settings ?? {});
  const environment = await getEnvironment(database, draft.environment);
  const made = await database.query(sql`
    INSERT INTO application (environment, name, state, acl, settings)
    VALUES (${environment.id}, ${draft.name}, 'active', ${acl}::text[], ${sql.json(settings)})
    ON CONFLICT (environment, name) DO NOTHING RETURNING id`);
  if (made.length === 0)
    fail('duplicate', {
      diagnostics: `environment ${draft.environment} has an application ${draft.name}`,
      expression: ['name'],
    });
  return await getApplication(database, draft.environment, draft.name);
}

/** The applications of an environment by name. */
export async function listApplications(database: Database, environment: string): Promise<Application[]> {
  const { name } = await getEnvironment(database, environment);
  const rows = await database.query<ApplicationRow>(sql`${selectApplication} WHERE e.name = ${name} ORDER BY a.name`);
  return rows.map(toApplication);
}

/** @throws PraxisError `resource-not-found` naming application and environment */
export async function getApplication(database: Queryable, environment: string, name: string): Promise<Application> {
  return (
    (await findApplication(database, environment, name)) ??
    fail('resource-not-found', {
      diagnostics: `application ${name} does not exist in environment ${environment}`,
      expression: ['application'],
    })
  );
}

/** The application of this name, or undefined when the environment has none. */
export async function findApplication(
  database: Queryable,
  environment: string,
  name: string,
): Promise<Application | undefined> {
  const [row] = await database.query<ApplicationRow>(
    sql`${selectApplication} WHERE e.name = ${environment} AND a.name = ${name}`,
  );
  return row && toApplication(row);
}

/**
 * Replaces the acl. Tokens already issued lose what is gone at their next call; what is new needs a new token where the
 * token carries its entries.
 * @throws PraxisError `rule-broken` naming a malformed entry
 */
export async function setApplicationAcl(
  database: Database,
  application: Application,
  acl: readonly string[],
  problemOf: EntryProblem,
): Promise<void> {
  const entries = requireEntries(acl, problemOf);
  await change(database, application, sql`acl = ${entries}::text[]`);
}

/** @throws PraxisError `rule-broken` for an unknown setting or value */
export async function setApplicationSettings(
  database: Database,
  application: Application,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  await change(database, application, sql`settings = ${sql.json(requireSettings(given))}`);
}

/** Refuses the application at every firm and its token requests from the next statement on. */
export async function suspendApplication(database: Database, application: Application): Promise<void> {
  await change(database, application, sql`state = 'suspended'`);
}

/** Ends a suspension. */
export async function resumeApplication(database: Database, application: Application): Promise<void> {
  await change(database, application, sql`state = 'active'`);
}

async function change(database: Database, { id }: Application, assignment: Sql): Promise<void> {
  await changeRights(database, { application: id }, (tx) =>
    tx.query(sql`UPDATE application SET ${assignment} WHERE id = ${id}`),
  );
}

interface ApplicationRow extends Omit<Application, 'settings'> {
  readonly settings: Readonly<Record<string, unknown>>;
}

const selectApplication: Sql = sql`
  SELECT a.id, e.name AS environment, a.name, a.state, a.acl, a.settings
  FROM application a JOIN environment e ON e.id = a.environment`;

function toApplication(row: ApplicationRow): Application {
  return { ...row, settings: readSettings(row.settings) };
}
