/**
 * What introspection and revocation (RFC 7662, RFC 7009) leave in the ledger of the service: refusals first. The token that
 * is asked about is in no row, only the id of the asker's own.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { sql } from '../../src/database/sql.ts';
import { runCommand } from '../cli/platform.ts';
import {
  clientForm,
  clientToken,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const own = await makeApplication(service, 'Own', ['acl/pat_s'], [maple]);
const other = await makeApplication(service, 'Other', ['acl/pat_s'], [maple]);
const [{ subject } = assert.fail()] = await owner.query<{ subject: string }>(
  sql`SELECT subject::text FROM client WHERE client_id = ${own.clientId}`,
);
const asker = { subject, application: own.application.id };
const nobody = { subject: null, application: 0 };
type Action = 'introspect' | 'revoke';

let requests = 0;

/** Asks about a token; the status and the rows that this leaves. */
async function ask(action: Action, form: Readonly<Record<string, string>>, apiKey = own.clientKey) {
  const id = `token-endpoint-${++requests}`;
  const url = clientTokenUrl(service).replace(/\/token$/, action === 'revoke' ? '/revoke' : '/token/introspect');
  const { status } = await postForm(url, form, apiKey, { 'x-request-id': id });
  await service.service.parts.ledger.flush();
  const rows = await owner.query(sql`
    SELECT firm, application, interaction, id, subject, token_id, flow, shown, outcome, reason
    FROM audit_ledger WHERE request_id = ${id}`);
  return { status, rows };
}

/** The row of an action in the realm `sandbox`. */
function rowOf(action: Action, more: object): object {
  const nothing = { token_id: null, flow: null, shown: 0, outcome: 0, reason: null };
  return { firm: 0, interaction: action, id: 'sandbox', ...nothing, ...more };
}

function idOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
}

function formOf(token: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { client_id = '', client_secret = '' } = clientForm(own);
  return { client_id, client_secret, token, ...more };
}

for (const action of ['introspect', 'revoke'] as const) {
  test(`${action}: who does not prove to be a client is refused, and so is the row`, async () => {
    const token = await clientToken(service, own);
    const reason = { outcome: 4, reason: 'invalid_client' };
    assert.deepEqual(await ask(action, formOf(token, { client_secret: 'wrong' })), {
      status: 401,
      rows: [rowOf(action, { ...nobody, ...reason })],
    });
    assert.deepEqual(await ask(action, formOf(token), other.clientKey), {
      status: 401,
      rows: [rowOf(action, { ...asker, ...reason })],
    });
    assert.deepEqual(await ask(action, formOf('')), {
      status: 400,
      rows: [rowOf(action, { ...asker, outcome: 4, reason: 'invalid_request' })],
    });
    const large = { ...formOf(token), more: 'x'.repeat(70_000) };
    assert.deepEqual(await ask(action, large), {
      status: 413,
      rows: [rowOf(action, { ...nobody, outcome: 4, reason: 'invalid_request' })],
    });
  });
}

test('a foreign token is named nowhere: neither its id nor its client', async () => {
  const foreign = await clientToken(service, other);
  assert.deepEqual(await ask('introspect', formOf(foreign)), {
    status: 200,
    rows: [rowOf('introspect', asker)],
  });
  assert.deepEqual(await ask('revoke', formOf(foreign)), {
    status: 400,
    rows: [rowOf('revoke', { ...asker, outcome: 4, reason: 'unauthorized_client' })],
  });
});

test('an own token is named by its id: told of, ended, and then no longer told of', async () => {
  const token = await clientToken(service, own);
  const about = { ...asker, token_id: idOf(token), flow: 'client' };
  const steps = [
    ['introspect', { ...about, shown: 1 }],
    ['revoke', about],
    ['introspect', about],
  ] as const;
  for (const [action, row] of steps)
    assert.deepEqual(await ask(action, formOf(token)), { status: 200, rows: [rowOf(action, row)] });
  assert.deepEqual((await ask('revoke', formOf('no token'))).rows, [rowOf('revoke', asker)]);
});

test('a legacy token of the application, too', async () => {
  const token = await legacyToken(own, maple);
  const about = { ...asker, token_id: idOf(token), flow: 'legacy' };
  assert.deepEqual((await ask('introspect', formOf(token))).rows, [rowOf('introspect', { ...about, shown: 1 })]);
});

test('a token request that is refused names the client that proved to be it', async () => {
  const headers = { 'x-request-id': 'scope-1' };
  await postForm(clientTokenUrl(service), { ...clientForm(own), scope: 'acl/pat_u' }, own.clientKey, headers);
  await service.service.parts.ledger.flush();
  const rows = await owner.query(
    sql`SELECT interaction, subject, application, reason FROM audit_ledger WHERE request_id = 'scope-1'`,
  );
  assert.deepEqual(rows, [{ interaction: 'token', ...asker, reason: 'invalid_scope' }]);
});

test('operators see them with `praxis audit service`, refusals alone if they like', async () => {
  const token = await clientToken(service, other);
  await ask('revoke', formOf(token));
  const id = `token-endpoint-${requests}`;
  const lines = async (...options: readonly string[]): Promise<readonly string[]> =>
    (await runCommand(service.platform, commands, 'audit', 'service', '--csv', ...options)).output;
  const [heading, ...rows] = await lines();
  assert.equal(heading, 'TIME,ACTION,ABOUT,APPLICATION,CALLER,OUTCOME,REASON,FLOW,TOKEN,TIMES,REQUEST');
  const at = new Date(service.clock.now()).toISOString();
  assert.equal(rows[0], `${at},revoke,sandbox,Own,${subject},4,unauthorized_client,,,1,${id}`);
  assert.ok(rows.some((row) => row.includes(',token,sandbox,Own,')));
  const refused = await lines('--refused');
  assert.ok(refused.length > 1 && refused.slice(1).every((row) => row.split(',')[5] !== '0'));
  assert.deepEqual(await lines('--to', '2026-11-21'), [heading]);
  assert.ok(![heading, ...rows].join().includes(token.split('.')[2] ?? 'no signature'));
});

test('the row of a revocation is written when it is answered', async () => {
  const id = 'token-endpoint-at-once';
  const url = clientTokenUrl(service).replace(/\/token$/, '/revoke');
  const token = await clientToken(service, own);
  const { status } = await postForm(url, formOf(token), own.clientKey, { 'x-request-id': id });
  assert.equal(status, 200);
  const rows = await owner.query(sql`SELECT interaction, outcome, token_id FROM audit_ledger WHERE request_id = ${id}`);
  assert.deepEqual(rows, [{ interaction: 'revoke', outcome: 0, token_id: idOf(token) }]);
});

test('no row holds a token, a secret or a key, nor any part of them', async () => {
  const token = await clientToken(service, own);
  for (const action of ['introspect', 'revoke'] as const) await ask(action, formOf(token));
  const text = JSON.stringify(await owner.query(sql`SELECT to_jsonb(a) AS row FROM audit_ledger a`));
  for (const hidden of [...token.split('.'), clientForm(own)['client_secret'] ?? '', own.clientKey, other.clientKey])
    assert.ok(hidden.length > 20 && !text.includes(hidden));
});
