/**
 * What each request leaves in the audit ledger: refusals first, then what was shown of whom, by which entries.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import {
  type Caller,
  callerOf,
  clientForm,
  clientToken,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  postForm,
  startMs,
} from '../support/service.ts';
import { type LedgerRow, rowsOfRequest } from './ledger-rows.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const narrow = await makeApplication(service, 'Narrow', ['acl/enc_s', 'acl/pat_s_name_dob_gen'], [maple]);
const operator = await openCaller(service, full, maple);
const restricted = await openCaller(service, narrow, maple);

const encounter = {
  resourceType: 'Encounter',
  status: 'finished',
  class: { code: 'AMB' },
  subject: { reference: 'Patient/ada' },
};
for (const [path, body] of [
  ['Patient/ada', { ...patient('Stone'), id: 'ada', gender: 'female' }],
  ['Patient/bob', { ...patient('Birch'), id: 'bob', gender: 'male' }],
  ['Encounter/e1', { ...encounter, id: 'e1' }],
] as const)
  assert.equal((await operator.send('PUT', path, body)).status, 201);

let requests = 0;

/** The rows that one call leaves. */
async function rowsAfter(
  caller: Caller,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly rows: readonly LedgerRow[] }> {
  const id = `row-test-${++requests}`;
  const { status } = await caller.send(method, path, body, { ...headers, 'x-request-id': id });
  return { status, rows: await rowsOfRequest(service, id) };
}

const refused = { outcome: 4, shown: 0, elements: null } as const;
const answered = { outcome: 0, reason: null } as const;

test('a refusal names what was asked, the error and the entries of which one is missing', async () => {
  assert.deepEqual(await rowsAfter(restricted, 'GET', 'Patient/ada'), {
    status: 403,
    rows: [
      {
        ...refused,
        interaction: 'read',
        what: 'Patient/ada/',
        entries: 'acl/pat_r',
        reason: 'access-denied',
        patients: 'ada',
      },
    ],
  });
  assert.deepEqual(await rowsAfter(restricted, 'GET', 'Patient?family=Stone&address-city=Rome'), {
    status: 403,
    rows: [
      {
        ...refused,
        interaction: 'search-type',
        what: 'Patient//',
        entries: 'acl/pat_s',
        reason: 'access-denied',
        patients: null,
      },
    ],
  });
  assert.deepEqual(await rowsAfter(operator, 'GET', 'Patient/nobody'), {
    status: 404,
    rows: [
      {
        ...refused,
        interaction: 'read',
        what: 'Patient/nobody/',
        entries: null,
        reason: 'resource-not-found',
        patients: 'nobody',
      },
    ],
  });
});

test('who is turned away at the door is in the ledger of the service, equal refusals counted in one row', async () => {
  const foreign = callerOf(cedar, await clientToken(service, full), full.clientKey);
  const unknown = callerOf(maple, 'nonsense', full.clientKey);
  await Promise.all([1, 2, 3].map(() => unknown.get('Patient')));
  assert.equal((await foreign.get('Patient')).status, 403);
  await service.service.parts.ledger.flush();
  const rows = await owner.query(sql`
    SELECT firm, application, interaction, id, outcome, reason, sum(COALESCE(times, 1))::int AS times FROM audit_ledger
    WHERE interaction = 'authenticate' GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY id`);
  const door = { firm: 0, application: 0, interaction: 'authenticate', outcome: 4 };
  assert.deepEqual(rows, [
    { ...door, id: 'sandbox/cedar', reason: 'firm-forbidden', times: 1 },
    { ...door, id: 'sandbox/maple', reason: 'credentials-invalid', times: 3 },
  ]);
});

test('a read names the patient, the elements and the entries that allowed it', async () => {
  const shown = { ...answered, shown: 1, elements: 'all', entries: 'acl/*', patients: 'ada' };
  assert.deepEqual(await rowsAfter(operator, 'GET', 'Patient/ada'), {
    status: 200,
    rows: [{ ...shown, interaction: 'read', what: 'Patient/ada/' }],
  });
  assert.deepEqual(await rowsAfter(operator, 'GET', 'Encounter/e1/_history/1'), {
    status: 200,
    rows: [{ ...shown, interaction: 'vread', what: 'Encounter/e1/1' }],
  });
  assert.deepEqual(await rowsAfter(operator, 'GET', 'Patient/ada?_elements=name,gender'), {
    status: 200,
    rows: [{ ...shown, interaction: 'read', what: 'Patient/ada/', elements: 'Patient.gender Patient.name' }],
  });
});

