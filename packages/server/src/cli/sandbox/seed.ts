/**
 * The seeded sandbox: firms with synthetic practices and applications with credentials in every default environment.
 */
import { createAdministrator, listAdministrators, setPassword } from '../../admin/administrators.ts';
import { entryProblem } from '../../admin/entry-problem.ts';
import { openPasswords } from '../../admin/passwords.ts';
import type { Platform } from '../../app.ts';
import { fail } from '../../base/errors.ts';
import { issueApiKey } from '../../oauth/client-auth/api-keys.ts';
import { issueClient } from '../../oauth/client-auth/clients.ts';
import { issueLegacyAccount } from '../../oauth/legacy/accounts.ts';
import { toDayStart } from '../../synthetic/zoned-time.ts';
import { createApplication } from '../../tenancy/applications.ts';
import { authorise } from '../../tenancy/authorisations.ts';
import { createFirm, type Firm } from '../../tenancy/firms.ts';
import type {
  LegacyCredentials,
  SandboxAdministrator,
  SandboxApplication,
  SandboxEnvironment,
  SandboxFile,
} from './credentials.ts';
import { loadPractice } from './practice.ts';

type ApplicationRow = Pick<SandboxApplication, 'name' | 'firms' | 'acl'>;

interface EnvironmentRow extends Pick<SandboxEnvironment, 'environment' | 'realm'> {
  readonly firms: readonly (Pick<Firm, 'prefix' | 'name' | 'timeZone'> & { readonly patients: number })[];
  readonly applications: readonly ApplicationRow[];
}

const restricted = ['acl/enc_s', 'acl/pat_s_name_dob_gen'];

/** What is seeded, environment by environment; the first is the one that `sandbox.json` begins with. */
export const sandboxPlan: readonly [EnvironmentRow, ...EnvironmentRow[]] = [
  {
    environment: 'sandbox',
    realm: 'sandbox',
    firms: [
      { prefix: 'maple', name: 'Maple Dermatology', timeZone: 'America/New_York', patients: 500 },
      { prefix: 'cedar', name: 'Cedar Skin Care', timeZone: 'America/Los_Angeles', patients: 500 },
    ],
    applications: [
      { name: 'Full access', firms: ['maple', 'cedar'], acl: ['acl/*'] },
      { name: 'Maple only', firms: ['maple'], acl: ['acl/*'] },
      { name: 'Cedar only', firms: ['cedar'], acl: ['acl/*'] },
      { name: 'Restricted', firms: ['maple'], acl: restricted },
    ],
  },
  {
    environment: 'training',
    realm: 'sandbox',
    firms: [{ prefix: 'birch', name: 'Birch Dermatology', timeZone: 'America/Chicago', patients: 20 }],
    applications: [{ name: 'Training access', firms: ['birch'], acl: ['acl/*'] }],
  },
  {
    environment: 'prod',
    realm: 'production',
    firms: [{ prefix: 'oak', name: 'Oak Dermatology', timeZone: 'America/Denver', patients: 20 }],
    applications: [{ name: 'Production access', firms: ['oak'], acl: ['acl/*'] }],
  },
];

const sandboxOperator = 'operator';

/**
 * Makes firms, practices, applications and credentials in a database that has none of them.
 * @throws PraxisError `duplicate` when a firm or application of the plan exists
 */
export async function seedSandbox(
  platform: Platform,
  origin: string,
  onProgress: (text: string) => void,
): Promise<SandboxFile> {
  const [first, ...rest] = sandboxPlan;
  const main = await seedEnvironment(platform, first, onProgress);
  const others = await Array.fromAsync(rest, (row) => seedEnvironment(platform, row, onProgress));
  return { origin, ...main, others, admin: await seedAdministrator(platform) };
}

/** The operator of the sandbox; one that an interrupted seeding left behind gets a new password. */
export async function seedAdministrator({ database, clock, secrets }: Platform): Promise<SandboxAdministrator> {
  const store = { database, clock, passwords: openPasswords(secrets) };
  const draft = { username: sandboxOperator, role: 'operator', environment: sandboxPlan[0].environment } as const;
  const isThere = (await listAdministrators(database)).some(({ username }) => username === sandboxOperator);
  const { username, password } = isThere
    ? await setPassword(store, sandboxOperator)
    : await createAdministrator(store, draft);
  return password === undefined ? fail('internal', { diagnostics: 'No password was made up' }) : { username, password };
}

/** Stores a practice of the sandbox at a firm. */
export async function seedPractice(
  platform: Platform,
  firm: Firm,
  patients: number,
  onProgress: (text: string) => void,
): Promise<void> {
  const size = { seed: 'sandbox', patients, todayMs: toDayStart(platform.clock.now()) };
  onProgress(`${firm.environment}/${firm.prefix}: ${await loadPractice(platform, firm, size)} resources`);
}

async function seedEnvironment(
  platform: Platform,
  row: EnvironmentRow,
  onProgress: (text: string) => void,
): Promise<SandboxEnvironment> {
  const { environment, realm } = row;
  const firms = await Array.fromAsync(row.firms, async ({ patients, ...draft }) => {
    const firm = await createFirm(platform.database, { environment, ...draft });
    await seedPractice(platform, firm, patients, onProgress);
    return firm;
  });
  const applications = await Array.fromAsync(row.applications, (each) =>
    seedApplication(platform, environment, each, firms),
  );
  return { environment, product: 'pm', realm, firms: firms.map(({ prefix }) => prefix), applications };
}

async function seedApplication(
  platform: Platform,
  environment: string,
  row: ApplicationRow,
  firms: readonly Firm[],
): Promise<SandboxApplication> {
  const { database, secrets, clock } = platform;
  const draft = { environment, name: row.name, acl: row.acl };
  const application = await createApplication(database, draft, entryProblem);
  const clientKey = await issueApiKey(database, secrets, application, 'client', 'sandbox');
  const legacyKey = await issueApiKey(database, secrets, application, 'legacy', 'sandbox');
  const legacy: Record<string, LegacyCredentials> = {};
  for (const firm of firms.filter(({ prefix }) => row.firms.includes(prefix))) {
    await authorise(database, clock, firm, application, { purpose: 'Sandbox' }, entryProblem);
    const username = `${application.name.toLowerCase().replaceAll(' ', '-')}-${firm.prefix}`;
    const account = await issueLegacyAccount(database, secrets, firm, application, username);
    legacy[firm.prefix] = { apiKey: legacyKey.apiKey, ...account };
  }
  const client = await issueClient(database, secrets, application);
  return { ...row, client: { apiKey: clientKey.apiKey, ...client }, legacy };
}
