/**
 * There is no difference in answer or time between unknown user and wrong password, or unknown and unauthorised firm
 * (docs/integrate/contract.md#order-of-checks). Time is asserted by what is done: the same statements with values of the
 * same shape, and the same hash work on values of the same length.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { Database } from '../../src/database/database.ts';
import { openSessions } from '../../src/oauth/session/sessions.ts';
import { openTokenEndpoints, type TokenReply } from '../../src/oauth/token-endpoint.ts';
import { openTestDatabase } from '../support/database.ts';
import {
  apiCall,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  observing,
  openWorld,
  requestClientToken,
} from './world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const firm = await makeFirm(world);
const closedFirm = await makeFirm(world);
const vendor = await makeVendor(world);
const account = await makeAccount(world, vendor, firm);
const environment = await world.environment('sandbox');

/** The database with a record of the texts it was sent. */
function recording(): { readonly database: Database; readonly texts: string[] } {
  const texts: string[] = [];
  const query: Database['query'] = (statement, options) => {
    texts.push(statement.text);
    return database.query(statement, options);
  };
  return { texts, database: { ...database, query } };
}

const record = recording();
const { secrets, work } = observing(world.secrets);
const endpoints = openTokenEndpoints({ ...world.service, database: record.database, secrets });

/** Everything that the request made the server do, and its answer. */
async function workOf(send: () => Promise<TokenReply>): Promise<object> {
  record.texts.length = 0;
  work.length = 0;
  const { status, headers, body } = await send();
  return { statements: [...record.texts], hashes: [...work], answer: { status, headers, body } };
}

test('contract 5.3: unknown username, wrong password and unknown firm cost the same work and get the same answer', async () => {
  const login = (firmPrefix: string, username: string, password: string) => () =>
    endpoints.legacy(
      { environment, firmPrefix },
      formRequest({ grant_type: 'password', username, password }, [vendor.legacyKey]),
    );
  const wrong = 'x'.repeat(account.password.length);
  const expected = await workOf(login(firm.prefix, account.username, wrong));
  assert.equal(
    'hashes' in expected && Array.isArray(expected.hashes) && expected.hashes.length,
    2,
    'the key and the password',
  );
  assert.deepEqual(await workOf(login(firm.prefix, 'nobody', wrong)), expected, 'unknown username');
  assert.deepEqual(await workOf(login('no-such-firm', account.username, wrong)), expected, 'unknown firm');
  assert.deepEqual(
    await workOf(login(closedFirm.prefix, account.username, wrong)),
    expected,
    'firm without the account',
  );
});

test('contract 5.6: unknown client, wrong secret and client of another realm cost the same work and get the same answer', async () => {
  const prodVendor = await makeVendor(world, ['acl/*'], 'prod');
  const request = (clientId: string, clientSecret: string) => () =>
    endpoints.client(
      'sandbox',
      formRequest({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }, [
        vendor.clientKey,
      ]),
    );
  const expected = await workOf(request(vendor.clientId, 'x'.repeat(vendor.clientSecret.length)));
  assert.deepEqual(await workOf(request('nobody', 'x'.repeat(vendor.clientSecret.length))), expected);
  assert.deepEqual(await workOf(request(prodVendor.clientId, prodVendor.clientSecret)), expected);
});

test('settled firm-refusal: an unknown and an unauthorised firm get the same 403 for the same work', async () => {
  const token = fieldOf(await requestClientToken(world, vendor), 'access_token');
  const sessions = openSessions({
    database: record.database,
    secrets,
    clock: world.clock,
    keys: world.keys,
    uses: world.uses,
    sessionsMax: 10,
  });
  const refused = async (prefix: string): Promise<object> => {
    record.texts.length = 0;
    work.length = 0;
    const call = await apiCall(world, { environment: 'sandbox', prefix }, token, vendor.clientKey);
    const error = await sessions.authenticate(call).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Error && 'details' in error && 'code' in error);
    return { statements: [...record.texts], hashes: [...work], code: error.code, details: error.details };
  };
  const expected = await refused('no-such-firm');
  assert.deepEqual(await refused(closedFirm.prefix), expected);
  assert.deepEqual(expected, {
    statements: [record.texts[0]],
    hashes: ['hash api-key 43'],
    code: 'firm-forbidden',
    details: { diagnostics: 'Firm is not open to this application: no such firm has authorised it' },
  });
});
