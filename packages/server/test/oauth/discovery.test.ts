/** Discovery tells what exists and nothing else (OpenID Connect Discovery 1.0 §3, RFC 8414 §2, RFC 7517 §5). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { parseEntry } from '../../src/access/grammar.ts';
import { ownEntries } from '../../src/access/registry.ts';
import { makeDataKeys, openSecrets } from '../../src/base/secrets.ts';
import { buildAuthorizationServerMetadata, openIdConfiguration, readJwkSet } from '../../src/oauth/discovery.ts';
import { openSigningKeys } from '../../src/oauth/signing/signing-keys.ts';
import { openTestDatabase } from '../support/database.ts';

const { runtime: database } = await openTestDatabase({ after });
const issuer = 'https://login.example.com/auth/realms/sandbox';

test('RFC 8414 §2: the authorization server metadata of a realm', () => {
  const { scopes_supported: scopes, ...rest } = buildAuthorizationServerMetadata(
    'https://login.example.com',
    'sandbox',
  );
  const methods = ['client_secret_post', 'client_secret_basic', 'private_key_jwt'];
  const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384'];
  assert.deepEqual(rest, {
    issuer,
    token_endpoint: `${issuer}/protocol/openid-connect/token`,
    jwks_uri: `${issuer}/protocol/openid-connect/certs`,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    introspection_endpoint: `${issuer}/protocol/openid-connect/token/introspect`,
    revocation_endpoint: `${issuer}/protocol/openid-connect/revoke`,
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
  });
  const published = scopes.filter((scope) => /^acl\/[a-z0-9_]+$/.test(scope));
  assert.equal(new Set(published).size, 104 + ownEntries.length);
  const smart = scopes.filter((scope) => !published.includes(scope));
  assert.equal(new Set(smart).size, 146);
  assert.deepEqual(smart.slice(0, 3), ['system/*.crus', 'system/Account.crus', 'system/ActivityDefinition.crus']);
  assert.ok(smart.includes('system/AuditEvent.rs') && !smart.includes('system/AuditEvent.crus'));
  assert.deepEqual(
    scopes.filter((scope) => parseEntry(scope).kind === 'refused'),
    [],
  );
});

test('OpenID Connect Discovery §3: the same, with the fields that it requires of what exists', () => {
  const {
    subject_types_supported: subjects,
    id_token_signing_alg_values_supported: algorithms,
    claims_supported: claims,
    ...rest
  } = openIdConfiguration('https://login.example.com', 'sandbox');
  assert.deepEqual(rest, buildAuthorizationServerMetadata('https://login.example.com', 'sandbox'));
  assert.deepEqual({ subjects, algorithms }, { subjects: ['public'], algorithms: ['RS256'] });
  assert.deepEqual(claims, ['iss', 'sub', 'aud', 'azp', 'client_id', 'jti', 'iat', 'exp', 'scope']);
});

test('contract 4.3: realms have keys of their own', async () => {
  const keys = openSigningKeys(database, openSecrets(makeDataKeys()));
  const [sandbox, production] = [await readJwkSet(keys, 'sandbox'), await readJwkSet(keys, 'production')];
  assert.deepEqual([sandbox.keys.length, production.keys.length], [1, 1]);
  assert.notEqual(sandbox.keys[0]?.kid, production.keys[0]?.kid);
});
