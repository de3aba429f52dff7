/**
 * The examples of refusals in the OpenAPI document are answers of the service: each is provoked and compared as a whole.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { errorTable } from '../../src/base/errors.ts';
import { addBrownOut, setSunset } from '../../src/oauth/legacy/sunset-administration.ts';
import { errorExamples } from '../../src/openapi/error-examples.ts';
import { getEnvironment } from '../../src/tenancy/environments.ts';
import {
  clientForm,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
  startMs,
} from '../support/service.ts';
import { openWire, type WireRequest } from '../support/wire.ts';

const requestsPerMinute = 1250;
const service = await openTestService({ after }, { PRAXIS_RATE_LIMIT: String(requestsPerMinute) });
const maple = await makeFirm(service, 'maple');
await makeFirm(service, 'birch');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const narrow = await makeApplication(service, 'Narrow', ['acl/enc_s'], [maple]);
const busy = await makeApplication(service, 'Busy', ['acl/*'], [maple]);
const { headers, send } = await openCaller(service, operator, maple);
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';
const json = { ...headers, 'content-type': 'application/fhir+json' };

interface Provocation extends WireRequest {
  /** What has to be there before. */
  readonly prepare?: () => Promise<unknown>;
}

function get(path: string, more: Readonly<Record<string, string>> = {}): Provocation {
  return { path: `${base}/${path}`, headers: { ...headers, ...more } };
}

function sent(
  method: string,
  path: string,
  body: object | string | Buffer,
  more: Readonly<Record<string, string>> = {},
): Provocation {
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return { method, path: `${base}/${path}`, headers: { ...json, ...more }, body: bytes };
}

const one = { resourceType: 'Patient', id: '1' };
const composition = {
  resourceType: 'Composition',
  id: 'visit',
  status: 'final',
  type: { text: 'Note' },
  subject: { reference: 'Patient/none' },
  date: '2026-11-21',
  author: [{ display: 'Ada Quill' }],
  title: 'Visit',
};
const half = 11_000;
const manyCodes = {
  resourceType: 'CodeSystem',
  id: 'many',
  url: 'https://example.com/many',
  status: 'active',
  content: 'complete',
  concept: [1, 2].map((group) => ({
    code: `group-${group}`,
    concept: Array.from({ length: half }, (_, at) => ({ code: `${group}-${at}` })),
  })),
};

function valueSet(compose: object): object {
  const resource = { resourceType: 'ValueSet', url: 'https://example.com/codes', status: 'active', ...compose };
  return { resourceType: 'Parameters', parameter: [{ name: 'valueSet', resource }] };
}

