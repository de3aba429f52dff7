/** Contract 5.11: whoever treats the token as opaque moves between the flows by changing token and key alone. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { Session } from '../../../src/oauth/session/session.ts';
import type { TokenReply } from '../../../src/oauth/token-endpoint.ts';
import { openTestDatabase } from '../../support/database.ts';
import { apiCall, bodyOf, formRequest, makeAccount, makeFirm, makeVendor, openWorld } from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const firm = await makeFirm(world);
const vendor = await makeVendor(world, ['acl/enc_s', 'acl/pat_s_name_dob_gen']);
const account = await makeAccount(world, vendor, firm);
const environment = await world.environment('sandbox');

/** A program that knows neither flow: it posts a form, takes access_token from the answer and sends it with its key. */
async function opaqueClient(
  post: (form: Readonly<Record<string, string>>, apiKey: string) => Promise<TokenReply>,
  form: Readonly<Record<string, string>>,
  apiKey: string,
): Promise<Session> {
  const { access_token: token, token_type: scheme } = bodyOf(await post(form, apiKey));
  const call = await apiCall(world, firm, String(token), apiKey);
  return await world.sessions.authenticate({ ...call, authorization: [`${scheme} ${token}`] });
}

test('contract 5.11: the same client code runs through both flows and has the same rights', async () => {
  const legacy = await opaqueClient(
    (form, apiKey) => world.endpoints.legacy({ environment, firmPrefix: firm.prefix }, formRequest(form, [apiKey])),
    { grant_type: 'password', ...account },
    vendor.legacyKey,
  );
  const client = await opaqueClient(
    (form, apiKey) => world.endpoints.client('sandbox', formRequest(form, [apiKey])),
    { grant_type: 'client_credentials', client_id: vendor.clientId, client_secret: vendor.clientSecret },
    vendor.clientKey,
  );
  assert.deepEqual([legacy.principal.flow, client.principal.flow], ['legacy', 'client']);
  // But for its own end: tokens of the flows live for different times.
  assert.deepEqual({ ...client.scope, endsAtMs: 0 }, { ...legacy.scope, endsAtMs: 0 });
  assert.deepEqual(client.settings, legacy.settings);
  assert.equal(client.policy.fingerprint, legacy.policy.fingerprint);
});
