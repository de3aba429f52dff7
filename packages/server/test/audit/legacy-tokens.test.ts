/**
 * Tokens of the legacy endpoint, which names a firm, in the ledger of that firm: refusals first. Only who has proved to have
 * an account at the firm leaves anything there, and no answer tells whether it did.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { sql } from '../../src/database/sql.ts';
import { revokeLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
import { revokeAuthorisation } from '../../src/tenancy/authorisations.ts';
import { runCommand } from '../cli/platform.ts';
import {
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const own = await makeApplication(service, 'Own', ['acl/*'], [maple]);
const other = await makeApplication(service, 'Other', ['acl/pat_s'], [maple, cedar]);
const reader = await openCaller(service, own, maple);
const nowhere = maple.legacyTokenUrl.replace('/maple/', '/nowhere/');

let requests = 0;

/** Asks for a token; the answer, and the rows that this leaves, the service's first. */
async function ask(url: string, form: Readonly<Record<string, string>>, apiKey = own.legacyKey) {
  const id = `legacy-${++requests}`;
  const { status, json } = await postForm(url, form, apiKey, { 'x-request-id': id });
  await service.service.parts.ledger.flush();
  const rows = await owner.query<{ firm: number; flow: string | null }>(sql`
    SELECT firm, application, interaction, id, subject, token_id, flow, outcome, reason
    FROM audit_ledger WHERE request_id = ${id} ORDER BY firm`);
  return { status, json, rows };
}

async function subjectOf({ accounts }: typeof own, firm: typeof maple): Promise<string> {
  const [row] = await owner.query<{ subject: string }>(
    sql`SELECT subject FROM legacy_account WHERE firm = ${firm.id} AND username = ${accounts.get(firm.prefix)?.username ?? ''}`,
  );
  return row?.subject ?? assert.fail();
}

const subject = await subjectOf(own, maple);

function idOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
}

const refusals: readonly (readonly [
  what: string,
  url: string,
  form: Readonly<Record<string, string>>,
  apiKey: string,
  reason: string,
])[] = [
  [
    'a wrong password',
    maple.legacyTokenUrl,
    { ...passwordForm(own, maple), password: 'no' },
    own.legacyKey,
    'invalid_grant',
  ],
  [
    'an unknown account',
    maple.legacyTokenUrl,
    { ...passwordForm(own, maple), username: 'no' },
    own.legacyKey,
    'invalid_grant',
  ],
  ['an account of another firm', cedar.legacyTokenUrl, passwordForm(own, maple), own.legacyKey, 'invalid_grant'],
  ['a firm that there is not', nowhere, passwordForm(own, maple), own.legacyKey, 'invalid_grant'],
  ['the key of another application', maple.legacyTokenUrl, passwordForm(own, maple), other.legacyKey, 'invalid_client'],
  ['a key that there is not', maple.legacyTokenUrl, passwordForm(own, maple), 'no', 'invalid_client'],
  ['no password', maple.legacyTokenUrl, { grant_type: 'password', username: 'x' }, own.legacyKey, 'invalid_request'],
];

for (const [what, url, form, apiKey, reason] of refusals) {
  test(`${what} leaves a row in the service's ledger, and in no firm's`, async () => {
    const { rows } = await ask(url, form, apiKey);
    const place = `sandbox/${new URL(url).pathname.split('/')[3]}`;
    const nobody = { application: 0, subject: null, token_id: null };
    assert.deepEqual(rows, [
      { firm: 0, ...nobody, interaction: 'token', id: place, flow: 'password', outcome: 4, reason },
    ]);
  });
}

test('firms that are there and not are answered alike, and so are accounts', async () => {
  const wrong = { ...passwordForm(own, maple), password: 'no' };
  const answers = [
    await ask(maple.legacyTokenUrl, wrong),
    await ask(cedar.legacyTokenUrl, wrong),
    await ask(nowhere, wrong),
  ];
  const [first, ...others] = answers.map(({ status, json }) => ({ status, json }));
  assert.equal(first?.status, 400);
  for (const answer of others) assert.deepEqual(answer, first);
});

