/** docs/integrate/contract.md#order-of-checks: the documentation is open. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { request } from '../support/raw-http.ts';
import { openTestService } from '../support/service.ts';

const service = await openTestService({ after }, { PRAXIS_ENVIRONMENT_ORIGINS: 'prod=https://api.example.com' });
const wrong = { authorization: 'Bearer wrong', 'x-api-key': 'wrong' };

const contentTypes: Readonly<Record<string, string>> = {
  '/openapi.json': 'application/json; charset=utf-8',
  '/docs': 'text/html; charset=utf-8',
  '/docs/reference.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  '/docs/openapi/Patient.json': 'application/json; charset=utf-8',
  '/docs/LICENSE': 'text/plain; charset=utf-8',
};

test('settled open-paths openapi and documentation: they need no credentials, and wrong ones change nothing', async () => {
  for (const [path, contentType] of Object.entries(contentTypes)) {
    const answer = await request(service.origin + path);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, contentType], path);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path);
    const withWrong = await request(service.origin + path, { headers: wrong });
    assert.deepEqual([withWrong.status, withWrong.text], [200, answer.text], path);
  }
});

test('settled open-paths openapi and documentation: what is no part of them is no path', async () => {
  for (const path of [
    '/docs/',
    '/docs/package.json',
    '/docs/openapi/Pacient.json',
    '/docs/../package.json',
    '/openapi',
  ]) {
    const { status, json } = await request(service.origin + path);
    assert.deepEqual([status, json.issue[0].details.coding[0].code], [404, 'path-unknown'], path);
  }
  const refused = await request(`${service.origin}/openapi.json`, { method: 'POST' });
  assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD']);
});

test('settled open-paths openapi and documentation: an ETag spares the transfer, and the text is compressed', async () => {
  const url = `${service.origin}/openapi.json`;
  const plain = await request(url);
  const etag = plain.headers.get('etag') ?? '';
  assert.match(etag, /^W\/"[\w-]{22}"$/);
  assert.equal(plain.headers.get('cache-control'), 'public, max-age=300');
  for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const unchanged = await request(url, { headers: { 'if-none-match': known } });
    assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.get('etag')], [304, '', etag], known);
  }
  assert.equal((await request(url, { headers: { 'if-none-match': '"other"' } })).status, 200);
  const response = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(response.headers.get('content-encoding'), 'gzip');
  assert.equal(response.headers.get('vary'), 'Accept-Encoding');
  assert.equal(await response.text(), plain.text);
  const head = await request(url, { method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('settled open-paths openapi and documentation: the page loads from this origin alone, and runs no script of its own', async () => {
  const { text, headers } = await request(`${service.origin}/docs`);
  assert.equal(
    headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
      "connect-src 'self' https://api.example.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  const loaded = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);
  assert.deepEqual(
    loaded.filter((url) => !Object.hasOwn(contentTypes, url)),
    ['data:,'],
  );
  assert.doesNotMatch(text, /<script(?! src="\/docs\/)|\son\w+=|<style/);
  const script = await request(`${service.origin}/docs/reference.js`);
  assert.doesNotMatch(script.text, /https?:|\/\/[a-z]/);
  assert.match(script.text, /validatorUrl: null/);
});

test('settled open-paths openapi and documentation: each part that the page offers is a valid document of one tag', async () => {
  const script = await request(`${service.origin}/docs/reference.js`);
  const parts: { name: string; url: string }[] = JSON.parse(/urls: (\[.*\]),/.exec(script.text)?.[1] ?? '');
  const { json: whole } = await request(`${service.origin}/openapi.json`);
  assert.deepEqual(
    parts.map(({ name }) => name),
    whole.tags.map(({ name }: { name: string }) => name),
  );
  const described = new Set<string>();
  for (const { name, url } of parts) {
    const { status, json: part } = await request(service.origin + url);
    assert.equal(status, 200, url);
    for (const [path, item] of Object.entries(part.paths)) {
      assert.deepEqual(item, whole.paths[path], path);
      described.add(path);
    }
    if (!['Tokens', 'System', 'Every type', 'Patient', 'Composition'].includes(name)) continue;
    assert.deepEqual(await new Validator().validate(structuredClone(part)), { valid: true }, name);
  }
  assert.deepEqual([...described].sort(), Object.keys(whole.paths).sort());
});

test('settled open-paths openapi and documentation: servers of environments with an origin of their own are named', async () => {
  const { json } = await request(`${service.origin}/openapi.json`);
  const path = '/{environment}/firm/{firm}/{product}/fhir/v2';
  const variables = {
    firm: { default: 'your-firm', description: 'The practice, or a sandbox firm.' },
    product: { default: 'pm', description: 'The product.' },
  };
  assert.deepEqual(json.servers, [
    {
      url: path,
      description: 'A practice',
      variables: { environment: { default: 'sandbox', description: 'The environment.' }, ...variables },
    },
    {
      url: `https://api.example.com${path}`,
      variables: { environment: { default: 'prod', enum: ['prod'] }, ...variables },
    },
  ]);
});

test('settled open-paths openapi and documentation: the front page leads to both', async () => {
  const { text } = await request(`${service.origin}/`, { headers: { accept: 'text/html' } });
  assert.match(text, /<a href="\/docs">/);
  assert.match(text, /<a href="\/openapi.json">/);
});
