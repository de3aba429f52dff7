/**
 * The firm that the bench works on: a synthetic practice and an application with credentials of both flows.
 */

import { entryProblem } from '../../packages/server/src/admin/entry-problem.ts';
import { openPlatform, type Platform } from '../../packages/server/src/app.ts';
import { systemClock } from '../../packages/server/src/base/clock.ts';
import { readConfig } from '../../packages/server/src/base/config.ts';
import { openLog } from '../../packages/server/src/base/log.ts';
import { loadPractice } from '../../packages/server/src/cli/sandbox/practice.ts';
import type { Connections } from '../../packages/server/src/database/connections.ts';
import { startEmbeddedDatabase } from '../../packages/server/src/database/embedded-postgres.ts';
import { sql } from '../../packages/server/src/database/sql.ts';
import { readSecretKeys } from '../../packages/server/src/keys/secret-keys.ts';
import { issueApiKey } from '../../packages/server/src/oauth/client-auth/api-keys.ts';
import { issueClient } from '../../packages/server/src/oauth/client-auth/clients.ts';
import { issueLegacyAccount } from '../../packages/server/src/oauth/legacy/accounts.ts';
import { toDayStart } from '../../packages/server/src/synthetic/zoned-time.ts';
import { createApplication } from '../../packages/server/src/tenancy/applications.ts';
import { authorise } from '../../packages/server/src/tenancy/authorisations.ts';
import { createFirm } from '../../packages/server/src/tenancy/firms.ts';

export interface Prepared {
  readonly resources: number;
  readonly patients: number;
  readonly client: { readonly apiKey: string; readonly clientId: string; readonly clientSecret: string };
  readonly legacy: { readonly apiKey: string; readonly username: string; readonly password: string };
  /** Body of a Patient that creates write. */
  readonly body: string;
}

/** A database that is there already. */
export interface Place {
  readonly connections: Connections;
  readonly settings: Readonly<Record<string, string>>;
}

export const firmPrefix = 'bench';
export const timeZone = 'America/New_York';
export const patientId = (index: number): string => `${450_000 + index}`;

const body = JSON.stringify({
  resourceType: 'Patient',
  identifier: [{ system: 'https://praxis.health/firm/bench/mrn', value: 'MM9900000001' }],
  active: true,
  name: [{ use: 'official', family: 'Benchmark', given: ['Ada', 'May'] }],
  telecom: [
    { system: 'phone', value: '(212) 555-0100', use: 'mobile' },
    { system: 'email', value: 'ada@example.com' },
  ],
  gender: 'female',
  birthDate: '1980-12-10',
  address: [
    { use: 'home', line: ['1 Main Street'], city: 'Springfield', state: 'NY', postalCode: '10001', country: 'US' },
  ],
  maritalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M' }] },
  managingOrganization: { reference: 'Organization/practice' },
});

/**
 * Fills the database of `dataDir`; the processes that serve find it there.
 * @param place the database to fill instead, and the settings that lead to it
 */
export async function prepareFirm(dataDir: string, patients: number, place?: Place): Promise<Prepared> {
  const log = openLog('warn');
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir, ...place?.settings });
  readSecretKeys(config); // made before the database
  const embedded = place?.connections ?? (await startEmbeddedDatabase({ dataDir, log }));
  const platform = await openPlatform({ config, clock: systemClock, log, connections: embedded });
  const prepared = await fill(platform, patients);
  // The planner must know what a server that has run for a while knows.
  await platform.asOwner((owner) => owner.query(sql`ANALYZE`));
  await platform.close();
  return { ...prepared, patients, body };
}

async function fill(platform: Platform, patients: number): Promise<Pick<Prepared, 'resources' | 'client' | 'legacy'>> {
  const { database, secrets, clock } = platform;
  const firm = await createFirm(database, {
    environment: 'sandbox',
    prefix: firmPrefix,
    name: 'Bench',
    timeZone,
  });
  const resources = await loadPractice(platform, firm, { seed: 'bench', patients, todayMs: toDayStart(clock.now()) });
  const application = await createApplication(
    database,
    { environment: 'sandbox', name: 'Bench', acl: ['acl/*'] },
    entryProblem,
  );
  await authorise(database, clock, firm, application, { purpose: 'Measurement' }, entryProblem);
  const clientKey = await issueApiKey(database, secrets, application, 'client', 'bench');
  const legacyKey = await issueApiKey(database, secrets, application, 'legacy', 'bench');
  const client = await issueClient(database, secrets, application);
  const account = await issueLegacyAccount(database, secrets, firm, application);
  return {
    resources,
    client: { apiKey: clientKey.apiKey, ...client },
    legacy: { apiKey: legacyKey.apiKey, ...account },
  };
}
