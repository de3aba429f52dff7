/**
 * Takes the journey against a running service, by each token flow, with the credentials of its sandbox:
 *
 *     npm start          # in one terminal
 *     npm run journey    # in another
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { takeJourney } from './journey.ts';
import { type Credentials, type Json, openPraxis } from './praxis.ts';

const sandbox: Json = JSON.parse(
  readFileSync(path.join(process.env['PRAXIS_DATA_DIR'] ?? 'data', 'sandbox.json'), 'utf8'),
);
const { origin, environment, product, realm } = sandbox;
const [firm] = sandbox.firms;
const { client, legacy } = sandbox.applications.find(({ name }: Json) => name === 'Full access');
const root = `${origin}/${environment}/firm/${firm}/${product}`;

const flows: Readonly<Record<string, Credentials>> = {
  'client credentials': {
    tokenUrl: `${origin}/auth/realms/${realm}/protocol/openid-connect/token`,
    apiKey: client.apiKey,
    form: { grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret },
  },
  'password grant': {
    tokenUrl: `${root}/ws/oauth2/grant`,
    apiKey: legacy[firm].apiKey,
    form: { grant_type: 'password', username: legacy[firm].username, password: legacy[firm].password },
  },
};

for (const [flow, credentials] of Object.entries(flows)) {
  console.log(`${flow} at ${firm}`);
  await takeJourney(openPraxis(`${root}/fhir/v2`, credentials), (line) => console.log(`  ${line}`));
}
