/** Large answers are the same bytes as small ones would be, with their length, to GET and HEAD. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { encodeInSlices, encodeLines } from '../../src/http/answer/encode.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

test('a text is encoded whole, whatever characters stand where a piece ends', async () => {
  for (const shift of [0, 1, 2, 3]) {
    const text = `${'x'.repeat(shift)}${'a😀ü'.repeat(300_000)}`;
    const pieces = await encodeInSlices(text, async () => undefined);
    assert.ok(Buffer.concat(pieces).equals(Buffer.from(text)), `shifted by ${shift}`);
    assert.ok(pieces.length > 5);
  }
});

test('lines are encoded whole, short and long ones, whatever characters stand where a piece ends', async () => {
  const short = Array.from({ length: 3_000 }, (_, number) => `${number} ${'a😀ü'.repeat(number % 90)}\ud800`);
  const long = 'ü😀'.repeat(200_000);
  for (const lines of [[], [''], short, [long], [...short, long, long, ...short]]) {
    const seen: Buffer[] = [];
    const pieces = await encodeLines(
      lines,
      async () => undefined,
      (piece) => seen.push(piece),
    );
    assert.ok(Buffer.concat(pieces).equals(Buffer.from(lines.map((line) => `${line}\n`).join(''))));
    assert.ok(Buffer.concat(seen).equals(Buffer.concat(pieces)));
  }
});

test('a large answer has its length and all of its characters, in JSON, lines and gzip, and HEAD tells the length alone', async () => {
  const given = Array.from({ length: 20 }, (_, number) => `${number} ${'😀ü\\\\"'.repeat(12_000)}`);
  const sent = { resourceType: 'Patient', id: 'large', name: [{ given }] };
  assert.equal((await full.send('PUT', 'Patient/large', sent)).status, 201);
  for (const encoding of ['identity', 'gzip']) {
    const answer = await full.get('Patient/large', { 'accept-encoding': encoding });
    assert.deepEqual([answer.status, answer.json.name], [200, sent.name]);
    if (encoding === 'gzip') continue;
    assert.equal(Number(answer.headers.get('content-length')), Buffer.byteLength(answer.text));
    const head = await full.send('HEAD', 'Patient/large', undefined, { 'accept-encoding': encoding });
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal(head.headers.get('content-length'), answer.headers.get('content-length'));
  }
  const lines = await full.get('Patient?_id=large', {
    accept: 'application/fhir+ndjson',
    'accept-encoding': 'identity',
  });
  assert.deepEqual(JSON.parse(lines.text).name, sent.name);
});
