/**
 * Methods that a path does not take: 405 with Allow and an OperationOutcome, once both credentials are right; nobody else
 * learns more than 401.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
import { assertRefused, challengeOf } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { openRaw, openWire } from '../support/wire.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const caller = await openCaller(service, operator, maple);
assert.equal((await caller.send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one' })).status, 201);
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';
const realm = '/auth/realms/sandbox';
const document = JSON.stringify({ ...patient('Intruder'), id: 'one' });
/** Methods that HTTP knows and the API does not use; QUERY and PROPFIND carry a body like POST. */
const foreign = ['OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'LINK', 'LOCK', 'M-SEARCH', 'PURGE'];

const fhirPaths: readonly { readonly path: string; readonly allow: string; readonly refused: readonly string[] }[] = [
  { path: `${base}/Patient`, allow: 'GET, HEAD, POST, PUT, PATCH, DELETE', refused: [] },
  { path: `${base}/Patient/_search`, allow: 'POST', refused: ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'] },
  { path: `${base}/Patient/one`, allow: 'GET, HEAD, PUT, PATCH, DELETE', refused: ['POST'] },
  { path: `${base}/Patient/one/_history`, allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
  { path: `${base}/Patient/_history`, allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
  { path: `${base}/_search`, allow: 'POST', refused: ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'] },
  { path: `${base}/_history`, allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
  { path: `${base}/Patient/one/_history/1`, allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
];

const openPaths: readonly { readonly path: string; readonly allow: string; readonly refused: readonly string[] }[] = [
  { path: '/', allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
  { path: '/health/live', allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
  { path: '/health/ready', allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
  { path: `${base}/metadata`, allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
  { path: `${realm}/protocol/openid-connect/token`, allow: 'POST', refused: ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'] },
  {
    path: `${realm}/protocol/openid-connect/token/introspect`,
    allow: 'POST',
    refused: ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'],
  },
  {
    path: `${realm}/protocol/openid-connect/revoke`,
    allow: 'POST',
    refused: ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'],
  },
  {
    path: `${base}/.well-known/smart-configuration`,
    allow: 'GET, HEAD',
    refused: ['POST', 'PUT', 'DELETE', 'PATCH'],
  },
  {
    path: `/.well-known/oauth-protected-resource${base}`,
    allow: 'GET, HEAD',
    refused: ['POST', 'PUT', 'DELETE', 'PATCH'],
  },
  { path: `${realm}/protocol/openid-connect/certs`, allow: 'GET, HEAD', refused: ['POST', 'PUT', 'DELETE', 'PATCH'] },
  {
    path: `${realm}/.well-known/openid-configuration`,
    allow: 'GET, HEAD',
    refused: ['POST', 'PUT', 'DELETE', 'PATCH'],
  },
  { path: '/sandbox/firm/maple/pm/ws/oauth2/grant', allow: 'POST', refused: ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'] },
];

function send(method: string, path: string, headers: Readonly<Record<string, string>>): ReturnType<typeof wire.send> {
  const isEmpty = ['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method);
  return wire.send({
    method,
    path,
    headers: { ...headers, ...(isEmpty ? {} : { 'content-type': 'application/fhir+json' }) },
    ...(isEmpty ? {} : { body: document }),
  });
}

test('a method that a FHIR path does not take is 405 with Allow, and changes nothing', async () => {
  const before = await tenantRows(service.database.owner);
  for (const { path, allow, refused } of fhirPaths) {
    for (const method of [...refused, ...foreign]) {
      const answer = await send(method, path, caller.headers);
      assert.equal(answer.status, 405, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.headers.get('allow'), allow, `${method} ${path}`);
      if (method === 'HEAD') continue;
      const diagnostics = answer.json.issue[0].diagnostics;
      assertRefused(answer, { status: 405, error: 'method-not-allowed', issue: 'not-supported', diagnostics, allow });
      assert.ok(diagnostics.includes(allow), diagnostics);
    }
  }
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('without credentials every method on a FHIR path is 401', async () => {
  for (const { path } of fhirPaths) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', ...foreign]) {
      const answer = await send(method, path, {});
      assert.equal(answer.status, 401, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.headers.get('allow'), null);
      assert.equal(challengeOf(answer), 'Bearer realm="sandbox"');
    }
  }
});

test('an open path says which methods it takes to everybody', async () => {
  for (const { path, allow, refused } of openPaths) {
    for (const method of [...refused, ...foreign]) {
      const answer = await send(method, path, {});
      assert.equal(answer.status, 405, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.headers.get('allow'), allow, `${method} ${path}`);
      if (method !== 'HEAD') assert.equal(answer.json.resourceType, 'OperationOutcome');
    }
  }
});

test('HEAD is GET without the body: the same status and headers, length included', async () => {
  for (const path of [
    `${base}/Patient/one`,
    `${base}/Patient/two`,
    `${base}/Patient/one/_history/1`,
    `${base}/metadata`,
    '/health/live',
    '/nowhere',
  ]) {
    const [head, get] = [await send('HEAD', path, caller.headers), await send('GET', path, caller.headers)];
    assert.equal(head.text, '');
    assert.equal(head.status, get.status, path);
    const kept = (headers: Headers): object =>
      Object.fromEntries([...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id'));
    assert.deepEqual(kept(head.headers), kept(get.headers), path);
  }
});

test('TRACE echoes nothing that was sent', async () => {
  const answer = await wire.send({
    method: 'TRACE',
    path: `${base}/Patient`,
    headers: { ...caller.headers, 'x-mark': 'mark' },
  });
  assert.equal(answer.status, 405);
  assert.ok(!answer.text.includes('mark'));
  assert.ok(!answer.text.includes(operator.clientKey));
});

test('a method that HTTP does not know is 501; what is no request line at all is 400', async () => {
  const unknown = {
    status: 501,
    error: 'method-unknown',
    diagnostics: 'The method is none of HTTP: GET, HEAD, POST, PUT, PATCH and DELETE are taken, in upper case',
    issue: 'not-supported',
  };
  const malformed = {
    status: 400,
    error: 'request-malformed',
    diagnostics: 'The request line or a header is not valid HTTP: percent-encode spaces and all beyond ASCII',
    issue: 'invalid',
  };
  for (const [line, expected] of [
    [`FETCH ${base}/Patient HTTP/1.1`, unknown],
    ['FOO /path HTTP/1.1', unknown],
    [`get ${base}/Patient HTTP/1.1`, unknown],
    ['FOO /a path HTTP/1.1', malformed],
    ['\u0016\u0003\u0001 /path', malformed],
    ['FOO', malformed],
  ] as const) {
    const raw = await openRaw(service.origin);
    raw.write(`${line}\r\nhost: x\r\n\r\n`);
    assertRefused(await raw.answer(), expected);
    await raw.closed;
    raw.destroy();
  }
});

test('X-HTTP-Method-Override is nobody', async () => {
  const headers = { ...caller.headers, 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' };
  assert.equal((await send('GET', `${base}/Patient/one`, headers)).status, 200);
  assert.equal((await send('GET', `${base}/Patient/one`, caller.headers)).status, 200);
});
