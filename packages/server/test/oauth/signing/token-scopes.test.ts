/** Tokens are bounded: a scope that is longer than the limit is kept beside the token, which refers to it. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { knownEntries } from '../../../src/access/registry.ts';
import { PraxisError } from '../../../src/base/errors.ts';
import { sql } from '../../../src/database/sql.ts';
import { decodeJwt } from '../../../src/oauth/signing/jwt.ts';
import { openTestDatabase } from '../../support/database.ts';
import {
  apiCall,
  bodyOf,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const scopeCharactersMax = 100;
const world = await openWorld(database, { scopeCharactersMax });
const otherNode = await openWorld(database, { scopeCharactersMax, secrets: world.secrets });
/** Far more than any header should have to hold: every token with it has to be one of few bytes. */
const tokenCharactersMax = 1_100;
const firm = await makeFirm(world);
const vendor = await makeVendor(world, knownEntries);
await makeAccount(world, vendor, firm);

test('a token whose scope is not known any more is refused, by the data API and by introspection', async () => {
  const own = await makeVendor(world, knownEntries);
  await makeAccount(world, own, firm);
  const token = fieldOf(
    await requestClientToken(world, own, undefined, { scope: knownEntries.slice(0, 60).join(' ') }),
    'access_token',
  );
  const reference = decodeJwt(token)?.claims['scope_reference'];
  await database.query(sql`DELETE FROM token_scope WHERE reference = ${reference}`);
  const call = await apiCall(world, firm, token, own.clientKey);
  await assert.rejects(world.sessions.authenticate(call), (error) => {
    assert.ok(error instanceof PraxisError);
    assert.deepEqual(
      [error.code, error.details.diagnostics],
      ['credentials-invalid', 'Bearer token refers to a scope that is not known: request a new one'],
    );
    return true;
  });
  const form = { client_id: own.clientId, client_secret: own.clientSecret, token };
  assert.deepEqual(bodyOf(await world.endpoints.introspect('sandbox', formRequest(form, []))), { active: false });
});

test('the answer holds the scope in full, the token a reference; both nodes know what it stands for', async () => {
  const reply = await requestClientToken(world, vendor);
  const token = fieldOf(reply, 'access_token');
  assert.equal(fieldOf(reply, 'scope'), [...knownEntries].toSorted().join(' '));
  const claims = decodeJwt(token)?.claims ?? {};
  assert.equal('scope' in claims, false);
  assert.match(String(claims['scope_reference']), /^[\w-]{43}$/);
  assert.ok(token.length <= tokenCharactersMax, `${token.length} characters`);
  const inline = fieldOf(
    await requestClientToken(await openWorld(database, { secrets: world.secrets }), vendor),
    'access_token',
  );
  for (const node of [world, otherNode]) {
    const [referring, carrying] = await Promise.all(
      [token, inline].map(
        async (each) => await node.sessions.authenticate(await apiCall(node, firm, each, vendor.clientKey)),
      ),
    );
    assert.equal(referring?.policy.fingerprint, carrying?.policy.fingerprint);
    assert.deepEqual(referring?.policy.entries, carrying?.policy.entries);
  }
  const form = { client_id: vendor.clientId, client_secret: vendor.clientSecret, token };
  const told = bodyOf(await otherNode.endpoints.introspect('sandbox', formRequest(form, [])));
  assert.deepEqual([told['active'], told['scope']], [true, fieldOf(reply, 'scope')]);
});

test('a scope of the limit is carried, one character more is referred to', async () => {
  const scope = await makeVendor(world, ['acl/pat_s', 'acl/enc_s']);
  const length = 'acl/enc_s acl/pat_s'.length;
  for (const [max, member] of [
    [length, 'scope'],
    [length - 1, 'scope_reference'],
  ] as const) {
    const node = await openWorld(database, { scopeCharactersMax: max, secrets: world.secrets });
    const claims = decodeJwt(fieldOf(await requestClientToken(node, scope), 'access_token'))?.claims ?? {};
    assert.deepEqual(
      ['scope', 'scope_reference'].filter((name) => name in claims),
      [member],
    );
  }
});

test('a scope is stored for as long as tokens refer to it, and then forgotten', async () => {
  const node = await openWorld(database, { scopeCharactersMax, secrets: world.secrets });
  const own = await makeVendor(node, knownEntries.slice(0, 40));
  await makeAccount(node, own, firm);
  const request = async (): Promise<string> => fieldOf(await requestClientToken(node, own), 'access_token');
  const first = await request();
  node.clock.advance(899_000);
  const second = await request();
  node.clock.advance(899_000);
  const third = await request();
  for (const token of [second, third])
    await node.sessions.authenticate(await apiCall(node, firm, token, own.clientKey));
  assert.equal(decodeJwt(first)?.claims['scope_reference'], decodeJwt(third)?.claims['scope_reference']);
  node.clock.advance(86_400_000);
  const later = await makeVendor(node, knownEntries.slice(0, 41));
  await requestClientToken(node, later);
  const rows = await database.query(
    sql`SELECT reference FROM token_scope WHERE reference = ${decodeJwt(first)?.claims['scope_reference']}`,
  );
  assert.deepEqual(rows, []);
});
