/**
 * Secrets, API keys and signing keys are changed while two nodes issue and take tokens without pause: no request fails.
 * Each worker asks one node for a token and uses it at both.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { issueApiKey, revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { addClientSecret, endClientSecret, listClientSecrets } from '../../../src/oauth/client-auth/client-secrets.ts';
import { decodeJwt } from '../../../src/oauth/signing/jwt.ts';
import {
  activateSigningKey,
  publishedMsMin,
  publishSigningKey,
  retireSigningKey,
  verifyingMsMin,
} from '../../../src/oauth/signing/signing-key-rotation.ts';
import { signerRememberedMs } from '../../../src/oauth/signing/signing-keys.ts';
import { openTestDatabase } from '../../support/database.ts';
import { apiCall, fieldOf, makeAccount, makeFirm, makeVendor, openWorld, requestClientToken } from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const first = await openWorld(database);
const nodes = [first, await openWorld(database, { secrets: first.secrets })];
const firm = await makeFirm(first);
const issued = await makeVendor(first);
await makeAccount(first, issued, firm);
const { application, clientId } = issued;

/** What the vendor has deployed; workers take it at the beginning of each round. */
let deployed = issued;
const failures: string[] = [];
const kids = new Set<string>();
const rounds: number[] = [];
let isStopped = false;

async function work(worker: number): Promise<void> {
  for (rounds[worker] = 0; !isStopped; rounds[worker] = (rounds[worker] ?? 0) + 1) {
    const vendor = deployed;
    try {
      const node = nodes[worker % nodes.length] ?? first;
      const token = fieldOf(await requestClientToken(node, vendor), 'access_token');
      kids.add(decodeJwt(token)?.header.kid ?? '');
      for (const each of nodes) {
        const call = await apiCall(each, firm, token, vendor.clientKey);
        if (!(await each.sessions.current(await each.sessions.authenticate(call)))) await each.sessions.recheck(call);
      }
    } catch (error) {
      failures.push(String(error));
    }
  }
}

/** Until every worker has done a whole round with what is deployed, and with the time that it is. */
async function settle(): Promise<void> {
  const before = [...rounds];
  const isBehind = (): boolean => rounds.some((round, worker) => round < (before[worker] ?? 0) + 2);
  while (isBehind()) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets time pass in steps that no token notices between its issue and its use. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 300_000) {
    for (const { clock } of nodes) clock.advance(Math.min(left, 300_000));
    await settle();
  }
}

test('rotation of secret, API key and signing key under load fails no request', async () => {
  const workers = Array.from({ length: 8 }, (_, worker) => work(worker));
  await settle();
  const [oldSecret] = await listClientSecrets(database, application, clientId);
  const { clientSecret } = await addClientSecret(database, first.secrets, application, clientId);
  await settle();
  deployed = { ...deployed, clientSecret };
  await settle();
  await endClientSecret(database, application, clientId, oldSecret?.id ?? 0, 'retired');
  await settle();

  const key = await issueApiKey(database, first.secrets, application, 'client', 'next');
  await settle();
  deployed = { ...deployed, clientKey: key.apiKey, clientKeyId: key.id };
  await settle();
  await revokeApiKey(database, application, issued.clientKeyId);
  await settle();

  const [oldKid = ''] = kids;
  const newKid = await publishSigningKey(first, 'sandbox');
  await pass(publishedMsMin);
  await activateSigningKey(first, 'sandbox', false);
  await settle();
  await pass(signerRememberedMs);
  kids.clear();
  await pass(verifyingMsMin - signerRememberedMs);
  await retireSigningKey(first, 'sandbox', oldKid, false);
  await settle();
  isStopped = true;
  await Promise.all(workers);

  assert.deepEqual(failures, []);
  assert.deepEqual([...kids], [newKid]);
  assert.equal((await requestClientToken(first, issued)).status, 401, 'the old secret and key are gone');
});
