/**
 * Fetching files: entity tags, ranges and compression, the content of documents, and what the ledger says of deletions
 * (docs/decisions/0314).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { linkOf, openWorld, storedDocument } from '../../content/world.ts';
import { patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import { makeApplication, openCaller } from '../../support/service.ts';
import { begin, exportAll, fetchAll, fetchLines, finish, put, refused, toKeys } from './exporting.ts';

const world = await openWorld({ after }, { PRAXIS_COMPRESS_BYTES_MIN: '100' });
const { full, maple, caller: scanner } = world;
const finder = await openCaller(world, await makeApplication(world, 'Finder', ['acl/doc_ref_s'], [maple]), maple);

const pdf = Buffer.from('%PDF-1.4 one\n');

test('a file has an entity tag and ranges of its bytes, and is compressed as a whole only', async () => {
  for (let number = 0; number < 20; number += 1)
    await put(full, 'Organization', `o${number}`, { name: `Ümläut ${number}` });
  const { output } = await finish(full, await begin(full, '$export?_type=Organization'));
  const url = output[0]?.url ?? '';
  const raw = async (headers: Readonly<Record<string, string>>, method = 'GET') => {
    const answer = await fetch(url, { method, headers: { ...full.headers, ...headers } });
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const whole = await raw({ 'accept-encoding': 'identity' });
  assert.equal(whole.answer.status, 200);
  const etag = whole.answer.headers.get('etag') ?? '';
  assert.match(etag, /^"[\w-]{43}"$/);
  assert.equal(whole.answer.headers.get('accept-ranges'), 'bytes');
  assert.equal(whole.answer.headers.get('content-length'), String(whole.bytes.length));
  assert.match(whole.answer.headers.get('vary') ?? '', /Accept-Encoding/);

  const compressed = await raw({ 'accept-encoding': 'gzip' });
  assert.equal(compressed.answer.headers.get('content-encoding'), 'gzip');
  assert.equal(compressed.answer.headers.get('etag'), `W/${etag}`);
  assert.deepEqual(compressed.bytes, whole.bytes, 'fetch has undone the compression');

  for (const [range, from, to] of [
    ['bytes=0-99', 0, 99],
    ['bytes=100-', 100, whole.bytes.length - 1],
    ['bytes=-7', whole.bytes.length - 7, whole.bytes.length - 1],
    ['bytes=5-999999', 5, whole.bytes.length - 1],
  ] as const) {
    const { answer, bytes } = await raw({ range, 'accept-encoding': 'gzip' });
    assert.equal(answer.status, 206, range);
    assert.equal(answer.headers.get('content-range'), `bytes ${from}-${to}/${whole.bytes.length}`);
    assert.equal(answer.headers.get('content-encoding'), null);
    assert.equal(answer.headers.get('content-type'), 'application/fhir+ndjson; charset=utf-8');
    assert.deepEqual(bytes, whole.bytes.subarray(from, to + 1));
  }
  assert.equal((await raw({ range: 'bytes=0-9', 'if-range': etag })).answer.status, 206);
  for (const other of ['"other"', `W/${etag}`]) {
    const { answer, bytes } = await raw({ range: 'bytes=0-9', 'if-range': other });
    assert.equal(answer.status, 200);
    assert.deepEqual(bytes, whole.bytes);
  }
  const beyond = await full.get(url, { range: 'bytes=999999-' });
  assertRefused(beyond, {
    status: 416,
    error: 'range-invalid',
    issue: 'value',
    diagnostics: `The content has ${whole.bytes.length} bytes, counted from 0: ask for a range within them`,
  });
  assert.equal(beyond.headers.get('content-range'), `bytes */${whole.bytes.length}`);
  for (const known of [etag, `W/${etag}`, '*']) {
    const { answer, bytes } = await raw({ 'if-none-match': known });
    assert.deepEqual([answer.status, answer.headers.get('etag'), bytes.length], [304, etag, 0]);
  }
  const head = await raw({ range: 'bytes=0-9', 'accept-encoding': 'identity' }, 'HEAD');
  assert.deepEqual([head.answer.status, head.answer.headers.get('content-length')], [200, String(whole.bytes.length)]);
});

test('a document has a URL of its content that leads to the bytes, for who may read it', async () => {
  const id = await storedDocument(scanner, pdf);
  const [document] = await fetchAll(
    scanner,
    await finish(scanner, await begin(scanner, '$export?_type=DocumentReference')),
  );
  const content = new URL(await linkOf(scanner, id)).pathname.split('/').at(-1);
  const url = `${maple.base}/$export-attachment?of=DocumentReference/${id}&content=${content}`;
  assert.deepEqual(Reflect.get(document ?? {}, 'content'), [{ attachment: { contentType: 'application/pdf', url } }]);
  assert.equal((await fetch(url)).status, 401);
  assert.equal((await finder.get(url)).status, 403);
  const led = await fetch(url, { headers: scanner.headers, redirect: 'manual' });
  assert.equal(led.status, 302);
  assert.match(led.headers.get('location') ?? '', /\/content\/[0-9a-f-]{36}\?link=/);
  const bytes = await (await fetch(url, { headers: scanner.headers })).arrayBuffer();
  assert.deepEqual(Buffer.from(bytes), pdf);

  const [found] = await exportAll(finder, '$export?_type=DocumentReference');
  assert.equal(Reflect.get(found ?? {}, 'content'), undefined, 'as a search shows it');

  const at = (of: string, name: string | undefined) => `$export-attachment?of=${of}&content=${name}`;
  const unknown = '00000000-0000-4000-8000-000000000000';
  for (const [of, name] of [
    [`DocumentReference/${id}`, unknown],
    ['DocumentReference/none', content],
  ] as const)
    assert.equal((await scanner.get(at(of, name))).status, 404);
  refused(
    await scanner.get(at('Document', content)),
    400,
    'operation-parameter-invalid',
    'invalid',
    'of takes a resource such as DocumentReference/23',
    'of',
  );
  refused(
    await scanner.get(at('DocumentReference/x', 'y')),
    400,
    'operation-parameter-invalid',
    'invalid',
    'content takes the id of content, as files of an export have it',
    'content',
  );
  assert.equal((await full.send('DELETE', `DocumentReference/${id}`)).status, 204);
  assert.equal((await fetch(url, { headers: scanner.headers })).status, 404);
});

test('a Binary that belongs to somebody is a DocumentReference, with its content', async () => {
  const data = Buffer.from('private').toString('base64');
  const binary = (owner?: string) => ({
    contentType: 'text/plain',
    data,
    ...(owner === undefined ? {} : { securityContext: { reference: owner } }),
  });
  await put(full, 'Binary', 'logo', binary());
  await put(full, 'Binary', 'of-stone', binary('Patient/stone'));
  await put(full, 'Binary', 'of-visit', binary('Encounter/visit'));
  assert.deepEqual(toKeys(await exportAll(full, '$export?_type=Binary')), ['Binary/logo/1']);
  const { output } = await finish(full, await begin(full, '$export?_type=Binary,DocumentReference'));
  assert.deepEqual(
    output.map(({ type, count }) => [type, count]),
    [
      ['Binary', 1],
      ['DocumentReference', 2],
    ],
  );
  const documents = output[1] === undefined ? [] : await fetchLines(full, output[1]);
  const [ofStone, ofVisit] = documents;
  const url = `${maple.base}/Binary/of-stone`;
  assert.deepEqual(ofStone, {
    resourceType: 'DocumentReference',
    id: ofStone?.id,
    meta: ofStone?.meta,
    status: 'current',
    subject: { reference: 'Patient/stone' },
    content: [{ attachment: { contentType: 'text/plain', url } }],
  });
  assert.match(ofStone?.id ?? '', /^binary-[0-9a-f]{40}$/);
  assert.deepEqual(Reflect.get(ofVisit ?? {}, 'context'), { related: [{ reference: 'Encounter/visit' }] });
  assert.equal(await (await fetch(url, { headers: full.headers })).text(), 'private');

  const ofPatients = await exportAll(full, 'Patient/$export?_type=DocumentReference');
  assert.deepEqual(ofPatients, [ofStone]);
  world.clock.advance(1_000);
  const since = new Date(world.clock.now()).toISOString();
  assert.equal((await full.send('DELETE', 'Binary/of-stone')).status, 204);
  const later = await finish(full, await begin(full, `$export?_type=Binary,DocumentReference&_since=${since}`));
  const [file] = later.deleted ?? [];
  assert.ok(file !== undefined && later.deleted?.length === 1);
  const [bundle] = await fetchLines(full, file);
  assert.deepEqual(bundle?.entry, [{ request: { method: 'DELETE', url: `DocumentReference/${ofStone?.id}` } }]);
});

test('the ledger says whom deletions are about', async () => {
  const name = 'Told of deletions';
  const told = await openCaller(world, await makeApplication(world, name, ['acl/*'], [maple]), maple);
  for (const id of ['ann', 'ben']) await put(told, 'Patient', id, patient(id));
  for (const id of ['ann', 'ben'])
    await put(told, 'Observation', `of-${id}`, {
      status: 'final',
      code: { text: 'a' },
      subject: { reference: `Patient/${id}` },
    });
  world.clock.advance(1_000);
  const since = new Date(world.clock.now()).toISOString();
  for (const gone of ['Patient/ben', 'Observation/of-ann']) assert.equal((await told.send('DELETE', gone)).status, 204);
  const types = '_type=Observation,Patient';
  const { deleted = [] } = await finish(told, await begin(told, `$export?${types}&_since=${since}`));
  for (const file of deleted) await fetchLines(told, file);
  await world.service.parts.ledger.flush();
  const rows = await world.database.owner.query<{ rtype: number; shown: number; patients: string }>(sql`
    SELECT a.shown, a.patients FROM audit_ledger a JOIN application p ON p.id = a.application
    WHERE p.name = ${name} AND a.interaction = '$export-file' AND a.shown > 0 ORDER BY a.patients`);
  assert.deepEqual(rows, [
    { shown: 1, patients: 'ann' },
    { shown: 1, patients: 'ben' },
  ]);
});