const provocations: Readonly<Record<string, Provocation>> = {
  'path-unknown': get('patients'),
  'credentials-missing': { path: `${base}/Patient`, headers: { 'x-api-key': operator.clientKey } },
  'credentials-invalid': get('Patient', { authorization: 'Bearer wrong' }),
  'firm-forbidden': { path: base.replace('maple', 'birch'), headers },
  'type-unknown': get('Pacient'),
  'method-not-allowed': get('Patient/_search'),
  'upgrade-required': { path: base.replace('fhir/v2', 'ws/subscriptions'), headers: {} },
  'method-unknown': { ...get('Patient'), method: 'FOO' },
  'operation-unknown': get('Patient/$book'),
  'not-acceptable': get('Patient', { accept: 'text/html' }),
  'media-type-unsupported': sent('POST', 'Patient', 'Ada', { 'content-type': 'text/plain' }),
  'body-too-large': sent('POST', 'Patient', Buffer.alloc(5_242_881, ' ')),
  'uri-too-long': get(`Patient?name=${'a'.repeat(16_384)}`),
  'request-malformed': sent('POST', 'Patient', Buffer.from([0xff])),
  'json-malformed': sent('POST', 'Patient', '{'),
  'xml-malformed': sent('POST', 'Patient', '<Patient', {
    'content-type': 'application/fhir+xml',
    accept: 'application/fhir+json',
  }),
  'resource-invalid': sent('POST', 'Patient', { resourceType: 'Patient', birthDate: '29.02.1980' }),
  'resource-type-mismatch': sent('POST', 'Patient', { resourceType: 'Person' }),
  'resource-id-mismatch': sent('PUT', 'Patient/1', { resourceType: 'Patient' }),
  'id-invalid': get('Patient/abc_def'),
  'header-invalid': sent('PUT', 'Patient/1', one, { 'if-match': 'latest' }),
  'search-invalid': get('Patient?birthdate=29.02.1980'),
  'operation-parameter-invalid': get('ValueSet/$expand?count=many'),
  'cursor-invalid': get('Patient?_cursor=altered'),
  'page-too-deep': get('Patient?page=300'),
  'invariant-broken': sent('POST', 'Bundle', {
    resourceType: 'Bundle',
    type: 'collection',
    entry: [{ fullUrl: 'https://example.com/Patient/1' }],
  }),
  'search-parameter-unservable': sent('POST', 'SearchParameter', {
    resourceType: 'SearchParameter',
    url: 'https://example.com/SearchParameter/nearest',
    name: 'Nearest',
    status: 'active',
    description: 'The nearest ones.',
    code: 'nearest',
    base: ['Patient'],
    type: 'special',
    expression: 'Patient.address',
  }),
  'rule-broken': {
    ...get('Composition/visit/$document'),
    prepare: () => send('PUT', 'Composition/visit', composition),
  },
  'bundle-invalid': sent('POST', '', { resourceType: 'Bundle', type: 'collection' }),
  'bundle-too-large': sent('POST', '', {
    resourceType: 'Bundle',
    type: 'batch',
    entry: Array.from({ length: 10_001 }, () => ({ request: { method: 'GET', url: 'Patient/1' } })),
  }),
  'patch-invalid': sent('PATCH', 'Patient/2', [{ op: 'change', path: '/gender' }], {
    'content-type': 'application/json-patch+json',
  }),
  'patch-failed': {
    ...sent('PATCH', 'Patient/2', [{ op: 'test', path: '/gender', value: 'female' }], {
      'content-type': 'application/json-patch+json',
    }),
    prepare: () => send('PUT', 'Patient/2', { resourceType: 'Patient', id: '2', gender: 'male' }),
  },
  'profile-unknown': sent('POST', 'Patient/$validate?profile=https://example.com/none', { resourceType: 'Patient' }),
  'value-set-unknown': get('ValueSet/$expand?url=https://example.com/none'),
  'code-system-unknown': get('CodeSystem/$lookup?system=https://example.com/none&code=a'),
  'code-unknown': get('CodeSystem/$lookup?system=http://hl7.org/fhir/administrative-gender&code=a'),
  'value-set-invalid': sent('POST', 'ValueSet/$expand', valueSet({})),
  'expansion-too-costly': {
    ...sent('POST', 'ValueSet/$expand', valueSet({ compose: { include: [{ system: manyCodes.url }] } })),
    prepare: () => send('PUT', 'CodeSystem/many', manyCodes),
  },
  'too-costly': sent(
    'POST',
    'ValueSet/$expand',
    valueSet({
      compose: {
        include: [
          {
            system: 'http://hl7.org/fhir/administrative-gender',
            filter: [{ property: 'code', op: 'regex', value: '(((){1000}){1000}){10}' }],
          },
        ],
      },
    }),
  ),
  'labels-too-many': {
    ...get('Patient/$meta'),
    prepare: () =>
      send('PUT', 'Patient/3', {
        resourceType: 'Patient',
        id: '3',
        meta: { tag: Array.from({ length: 501 }, (_, at) => ({ system: 'https://example.com/tags', code: `${at}` })) },
      }),
  },
  'answer-too-large': {
    ...sent('POST', '', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: Array.from({ length: 17 }, () => ({ request: { method: 'GET', url: 'Patient/5' } })),
    }),
    prepare: () =>
      send('PUT', 'Patient/5', {
        resourceType: 'Patient',
        id: '5',
        name: Array.from({ length: 20 }, () => ({ text: 'x'.repeat(200_000) })),
      }),
  },
  'resource-not-found': get('Patient/1'),
  'resource-deleted': {
    ...get('Patient/4'),
    async prepare() {
      await send('PUT', 'Patient/4', { resourceType: 'Patient', id: '4' });
      await send('DELETE', 'Patient/4');
    },
  },
  'precondition-failed': sent('PUT', 'Patient/2', { resourceType: 'Patient', id: '2' }, { 'if-match': 'W/"7"' }),
  'key-reused': {
    ...sent('POST', 'Patient', { resourceType: 'Patient' }, { 'idempotency-key': '"key"' }),
    prepare: () =>
      wire.send(sent('POST', 'Patient', { resourceType: 'Patient', active: true }, { 'idempotency-key': '"key"' })),
  },
};
/**
 * Faults, races and restores that no single request brings about, what takes a calendar or content: the other tests of
 * the service show them.
 */
const unprovoked = [
  'conflict',
  'export-ended',
  'feed-ended',
  'link-ended',
  'range-invalid',
  'slot-missing',
  'slot-taken',
  'statement-timeout',
  'unavailable',
  'stale-access',
  'internal',
];

/** The value of an example, by the code of its error. */
const { components, paths } = (await wire.send({ path: '/openapi.json' })).json;

