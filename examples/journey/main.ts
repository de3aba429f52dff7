/**
 * Takes the journey against a running service, by each token flow, with the credentials of its sandbox:
 *
 *     npm start          # in one terminal
 *     npm run journey    # in another
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Credentials, connect } from '@praxis/client';
import { takeJourney } from './journey.ts';

/** The part of sandbox.json that is read here. */
interface Sandbox {
  readonly origin: string;
  readonly environment: string;
  readonly product: string;
  readonly firms: readonly [string, ...string[]];
  readonly applications: readonly {
    readonly name: string;
    readonly client: { readonly apiKey: string; readonly clientId: string; readonly clientSecret: string };
    readonly legacy: Readonly<
      Record<string, { readonly apiKey: string; readonly username: string; readonly password: string }>
    >;
  }[];
}

const sandbox: Sandbox = JSON.parse(
  readFileSync(path.join(process.env['PRAXIS_DATA_DIR'] ?? 'data', 'sandbox.json'), 'utf8'),
);
const { origin, environment, product, firms, applications } = sandbox;
const [firm] = firms;
const application = applications.find(({ name }) => name === 'Full access');
const account = application?.legacy[firm];
if (application === undefined || account === undefined) throw new Error('sandbox.json has no application Full access');

const flows: Readonly<Record<string, Credentials>> = {
  'client credentials': { flow: 'client-credentials', ...application.client },
  'password grant': { flow: 'password', ...account },
};

for (const [flow, credentials] of Object.entries(flows)) {
  console.log(`${flow} at ${firm}`);
  const praxis = connect({ base: `${origin}/${environment}/firm/${firm}/${product}/fhir/v2`, credentials });
  await takeJourney(praxis, (line) => console.log(`  ${line}`));
}
