/**
 * The operator's own application: what imports, seeds and exports of the command line act as, so that their writes have an
 * author in audit and history like any other. It holds `acl/*`, has neither key nor client, and so cannot call the API.
 */
import type { Clock } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { type Application, getApplication } from './applications.ts';
import { authorise, findAuthorisation } from './authorisations.ts';
import type { Firm } from './firms.ts';
import type { EntryProblem } from './names.ts';
import { openScope, type TenantScope } from './scope.ts';
import { readSearchParameters, searchParametersJson } from './search-parameters.ts';

export const operatorName = 'Praxis operator';
const operatorAcl = ['acl/*'];

/** The entries above need no check: the application is made with them. */
const asWritten: EntryProblem = Object.assign(() => undefined, { firstNotHeld: () => undefined });

/** The scope in which the operator acts at `firm`; the application and its authorisation are made at first use. */
export async function openOperatorScope(database: Database, clock: Clock, firm: Firm): Promise<TenantScope> {
  const application = await ensureOperator(database, firm.environment);
  const authorisation = await findAuthorisation(database, firm, application);
  if (authorisation?.state !== 'active') {
    const terms = { acl: operatorAcl, purpose: 'Operation of the service' };
    await authorise(database, clock, firm, application, terms, asWritten);
  }
  const [row] = await database.query<{ epoch: number; searchParameters: string | null }>(sql`
    SELECT e.epoch, ${searchParametersJson(sql`e.firm`)} AS "searchParameters"
    FROM access_epoch e WHERE e.firm = ${firm.id} AND e.application = ${application.id}`);
  if (row === undefined) fail('internal', { diagnostics: 'The authorisation of the operator has no access epoch' });
  return openScope({
    firm: firm.id,
    application: application.id,
    epoch: row.epoch,
    environment: firm.environment,
    firmPrefix: firm.prefix,
    product: 'pm',
    timeZone: firm.timeZone,
    searchParameters: readSearchParameters(row.searchParameters),
  });
}

async function ensureOperator(database: Database, environment: string): Promise<Application> {
  await database.query(sql`
    INSERT INTO application (environment, name, state, acl, settings)
    SELECT id, ${operatorName}::text, 'active', ${operatorAcl}::text[], '{}'::jsonb FROM environment WHERE name = ${environment}
    ON CONFLICT (environment, name) DO NOTHING`);
  return await getApplication(database, environment, operatorName);
}