async function assertIsExample(code: string, { prepare, ...request }: Provocation): Promise<void> {
  await prepare?.();
  const { status, json: body } = await wire.send(request);
  assert.deepEqual(body, components.examples[code]?.value, code);
  const { examples } = components.responses[status].content['application/fhir+json'];
  assert.deepEqual(examples[code], { $ref: `#/components/examples/${code}` }, code);
}

for (const [code, provocation] of Object.entries(provocations)) {
  test(`the example of ${code} is what the service answers`, () => assertIsExample(code, provocation));
}

test('the example of access-denied is what the service answers to a restricted token', async () => {
  const { headers: own } = await openCaller(service, narrow, maple);
  await assertIsExample('access-denied', { path: `${base}/Patient/1`, headers: own });
});

test('the example of rate-exceeded is what the service answers beyond the limit', async () => {
  const { headers: own } = await openCaller(service, busy, maple);
  const request = { path: `${base}/Nonsense`, headers: own };
  await Promise.all(Array.from({ length: requestsPerMinute }, () => wire.send(request)));
  await assertIsExample('rate-exceeded', request);
});

test('the examples of legacy-paused and legacy-ended are what the service answers to legacy tokens', async () => {
  const token = await legacyToken(operator, maple);
  const request = {
    path: `${base}/Patient`,
    headers: { authorization: `Bearer ${token}`, 'x-api-key': operator.legacyKey },
  };
  const { database, clock } = service.platform;
  const scope = { environment: await getEnvironment(database, 'sandbox'), application: operator.application };
  await addBrownOut(database, clock, scope, { startsAtMs: startMs, endsAtMs: Date.UTC(2026, 10, 21, 10) });
  await assertIsExample('legacy-paused', request);
  const sunsetAtMs = Date.UTC(2026, 10, 1);
  await setSunset(database, scope, { deprecatedAtMs: 0, sunsetAtMs, link: 'https://example.com/migrate' });
  await assertIsExample('legacy-ended', request);
});

test('the example of credentials-expired is what the service answers in the end', async () => {
  service.clock.advance(901_000);
  await assertIsExample('credentials-expired', get('Patient'));
});

test('every error of the table that can be answered has an example, under its status', () => {
  const last = ['access-denied', 'rate-exceeded', 'credentials-expired', 'legacy-ended', 'legacy-paused'];
  const provoked = [...Object.keys(provocations), ...last];
  assert.deepEqual([...provoked, ...unprovoked].sort(), Object.keys(errorExamples).sort());
  const never = Object.keys(errorTable).filter((code) => !Object.hasOwn(errorExamples, code));
  assert.deepEqual(never, ['role-missing', 'input-invalid', 'duplicate']);
  for (const code of Object.keys(errorExamples)) {
    const [coding] = components.examples[code].value.issue[0].details.coding;
    assert.equal(coding.code, code);
  }
});

test('both token endpoints refuse as their examples say', async () => {
  const client = clientForm(operator);
  const clientUrl = clientTokenUrl(service);
  const legacy = passwordForm(operator, maple);
  const key = { client: operator.clientKey, legacy: operator.legacyKey };
  const refused: readonly (readonly [string, string, Record<string, string>, string])[] = [
    ['client.invalid_request', clientUrl, {}, key.client],
    ['client.unsupported_grant_type', clientUrl, { grant_type: 'password' }, key.client],
    ['client.invalid_client', clientUrl, { ...client, client_secret: 'wrong' }, key.client],
    ['client.invalid_scope', clientUrl, { ...clientForm(narrow), scope: 'acl/pat_u' }, narrow.clientKey],
    ['legacy.invalid_request', maple.legacyTokenUrl, {}, key.legacy],
    ['legacy.unsupported_grant_type', maple.legacyTokenUrl, { grant_type: 'client_credentials' }, key.legacy],
    ['legacy.invalid_grant', maple.legacyTokenUrl, { ...legacy, password: 'wrong' }, key.legacy],
    ['legacy.invalid_client', maple.legacyTokenUrl, legacy, 'wrong'],
  ];
  for (const [name, url, form, apiKey] of refused) {
    const { status, json: body } = await postForm(url, form, apiKey);
    assert.deepEqual(body, components.examples[name]?.value, name);
    const [endpoint = '', code = ''] = name.split('.');
    const { responses } = endpoint === 'client' ? paths[clientPath].post : paths[legacyPath].post;
    assert.deepEqual(responses[status].content['application/json'].examples[code], {
      $ref: `#/components/examples/${name}`,
    });
  }
});

const clientPath = '/auth/realms/{realm}/protocol/openid-connect/token';
const legacyPath = '/{environment}/firm/{firm}/{product}/ws/oauth2/grant';
