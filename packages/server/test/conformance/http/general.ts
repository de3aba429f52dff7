/** https://hl7.org/fhir/R4/http.html#general: what holds for all interactions. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import { type Clause, forClients, shall, shallNot, should } from '../clause.ts';
import { browserOrigin, type World } from '../world.ts';

export const general: readonly Clause[] = [
  shall(
    'http-intro-1',
    'interactions',
    'A CapabilityStatement says which types and interactions are supported',
    async ({ get }) => {
      const { status, json } = await get('metadata');
      assert.deepEqual([status, json.resourceType, json.rest[0].mode], [200, 'CapabilityStatement', 'server']);
      for (const { type, interaction } of json.rest[0].resource) assert.ok(interaction.length > 0, type);
    },
  ),
  should('http-styleguide-1', 'styleguide', 'URLs are percent-encoded as RFC 3986 demands', async ({ get }) => {
    const { json } = await get(`Patient?given=${encodeURIComponent('Jürgen "O\'Neil" <{^}>')}&_count=1`);
    for (const { url } of json.link) assert.match(url, /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-F]{2})+$/);
  }),
  should('http-general-1', 'general', 'Clients encode URLs in UTF-8', forClients),
  should('http-general-2', 'general', 'URLs are decoded as UTF-8', async ({ create, get, unique }) => {
    const given = `Žofie ${unique()}`;
    const { id } = await create({ resourceType: 'Patient', name: [{ given: [given] }] });
    const { json } = await get(`Patient?given:exact=${encodeURIComponent(given)}`);
    assert.deepEqual(
      json.entry.map((entry: World['firm'] & { resource: { id: string } }) => entry.resource.id),
      [id],
    );
  }),
  shallNot(
    'http-general-3',
    'general',
    'http: and https: URLs that are otherwise equal do not stand for different things',
    async ({ create, firm, get, unique }) => {
      const { id } = await create(patient(unique()));
      const url = `${firm.base}/Patient/${id}`;
      const direct = await get(url);
      const forwarded = await get(url, { 'x-forwarded-proto': 'https' });
      assert.deepEqual(forwarded.json, direct.json);
    },
  ),
  should('http-security-1', '3.1.0.1.4', 'Health data in production go over TLS', {
    notApplicable: 'binds the deployment: TLS ends in front of the service (docs/operate/security.md)',
  }),
  should('http-security-2', '3.1.0.1.4', 'Browsers of other origins are served by CORS', async ({ firm, get }) => {
    const preflight = await fetch(`${firm.base}/Patient`, {
      method: 'OPTIONS',
      headers: {
        origin: browserOrigin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization, x-api-key',
      },
    });
    assert.equal(preflight.headers.get('access-control-allow-origin'), browserOrigin);
    const answer = await get('Patient?_count=1', { origin: browserOrigin });
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [200, browserOrigin]);
  }),
  shall(
    'http-status-1',
    'Status-Codes',
    'Status codes stand for the states that the page gives them',
    async ({ create, get, send, unique }) => {
      const { id } = await create(patient(unique()));
      const status = async (method: string, path: string, body?: unknown, headers = {}) =>
        (await send(method, path, body, headers)).status;
      assert.equal(await status('GET', `Patient/${id}`), 200);
      assert.equal(await status('GET', 'Patient/nobody'), 404);
      assert.equal(await status('GET', 'Nonsense/1'), 404);
      assert.equal(await status('PUT', `Patient/${id}`, { ...patient('Stone'), id }, { 'if-match': 'W/"9"' }), 412);
      assert.equal(await status('POST', 'Patient', { resourceType: 'Patient', gender: 'none' }), 400);
      assert.ok([200, 204].includes(await status('DELETE', `Patient/${id}`)));
      assert.equal((await get(`Patient/${id}`)).status, 410);
      assert.equal(await status('PUT', `Patient/${id}`, { ...patient('Stone'), id }), 201);
    },
  ),
  should('http-return-1', 'return', 'The Date header tells the default time zone of the server', {
    departs: 'RFC 9110 §5.6.7 lets Date be in GMT only; the time zone is one of each firm',
    case: async ({ get }) => {
      const { headers } = await get('metadata');
      assert.match(headers.get('date') ?? '', / GMT$/);
    },
  }),
  shall('http-cread-1', 'cread', 'Clients that read on a condition take 304 and the whole resource alike', forClients),
  should('http-prefer-1', 'prefer', 'Prefer: return=… is honoured by writes', async ({ send, unique }) => {
    const write = (wish: string) => send('POST', 'Patient', patient(unique()), { prefer: `return=${wish}` });
    const minimal = await write('minimal');
    assert.deepEqual([minimal.status, minimal.text], [201, '']);
    assert.equal((await write('representation')).json.resourceType, 'Patient');
    const { json } = await write('OperationOutcome');
    assert.equal(json.resourceType, 'OperationOutcome');
    for (const { severity } of json.issue) assert.match(severity, /^(?:information|warning)$/);
  }),
  should('http-prefer-2', 'prefer', 'Failures carry an OperationOutcome', async ({ get, send }) => {
    for (const answer of [
      await get('Patient/nobody'),
      await get('Nonsense'),
      await get('Patient?nonsense=1'),
      await get('Patient/a/_history/7'),
      await send('POST', 'Patient', '{'),
      await send('PUT', 'Patient/a', { resourceType: 'Patient' }),
      await send('PATCH', 'Patient/a', []),
      await send('POST', '', { resourceType: 'Bundle', type: 'batch', entry: [{}] }),
    ]) {
      assert.ok(answer.status >= 400, answer.text);
      assert.equal(answer.json.resourceType, 'OperationOutcome');
      assert.ok(answer.json.issue.length > 0);
    }
  }),
];