test('an issued token leaves its row in both ledgers, by password and by refresh token', async () => {
  const byPassword = await ask(maple.legacyTokenUrl, passwordForm(own, maple));
  assert.equal(byPassword.status, 200);
  const refresh = { grant_type: 'refresh_token', refresh_token: byPassword.json.refresh_token };
  const byRefresh = await ask(maple.legacyTokenUrl, refresh);
  for (const [answer, flow] of [
    [byPassword, 'password'],
    [byRefresh, 'refresh_token'],
  ] as const) {
    const row = {
      ...{ application: own.application.id, interaction: 'token', id: 'sandbox/maple', subject, flow },
      ...{ token_id: idOf(answer.json.access_token), outcome: 0, reason: null },
    };
    assert.deepEqual(answer.rows, [
      { firm: 0, ...row },
      { firm: maple.id, ...row },
    ]);
  }
});

test('a token of client credentials belongs to no firm: the service alone has its row', async () => {
  const { status, rows } = await ask(clientTokenUrl(service), clientForm(own), own.clientKey);
  assert.equal(status, 200);
  assert.deepEqual(
    rows.map(({ firm, flow }) => ({ firm, flow })),
    [{ firm: 0, flow: 'client_credentials' }],
  );
});

test('the practice finds who got a token as AuditEvent; other firms and who may not read the ledger do not', async () => {
  const { json } = await ask(maple.legacyTokenUrl, passwordForm(own, maple));
  const logins = 'AuditEvent?subtype=http://dicom.nema.org/resources/ontology/DCM|110122';
  const { json: bundle } = await reader.get(logins);
  const [newest] = bundle.entry;
  assert.deepEqual(newest.resource.type.code, '110114');
  assert.equal(newest.resource.outcome, '0');
  assert.equal(newest.resource.agent[0].who.display, 'Own');
  assert.equal(newest.resource.agent[0].altId, subject);
  const details: readonly { readonly type: string; readonly valueString: string }[] = newest.resource.entity[0].detail;
  assert.equal(details.find(({ type }) => type === 'token')?.valueString, idOf(json.access_token));
  assert.equal((await (await openCaller(service, other, maple)).get(logins)).status, 403);
  const elsewhere = await makeApplication(service, 'Elsewhere', ['acl/*'], [cedar]);
  assert.equal((await (await openCaller(service, elsewhere, cedar)).get(logins)).json.total, 0);
});

test('who has proved the account is refused in the sight of the firm', async () => {
  const { database } = service.platform;
  const refused = { outcome: 4, interaction: 'token', flow: 'password', token_id: null, reason: 'invalid_grant' };
  const row = { ...refused, application: other.application.id };
  await revokeAuthorisation(database, cedar, other.application);
  assert.deepEqual((await ask(cedar.legacyTokenUrl, passwordForm(other, cedar), other.legacyKey)).rows, [
    { firm: 0, ...row, id: 'sandbox/cedar', subject: await subjectOf(other, cedar) },
    { firm: cedar.id, ...row, id: 'sandbox/cedar', subject: await subjectOf(other, cedar) },
  ]);
  await revokeLegacyAccount(database, maple, other.accounts.get('maple')?.username ?? '');
  assert.deepEqual((await ask(maple.legacyTokenUrl, passwordForm(other, maple), other.legacyKey)).rows, [
    { firm: 0, ...row, id: 'sandbox/maple', subject: await subjectOf(other, maple) },
    { firm: maple.id, ...row, id: 'sandbox/maple', subject: await subjectOf(other, maple) },
  ]);
});

test('no row holds a token or a password, and all of them are proven', async () => {
  const { json } = await ask(maple.legacyTokenUrl, passwordForm(own, maple));
  const text = JSON.stringify(await owner.query(sql`SELECT to_jsonb(a) AS row FROM audit_ledger a`));
  const { password = '' } = passwordForm(own, maple);
  for (const hidden of [password, own.legacyKey, json.access_token.split('.')[2], json.refresh_token.split('.')[2]])
    assert.ok(hidden.length > 20 && !text.includes(hidden));
  const { exitStatus, output } = await runCommand(service.platform, commands, 'audit', 'verify');
  assert.equal(exitStatus, 0, output.join('\n'));
});
