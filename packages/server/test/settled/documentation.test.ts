/** docs/integrate/contract.md#order-of-checks: the documentation is open. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { request } from '../support/raw-http.ts';
import { makeFirm, openTestService } from '../support/service.ts';

const service = await openTestService({ after }, { PRAXIS_ENVIRONMENT_ORIGINS: 'prod=https://api.example.com' });
const wrong = { authorization: 'Bearer wrong', 'x-api-key': 'wrong' };

const html = 'text/html; charset=utf-8';
const json = 'application/json; charset=utf-8';

const contentTypes: Readonly<Record<string, string>> = {
  '/openapi.json': json,
  '/openapi/Patient.json': json,
  '/openapi/every-type.json': json,
  '/openapi/guides/first-call.json': json,
  '/openapi/without-cycles.json': json,
  '/docs': html,
  '/docs/search.json': json,
  '/docs/guides/first-call': html,
  '/docs/reference/Patient': html,
  '/docs/reference/Patient/readPatient': html,
  '/docs/schemas/HumanName': html,
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
    '/docs/guides/none',
    '/docs/guides/..%2FREADME',
    '/docs/reference/Patient/none',
    '/docs/openapi/Patient.json',
    '/docs/../package.json',
    '/openapi',
    '/openapi/Pacient.json',
    '/openapi/guides/none.json',
  ]) {
    const { status, json: told } = await request(service.origin + path);
    assert.deepEqual([status, told.issue[0].details.coding[0].code], [404, 'path-unknown'], path);
  }
  for (const path of ['/openapi.json', '/docs/reference/Patient/readPatient']) {
    const refused = await request(service.origin + path, { method: 'POST' });
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD']);
  }
});

test('settled open-paths openapi and documentation: an ETag spares the transfer, and the text is compressed', async () => {
  for (const path of ['/openapi.json', '/docs/reference/Patient/readPatient'])
    await assertCached(service.origin + path);
});

async function assertCached(url: string): Promise<void> {
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
}

test('settled open-paths openapi and documentation: pages load nothing, and run the script alone that their policy names', async () => {
  for (const path of Object.keys(contentTypes).filter((each) => contentTypes[each] === html)) {
    const { text, headers } = await request(service.origin + path);
    const hashes = [/<script>([\s\S]*?)<\/script>/g, /<style>([\s\S]*?)<\/style>/g].map((pattern) => {
      const [[, content = ''] = [], ...more] = text.matchAll(pattern);
      assert.ok(content !== '' && more.length === 0, path);
      return `'sha256-${hash('sha256', content, 'base64')}'`;
    });
    assert.equal(
      headers.get('content-security-policy'),
      `default-src 'none'; script-src ${hashes[0]}; style-src ${hashes[1]}; img-src data:; ` +
        "connect-src 'self' https://api.example.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types 'none'",
    );
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.doesNotMatch(text.replaceAll(/<script>[\s\S]*<\/script>/g, ''), /<script|\son\w+=| src=| style=/);
  }
});

test('settled open-paths openapi and documentation: each tag has a valid document, and together they have all operations', async () => {
  const { json: whole } = await request(`${service.origin}/openapi.json`);
  const described = new Set<string>();
  for (const { name } of whole.tags) {
    const slug = name === 'Every type' ? 'every-type' : name;
    const { status, json: part } = await request(`${service.origin}/openapi/${slug}.json`);
    assert.equal(status, 200, name);
    for (const [path, item] of Object.entries(part.paths)) {
      assert.deepEqual(item, whole.paths[path], path);
      described.add(path);
    }
    if (!['Tokens', 'System', 'Every type', 'Patient', 'Composition'].includes(name)) continue;
    assert.deepEqual(await new Validator().validate(structuredClone(part)), { valid: true }, name);
  }
  assert.deepEqual([...described].sort(), Object.keys(whole.paths).sort());
});

test('settled open-paths openapi and documentation: pages name no practice but the first one of a seeded sandbox', async () => {
  await makeFirm(service, 'hidden-firm');
  const asked = '/docs/reference/Patient/searchPatient';
  const { text } = await request(service.origin + asked);
  assert.match(text, / data-credential="firm" value=""/);
  assert.doesNotMatch(text, /hidden-firm/);
  const seeded = await openTestService({ after });
  const { dataDir } = seeded.platform.config;
  mkdirSync(dataDir, { recursive: true });
  const place = { origin: 'http://127.0.0.1:8080', environment: 'sandbox', product: 'pm', realm: 'sandbox' };
  const application = { name: 'Full', client: { apiKey: 'secret-key', clientId: 'secret-id', clientSecret: 'secret' } };
  const file = { ...place, firms: ['maple', 'cedar'], applications: [application], others: [] };
  writeFileSync(join(dataDir, 'sandbox.json'), JSON.stringify(file));
  const { text: filled } = await request(seeded.origin + asked);
  for (const [name, value] of Object.entries({
    environment: 'sandbox',
    firm: 'maple',
    product: 'pm',
    realm: 'sandbox',
  }))
    assert.ok(filled.includes(` data-credential="${name}" value="${value}"`), name);
  assert.ok(filled.includes('http://127.0.0.1:8080/sandbox/firm/maple/pm/fhir/v2/Patient'));
  assert.doesNotMatch(filled, /secret-|cedar/);
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
