/** Contract 5.9: signing keys live in the database, one active key per realm, made once by however many processes. */
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import test, { after } from 'node:test';
import { calculateJwkThumbprint } from 'jose';
import { PraxisError } from '../../../src/base/errors.ts';
import { makeDataKeys, openSecrets } from '../../../src/base/secrets.ts';
import { openDatabase } from '../../../src/database/database.ts';
import { sql } from '../../../src/database/sql.ts';
import { openSigningKeys } from '../../../src/oauth/signing/signing-keys.ts';
import { testLog } from '../../support/cluster.ts';
import { openTestDatabase } from '../../support/database.ts';
import { counting } from '../world.ts';

const { runtime: database, connections } = await openTestDatabase({ after });
const secrets = openSecrets(makeDataKeys());

/** The keys as one more process sees them: connections and memory of its own. */
async function openProcess(t: { after(work: () => Promise<void>): void }) {
  const own = await openDatabase({
    connection: connections.runtime,
    poolMax: 2,
    statementTimeoutMs: 10_000,
    log: testLog,
  });
  t.after(() => own.close());
  return openSigningKeys(own, secrets);
}

test('processes that start together make one key per realm', async (t) => {
  const processes = await Promise.all(Array.from({ length: 4 }, () => openProcess(t)));
  const signers = await Promise.all(processes.flatMap((keys) => [keys.signer('race'), keys.signer('race')]));
  assert.equal(new Set(signers.map(({ kid }) => kid)).size, 1);
  const rows = await database.query(sql`SELECT kid, state, algorithm FROM signing_key WHERE realm = 'race'`);
  assert.deepEqual(rows, [{ kid: signers[0]?.kid, state: 'active', algorithm: 'RS256' }]);
});

test('a key that another process has just made verifies here', async (t) => {
  const [here, there] = [await openProcess(t), await openProcess(t)];
  assert.equal(await here.verifier('x'.repeat(43)), undefined);
  const { kid } = await there.signer('elsewhere');
  assert.equal((await here.verifier(kid))?.realm, 'elsewhere');
});

test('an unknown, malformed or retired kid verifies nothing', async () => {
  const keys = openSigningKeys(database, secrets);
  const { kid } = await keys.signer('retiring');
  await database.query(sql`UPDATE signing_key SET state = 'retired' WHERE kid = ${kid}`);
  for (const unknown of ['', 'a', 'x'.repeat(43), 'x'.repeat(5000), "' OR true --", kid]) {
    assert.equal(await openSigningKeys(database, secrets).verifier(unknown), undefined, unknown.slice(0, 50));
  }
});

test('a key is read once per process, a kid that cannot be one not at all', async () => {
  const counted = counting(database);
  const keys = openSigningKeys(counted.database, secrets);
  const { kid } = await keys.signer('counted');
  await keys.verifier(kid);
  counted.statements = 0;
  await keys.signer('counted');
  await keys.verifier(kid);
  await keys.verifier('not-a-thumbprint');
  assert.equal(counted.statements, 0);
});

test('another secret key neither opens the private key nor makes a second one', async () => {
  await openSigningKeys(database, secrets).signer('sealed');
  const foreign = openSigningKeys(database, openSecrets(makeDataKeys()));
  await assert.rejects(foreign.signer('sealed'), (error) => {
    assert.ok(error instanceof PraxisError);
    assert.deepEqual(
      [error.code, error.details.diagnostics],
      ['internal', 'The signing key cannot be opened with PRAXIS_SECRET_KEY'],
    );
    return true;
  });
  assert.equal((await database.query(sql`SELECT 1 AS one FROM signing_key WHERE realm = 'sealed'`)).length, 1);
});

test('a sealed private key opens only as the key of its realm', async () => {
  const keys = openSigningKeys(database, secrets);
  const { kid } = await keys.signer('own');
  const [row] = await database.query<{ sealed: Buffer }>(
    sql`SELECT private_sealed AS sealed FROM signing_key WHERE kid = ${kid}`,
  );
  assert.ok(row);
  assert.equal(secrets.open('signing-key', row.sealed, `other/${kid}`), undefined);
  assert.equal(secrets.open('page-link', row.sealed, `own/${kid}`), undefined);
  assert.ok(secrets.open('signing-key', row.sealed, `own/${kid}`));
  assert.ok(!row.sealed.includes('PRIVATE'));
});

test('a failure to read is not remembered: the next caller tries again', async () => {
  let failing = true;
  const query: typeof database.query = (...call) =>
    failing ? Promise.reject(new Error('lost')) : database.query(...call);
  const keys = openSigningKeys({ ...database, query }, secrets);
  await assert.rejects(keys.signer('again'), /lost/);
  failing = false;
  assert.equal((await keys.signer('again')).realm, 'again');
});

test('what is published is public: RSA of 2,048 bits, named by its thumbprint, and never the private half', async () => {
  const [jwk, ...more] = await openSigningKeys(database, secrets).published('published');
  assert.ok(jwk);
  assert.deepEqual(more, []);
  assert.deepEqual(Object.keys(jwk).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
  assert.deepEqual({ kty: jwk.kty, alg: jwk.alg, use: jwk.use }, { kty: 'RSA', alg: 'RS256', use: 'sig' });
  assert.equal(jwk.kid, await calculateJwkThumbprint({ ...jwk }));
  assert.equal(createPublicKey({ key: { ...jwk }, format: 'jwk' }).asymmetricKeyDetails?.modulusLength, 2048);
});
