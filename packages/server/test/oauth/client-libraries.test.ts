/**
 * openid-client and oauth4webapi against discovery, both families of client authentication, introspection and revocation, as
 * they come: http is allowed for this machine, and the header x-api-key is added to what they send. The same by curl:
 * examples/oauth.sh.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { setClientKeys } from '../../src/oauth/client-auth/client-keys.ts';
import { issueKeyedClient } from '../../src/oauth/client-auth/clients.ts';
import { callerOf, clientToken, makeApplication, makeFirm, openTestService, startMs } from '../support/service.ts';
import { keySetOf, makeKeyPair } from './assertions.ts';

const service = await openTestService({ after });
// The libraries take the time from the machine.
service.clock.advance(Date.now() - startMs);
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/enc_s', 'acl/pat_s'], [maple]);
const issuer = new URL(`${service.origin}/auth/realms/sandbox`);
const keyedClientId = await issueKeyedClient(service.platform.database, vendor.application);
const keys = { RS384: await makeKeyPair('RS384', 'rsa'), ES384: await makeKeyPair('ES384', 'ec') };
const jwks = keySetOf(keys.RS384, keys.ES384);
await setClientKeys(service.platform.database, vendor.application, keyedClientId, { jwks });

/** fetch with the API key; the libraries send forms and nothing else. */
async function withKey(url: string, sent: openid.CustomFetchOptions): Promise<Response> {
  const { method, headers, body } = sent;
  assert.ok(body === undefined || body === null || body instanceof URLSearchParams);
  return await fetch(url, { method, headers: { ...headers, 'x-api-key': vendor.clientKey }, body: body ?? null });
}

async function statusOf(token: string): Promise<number> {
  return (await callerOf(maple, token, vendor.clientKey).get('Patient')).status;
}

interface Family {
  readonly name: string;
  readonly clientId: string;
  readonly openid: openid.ClientAuth;
  readonly oauth: oauth.ClientAuth;
}

const rsa = { key: keys.RS384.privateKey, kid: keys.RS384.kid };
const ec = { key: keys.ES384.privateKey, kid: keys.ES384.kid };
const families: readonly Family[] = [
  {
    name: 'client_secret_basic',
    clientId: vendor.clientId,
    openid: openid.ClientSecretBasic(vendor.clientSecret),
    oauth: oauth.ClientSecretBasic(vendor.clientSecret),
  },
  {
    name: 'client_secret_post',
    clientId: vendor.clientId,
    openid: openid.ClientSecretPost(vendor.clientSecret),
    oauth: oauth.ClientSecretPost(vendor.clientSecret),
  },
  {
    name: 'private_key_jwt with RS384',
    clientId: keyedClientId,
    openid: openid.PrivateKeyJwt(rsa),
    oauth: oauth.PrivateKeyJwt(rsa),
  },
  {
    name: 'private_key_jwt with ES384',
    clientId: keyedClientId,
    openid: openid.PrivateKeyJwt(ec),
    oauth: oauth.PrivateKeyJwt(ec),
  },
];

for (const { name, clientId, openid: authentication } of families) {
  for (const algorithm of ['oidc', 'oauth2'] as const) {
    test(`openid-client by ${algorithm} discovery and ${name}: token, call, introspection, revocation`, async () => {
      const config = await openid.discovery(issuer, clientId, undefined, authentication, {
        algorithm,
        execute: [openid.allowInsecureRequests],
        [openid.customFetch]: withKey,
      });
      const granted = await openid.clientCredentialsGrant(config, { scope: 'acl/pat_s' });
      assert.deepEqual([granted.scope, granted.expires_in, granted.token_type], ['acl/pat_s', 900, 'bearer']);
      assert.equal(await statusOf(granted.access_token), 200);
      const told = await openid.tokenIntrospection(config, granted.access_token);
      assert.deepEqual([told.active, told.client_id, told.scope], [true, clientId, 'acl/pat_s']);
      await openid.tokenRevocation(config, granted.access_token);
      assert.equal(await statusOf(granted.access_token), 401);
      assert.deepEqual(await openid.tokenIntrospection(config, granted.access_token), { active: false });
    });
  }
}

const options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: withKey };

for (const { name, clientId, oauth: authentication } of families) {
  test(`oauth4webapi from the FHIR base and by ${name}: metadata, token, call, introspection, revocation`, async () => {
    const base = new URL(maple.base);
    const resource = await oauth.processResourceDiscoveryResponse(
      base,
      await oauth.resourceDiscoveryRequest(base, options),
    );
    assert.deepEqual(resource.authorization_servers, [issuer.href]);
    const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
    const server = await oauth.processDiscoveryResponse(issuer, discovered);
    const client: oauth.Client = { client_id: clientId };
    const request = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, options);
    const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, request);
    const call = await oauth.protectedResourceRequest(
      token,
      'GET',
      new URL(`${maple.base}/Patient`),
      undefined,
      null,
      options,
    );
    assert.equal(call.status, 200);
    await call.body?.cancel();
    const introspect = async (): Promise<oauth.IntrospectionResponse> =>
      await oauth.processIntrospectionResponse(
        server,
        client,
        await oauth.introspectionRequest(server, client, authentication, token, options),
      );
    assert.equal((await introspect()).active, true);
    const revocation = await oauth.revocationRequest(server, client, authentication, token, options);
    await oauth.processRevocationResponse(revocation);
    assert.deepEqual(await introspect(), { active: false });
    assert.equal(await statusOf(token), 401);
  });
}

test('oauth4webapi reads the refusals: another client’s token, a wrong secret, a wrong scope', async () => {
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  const client: oauth.Client = { client_id: vendor.clientId };
  const refusedWith = async (attempt: Promise<unknown>): Promise<string> => {
    const error = await attempt.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error instanceof oauth.WWWAuthenticateChallengeError) return `challenge ${error.cause[0]?.scheme}`;
    return error instanceof oauth.ResponseBodyError ? error.error : String(error);
  };
  const request = async (authentication: oauth.ClientAuth, parameters: Record<string, string>): Promise<unknown> =>
    await oauth.processClientCredentialsResponse(
      server,
      client,
      await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, options),
    );
  const [right, wrong] = [oauth.ClientSecretPost(vendor.clientSecret), oauth.ClientSecretPost('wrong')];
  assert.equal(await refusedWith(request(wrong, {})), 'challenge basic');
  assert.equal(await refusedWith(request(right, { scope: 'acl/pat_u' })), 'invalid_scope');
  const stranger = await makeApplication(service, 'Stranger', ['acl/pat_s'], [maple]);
  const foreign = await clientToken(service, stranger);
  const introspected = await oauth.introspectionRequest(server, client, right, foreign, options);
  assert.deepEqual(await oauth.processIntrospectionResponse(server, client, introspected), { active: false });
  const revocation = oauth.revocationRequest(server, client, right, foreign, options);
  assert.equal(await refusedWith(revocation.then(oauth.processRevocationResponse)), 'unauthorized_client');
  assert.equal((await callerOf(maple, foreign, stranger.clientKey).get('Patient')).status, 200);
});