test('a search names the patients that were asked for and those that were found, and the elements of the mask', async () => {
  assert.deepEqual(await rowsAfter(restricted, 'GET', 'Patient?gender=female,male'), {
    status: 200,
    rows: [
      {
        ...answered,
        interaction: 'search-type',
        what: 'Patient//',
        shown: 2,
        elements: 'Patient.birthDate Patient.gender Patient.name',
        entries: 'acl/pat_s_name_dob_gen',
        patients: 'ada bob',
      },
    ],
  });
  assert.deepEqual(await rowsAfter(operator, 'GET', 'Encounter?subject=Patient/nobody'), {
    status: 200,
    rows: [
      {
        ...answered,
        interaction: 'search-type',
        what: 'Encounter//',
        shown: 0,
        elements: null,
        entries: null,
        patients: 'nobody',
      },
    ],
  });
});

test('a write has one row, made in its transaction; a patch whose answer shows the resource has another', async () => {
  const wrote = { ...answered, shown: null, elements: 'all', entries: 'acl/*', patients: 'ada' };
  const change = [{ op: 'add', path: '/active', value: true }];
  const jsonPatch = { 'content-type': 'application/json-patch+json' };
  assert.deepEqual(
    await rowsAfter(operator, 'PATCH', 'Patient/ada', change, { ...jsonPatch, prefer: 'return=minimal' }),
    {
      status: 200,
      rows: [{ ...wrote, interaction: 'patch', what: 'Patient/ada/2' }],
    },
  );
  assert.deepEqual((await rowsAfter(operator, 'PATCH', 'Patient/ada', change, jsonPatch)).rows, [
    { ...wrote, interaction: 'patch', what: 'Patient/ada/3' },
    { ...wrote, interaction: 'read', what: 'Patient/ada/', shown: 1 },
  ]);
  assert.deepEqual(await rowsAfter(operator, 'PUT', 'Encounter/e2', { ...encounter, id: 'e2' }), {
    status: 201,
    rows: [{ ...wrote, interaction: 'update', what: 'Encounter/e2/1' }],
  });
  assert.deepEqual(await rowsAfter(operator, 'DELETE', 'Encounter/e2'), {
    status: 204,
    rows: [{ ...wrote, interaction: 'delete', what: 'Encounter/e2/2' }],
  });
});

test('each entry of a batch and each operation has its row', async () => {
  const entry = (url: string) => ({ request: { method: 'GET', url } });
  const batch = { resourceType: 'Bundle', type: 'batch', entry: [entry('Patient/ada'), entry('Patient/nobody')] };
  const shown = { ...answered, shown: 1, elements: 'all', entries: 'acl/*', patients: 'ada' };
  assert.deepEqual(await rowsAfter(operator, 'POST', '', batch), {
    status: 200,
    rows: [
      { ...shown, interaction: 'read', what: 'Patient/ada/' },
      {
        ...refused,
        interaction: 'read',
        what: 'Patient/nobody/',
        entries: null,
        reason: 'resource-not-found',
        patients: 'nobody',
      },
    ],
  });
  assert.deepEqual(await rowsAfter(operator, 'GET', 'Patient/ada/$everything'), {
    status: 200,
    rows: [{ ...shown, interaction: '$everything', what: 'Patient/ada/', shown: 2 }],
  });
});

test('a token request has a row in the ledger of the service, with the id of the token or the error', async () => {
  const answer = await postForm(clientTokenUrl(service), clientForm(full), full.clientKey, {
    'x-request-id': 'token-1',
  });
  const wrong = { ...clientForm(full), client_secret: 'wrong' };
  await postForm(clientTokenUrl(service), wrong, full.clientKey, { 'x-request-id': 'token-2' });
  await service.service.parts.ledger.flush();
  const rows = await owner.query(sql`
    SELECT firm, application, interaction, id, subject IS NOT NULL AS known, token_id, flow, outcome, reason
    FROM audit_ledger WHERE request_id IN ('token-1', 'token-2') ORDER BY request_id`);
  const claims = JSON.parse(Buffer.from(answer.json.access_token.split('.')[1], 'base64url').toString());
  const row = { firm: 0, interaction: 'token', id: 'sandbox', flow: 'client_credentials' };
  assert.deepEqual(rows, [
    { ...row, application: full.application.id, known: true, token_id: claims.jti, outcome: 0, reason: null },
    { ...row, application: 0, known: false, token_id: null, outcome: 4, reason: 'invalid_client' },
  ]);
});

test('every row says when, who, by which token, in which flow and at which request', async () => {
  await operator.get('Patient/ada', { 'x-request-id': 'who-1' });
  await service.service.parts.ledger.flush();
  const rows = await owner.query(sql`
    SELECT a.at, a.firm, a.application, a.subject = c.subject::text AS subject, length(a.token_id) AS token, a.flow, a.epoch
    FROM audit_ledger a JOIN client c USING (application) WHERE a.request_id = 'who-1'`);
  assert.deepEqual(rows, [
    {
      at: startMs,
      firm: maple.id,
      application: full.application.id,
      subject: true,
      token: 36,
      flow: 'client',
      epoch: 1,
    },
  ]);
});
