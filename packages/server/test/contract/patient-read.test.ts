/** Contract 4.4: the data endpoint that the contract shows, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { request } from '../support/raw-http.ts';
import { patient } from '../support/records.ts';
import { assertRefused, invalidToken } from '../support/refusals.ts';
import { clientToken, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const caller = await openCaller(service, full, maple);
const token = await clientToken(service, full);
const both = { authorization: `Bearer ${token}`, 'x-api-key': full.clientKey };

test('contract 4.4 path: anything else is unknown, with credentials or without', async () => {
  const meant = ': did you mean /sandbox/firm/{firm}/pm/fhir/v2/…?';
  const hints: Readonly<Record<string, string>> = {
    '/sandbox/firm/maple/pm/fhir/v2/patient': ': did you mean Patient?',
    '/sandbox/firm/maple/pm/fhir/v1/Patient': meant,
    '/Sandbox/firm/maple/pm/fhir/v2/Patient': meant,
    '/sandbox/firm/maple/PM/fhir/v2/Patient': meant,
    '/sandbox//firm/maple/pm/fhir/v2/Patient': meant,
  };
  const paths = [
    ...Object.keys(hints),
    '/sandbox/firm/maple/pm/fhir/Patient',
    '/sandbox/firm/maple/fhir/v2/Patient',
    '/sandbox/firm/Maple/pm/fhir/v2/Patient',
    '/staging/firm/maple/pm/fhir/v2/Patient',
    '/sandbox/firm/maple/other/fhir/v2/Patient',
    '/sandbox/firm//pm/fhir/v2/Patient',
    '/sandbox/firm/cedar/../maple/pm/fhir/v2/Patient',
    '/sandbox/firm/cedar/%2e%2e/maple/pm/fhir/v2/Patient',
    '/sandbox/firm/maple%2fpm/fhir/v2/Patient',
    `/sandbox/firm/${'m'.repeat(300)}/pm/fhir/v2/Patient`,
    '/sandbox/firm/m%C3%A4ple/pm/fhir/v2/Patient',
  ];
  for (const path of paths) {
    for (const headers of [{}, both]) {
      assertRefused(await request(service.origin + path, { headers }), {
        status: 404,
        error: 'path-unknown',
        issue: 'not-found',
        diagnostics: `No such path, environment, product or realm${hints[path] ?? ':'} FHIR is served at /{environment}/firm/{firm}/{product}/fhir/v2/{Type}, tokens at /auth/realms/{realm}/protocol/openid-connect/token, administration at /admin/api; all in the letters and case shown at /docs`,
      });
    }
  }
});

test('contract 4.4 Authorization is required', async () => {
  assertRefused(await request(`${maple.base}/Patient`, { headers: { 'x-api-key': full.clientKey } }), {
    status: 401,
    error: 'credentials-missing',
    issue: 'login',
    diagnostics: 'Bearer token is missing: send the header Authorization: Bearer <access token>',
    challenge: 'Bearer realm="sandbox"',
  });
});

test('contract 4.4 x-api-key is required', async () => {
  const diagnostics = 'x-api-key header is missing: send the API key of the client-credentials flow';
  assertRefused(await request(`${maple.base}/Patient`, { headers: { authorization: `Bearer ${token}` } }), {
    status: 401,
    error: 'credentials-missing',
    issue: 'login',
    diagnostics,
    challenge: invalidToken(diagnostics),
  });
});

test('contract 4.4 response, not shown: with both headers it is a Bundle of patients', async () => {
  const created = await caller.send('POST', 'Patient', patient('Quill'));
  const answer = await request(`${maple.base}/Patient`, { headers: both });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('vary'), 'Origin, Accept, Authorization, X-Api-Key');
  assert.deepEqual(answer.json, {
    resourceType: 'Bundle',
    id: answer.json.id,
    meta: { lastUpdated: '2026-11-21T09:30:00.000Z' },
    type: 'searchset',
    total: 1,
    link: [{ relation: 'self', url: `${maple.base}/Patient` }],
    entry: [
      {
        fullUrl: `${maple.base}/Patient/${created.json.id}`,
        resource: created.json,
        search: { mode: 'match' },
      },
    ],
  });
});

test('contract 4.4 other operations and parameters, not shown: those of R4', async () => {
  const other = patient('Sedge', { birthDate: '1980-02-29' });
  const created = await caller.send('POST', 'Patient', other);
  const { id } = created.json;
  const one = (path: string) => caller.get(path).then(({ status, json }) => [status, json.entry?.length]);
  assert.deepEqual(await one('Patient?family=sedge&birthdate=1980-02'), [200, 1]);
  assert.deepEqual(await one('Patient?family=sedge&birthdate=1981'), [200, undefined]);
  assert.equal((await caller.get(`Patient/${id}`)).status, 200);
  assert.equal((await caller.get(`Patient/${id}/_history`)).json.type, 'history');
  assert.equal((await caller.get(`Patient/${id}/_history/1`)).status, 200);
  assert.equal((await caller.send('PUT', `Patient/${id}`, { ...created.json, active: true })).status, 200);
  assert.equal((await caller.send('DELETE', `Patient/${id}`)).status, 204);
});
