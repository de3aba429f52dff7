/**
 * No format tells more than another: XML answers and the content of a Binary pass the same entries, masks and tenants as
 * JSON does.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { parseXml } from '@praxis/fhir';
import { findNativeContent, mayWantContent } from '../../src/http/binary.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const stranger = await makeApplication(service, 'Stranger', ['acl/*'], [cedar]);
const restricted = await makeApplication(service, 'Restricted', ['acl/enc_s', 'acl/pat_s_name_dob_gen'], [maple]);
const uploader = await makeApplication(service, 'Uploader', ['acl/bnry_c_url', 'acl/doc_ref_r'], [maple]);
const full = await openCaller(service, operator, maple);

const secret = 'the secret of this record';
const stone = {
  resourceType: 'Patient',
  id: 'stone',
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${secret}</div>` },
  identifier: [{ system: 'http://example.org/mrn', value: secret }],
  name: [{ family: 'Stone' }],
  telecom: [{ system: 'email', value: secret }],
  gender: 'female',
  birthDate: '1980-01-01',
  extension: [{ url: 'http://example.org/note', valueString: secret }],
};
assert.equal((await full.send('PUT', 'Patient/stone', stone)).status, 201);
const content = { 'content-type': 'text/plain', 'x-security-context': 'Patient/stone' };
assert.equal((await full.send('PUT', 'Binary/note', secret, content)).status, 201);

/** Every way to ask for a format. */
const wishes: readonly Readonly<Record<string, string>>[] = [
  {},
  { accept: 'application/fhir+xml' },
  { accept: 'application/xml' },
  { accept: 'text/xml' },
  { accept: 'text/plain' },
  { accept: '*/*' },
  { accept: 'application/fhir+json' },
  { accept: 'application/fhir+xml', 'accept-encoding': 'br' },
];
const formats = ['', '_format=xml', '_format=json&_pretty=true', '_format=xml&_pretty=true'];

test('a restricted token sees in XML what it sees in JSON, and nothing else', async () => {
  const caller = await openCaller(service, restricted, maple);
  const plain = (await caller.get('Patient?family=Stone')).json.entry[0].resource;
  assert.deepEqual(Object.keys(plain).toSorted(), ['birthDate', 'gender', 'id', 'meta', 'name', 'resourceType']);
  for (const wish of wishes.filter(({ accept }) => accept !== 'text/plain')) {
    for (const format of formats) {
      const answer = await caller.get(`Patient?family=Stone&${format}`, wish);
      assert.equal(answer.status, 200, answer.text);
      assert.ok(!answer.text.includes(secret), `${JSON.stringify(wish)} ${format}`);
      const bundle = /xml/.test(answer.headers.get('content-type') ?? '') ? parseXml(answer.text) : answer.json;
      assert.deepEqual(JSON.parse(JSON.stringify(bundle)).entry[0].resource, plain);
    }
  }
});

test('a token without entries for reads is refused in every format, the same for what exists and what does not', async () => {
  for (const application of [restricted, uploader]) {
    const caller = await openCaller(service, application, maple);
    for (const wish of wishes) {
      for (const format of formats) {
        const answers: string[] = [];
        for (const path of ['Patient/stone', 'Patient/none', 'Binary/note', 'Binary/none', 'Binary/note/_history/1']) {
          const answer = await caller.get(`${path}?${format}`, wish);
          assert.equal(answer.status, 403, path);
          assert.ok(!answer.text.includes(secret));
          assert.equal(answer.headers.get('x-security-context'), null);
          answers.push(answer.text);
        }
        assert.equal(answers[0], answers[1]);
        assert.equal(answers[2], answers[3]);
      }
    }
  }
});

test("another firm's token finds no Binary and no patient, in any format", async () => {
  const elsewhere = await openCaller(service, stranger, cedar);
  for (const wish of wishes.filter(({ accept }) => accept !== 'text/plain')) {
    for (const format of formats) {
      for (const path of ['Patient/stone', 'Binary/note', 'Binary/note/_history/1']) {
        const answer = await elsewhere.get(`${path}?${format}`, wish);
        assert.equal(answer.status, 404, path);
        assert.ok(!answer.text.includes(secret));
      }
    }
  }
  const across = await openCaller(service, stranger, cedar);
  const answer = await across.get(`${maple.base}/Binary/note`, { accept: 'text/plain' });
  assert.equal(answer.status, 403);
});

test('writing raw content needs the entries of Binary, and leaves nothing without them', async () => {
  for (const application of [restricted, uploader]) {
    const caller = await openCaller(service, application, maple);
    for (const [method, path] of [
      ['POST', 'Binary'],
      ['PUT', 'Binary/note'],
      ['PUT', 'Binary/new'],
    ] as const) {
      assert.equal((await caller.send(method, path, 'x', { 'content-type': 'text/plain' })).status, 403);
    }
  }
  assert.equal((await full.get('Binary/note')).text, secret);
  assert.equal((await full.get('Binary/new')).status, 404);
});

test('content that a mask or filter left out is not served as content either', async () => {
  const filtered = await full.get('Binary/note?_elements=contentType');
  assert.equal(filtered.json.data, undefined);
  assert.equal(filtered.headers.get('x-security-context'), null);
  const asked = { accept: '*/*', query: '', contentType: undefined };
  assert.ok(mayWantContent(asked));
  assert.equal(findNativeContent('{"resourceType":"Binary","contentType":"text/plain"}', asked), undefined);
  assert.equal(findNativeContent('{"resourceType":"Binary","data":"YQ=="}', asked), undefined);
  const bare = findNativeContent('{"resourceType":"Binary","contentType":"text/plain","data":"YQ=="}', asked);
  assert.equal(bare?.headers['x-security-context'], undefined);
});
