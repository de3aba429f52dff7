/** docs/integrate/contract.md#fhir: raw requests and logs. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { captureLog } from '../support/captured-log.ts';
import { exchange, request } from '../support/raw-http.ts';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import {
  type Answer,
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const captured = captureLog();
const service = await openTestService({ after }, {}, captured.log);
const maple = await makeFirm(service, 'maple');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const caller = await openCaller(service, full, maple);
const path = new URL(maple.base).pathname;

const mrn = { system: 'urn:oid:1.2.3', value: 'MM59' };
const made = await caller.send('POST', 'Patient', {
  ...patient('Zanzibar'),
  name: [{ family: 'Zanzibar', given: ['Jürgen', 'Ann {Q}'] }],
  identifier: [mrn],
  birthDate: '1961-07-03',
});
assert.equal(made.status, 201);

/** Sends the request line as it is written. */
function sendRaw(line: string, encoding: 'latin1' | 'utf8' = 'utf8'): Promise<Answer> {
  const head = [
    line,
    `Host: ${new URL(service.origin).host}`,
    `Authorization: ${caller.headers['authorization']}`,
    `X-Api-Key: ${full.clientKey}`,
    'Connection: close',
  ];
  return exchange(service.origin, Buffer.from(`${head.join('\r\n')}\r\n\r\n`, encoding));
}

test('settled raw-requests: raw spaces and raw UTF-8 cannot be parsed by HTTP, the answer is still an OperationOutcome', async () => {
  const diagnostics = 'The request line or a header is not valid HTTP: percent-encode spaces and all beyond ASCII';
  for (const line of [
    `GET ${path}/Patient?name=Ann Quill HTTP/1.1`,
    `GET ${path}/Patient?date=ge2026-01-01 10:00 HTTP/1.1`,
    `GET ${path}/Patient?name=\u0007 HTTP/1.1`,
    `GET ${path}/Patient?given=Jürgen HTTP/1.1`,
    'nonsense',
  ]) {
    const { status, headers, json } = await sendRaw(line);
    assert.equal(status, 400, line);
    assert.equal(headers.get('content-type'), 'application/fhir+json; charset=utf-8');
    assert.deepEqual(json, {
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'error',
          code: 'invalid',
          diagnostics,
          details: {
            coding: [{ system: 'https://praxis.health/fhir/CodeSystem/error', code: 'request-malformed' }],
            text: diagnostics,
          },
        },
      ],
    });
  }
});

test('settled raw-requests: headers that are too long are refused with an OperationOutcome', async () => {
  const { status, json } = await sendRaw(`GET ${path}/Patient HTTP/1.1\r\nX-Long: ${'x'.repeat(60_000)}`);
  assert.equal(status, 431);
  assert.equal(json.issue[0].details.coding[0].code, 'request-malformed');
});

test('settled raw-requests: unencoded | { } : , work', async () => {
  const targets = [
    `${path}/Patient?identifier=urn:oid:1.2.3|MM59`,
    `${path}/Patient?identifier=nothing|0,urn:oid:1.2.3|MM59`,
    `${path}/Patient?given:exact=Ann%20{Q}`,
    `${path}/Patient?given:contains={Q}`,
    `${path}/Patient?birthdate=1961-07-03,1961-07-04`,
  ];
  for (const target of targets) {
    const { status, json } = await sendRaw(`GET ${target} HTTP/1.1`);
    assert.deepEqual([status, json.total], [200, 1], target);
    assert.equal(json.entry[0].resource.id, made.json.id);
  }
});

test('settled logs: no query value, body, credential or id is ever logged, also not of refusals and faults', async () => {
  const secrets = ['Zanzibar', 'MM59', '1961-07-03', made.json.id, full.clientKey, full.legacyKey, full.clientSecret];
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  await caller.get('Patient?family=Zanzibar&identifier=urn:oid:1.2.3|MM59&birthdate=1961-07-03');
  await caller.get(`Patient/${made.json.id}`);
  await caller.get('Patient?birthdate=Zanzibar');
  await caller.get('Patient?Zanzibar=1');
  await caller.send('POST', 'Patient/_search', 'family=Zanzibar', form);
  await caller.send('POST', 'Patient', { ...patient('Zanzibar'), birthDate: 'Zanzibar' });
  await caller.send('POST', 'Patient', '{"Zanzibar":');
  await callerOf(maple, 'Zanzibar', 'Zanzibar').get('Patient');
  await postForm(clientTokenUrl(service), { ...clientForm(full), client_secret: 'Zanzibar' }, full.clientKey);
  await postForm(maple.legacyTokenUrl, passwordForm(full, maple), full.legacyKey);
  await request(`${service.origin}/Zanzibar?family=Zanzibar`);
  const { password = '' } = passwordForm(full, maple);
  const { length } = captured.lines;
  assert.ok(length > 10);
  for (const line of captured.lines) {
    for (const secret of [...secrets, password, caller.headers['authorization']?.slice(7) ?? '']) {
      assert.equal(line.includes(secret), false, line);
    }
  }
});

test('settled logs: a fault is logged with its request id and without values', async () => {
  const broken = await openTestService({ after }, {}, captured.log);
  const firm = await makeFirm(broken, 'maple');
  const application = await makeApplication(broken, 'Full', ['acl/*'], [firm]);
  const there = await openCaller(broken, application, firm);
  await broken.database.owner.query(sql`ALTER TABLE index_string RENAME TO index_string_gone`);
  const before = captured.lines.length;
  const answer = await there.get('Patient?family=Zanzibar', { 'x-request-id': 'fault-1' });
  assertRefused(answer, {
    status: 500,
    error: 'internal',
    issue: 'exception',
    diagnostics: 'An unexpected fault; the X-Request-Id of this answer finds it in the log',
  });
  assert.equal(answer.headers.get('x-request-id'), 'fault-1');
  const lines = captured.lines.slice(before).filter((line) => line.includes('fault-1') && line.includes('"level":50'));
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.includes('Zanzibar'), false);
  await broken.database.owner.query(sql`ALTER TABLE api_key RENAME TO api_key_gone`);
  const refused = await postForm(clientTokenUrl(broken), clientForm(application), application.clientKey, {
    'x-request-id': 'fault-2',
  });
  assert.deepEqual(refused.json, {
    error: 'server_error',
    error_description: 'An unexpected fault: the request id finds it in the log',
  });
  assert.equal(refused.status, 500);
  assert.ok(captured.lines.some((line) => line.includes('fault-2') && line.includes('"level":50')));
});
