/**
 * A page reads 8 MiB of stored content at most, whatever `_count` asks for: it ends early, and `next` goes on there, or where
 * a cut would leave rows out it is refused (docs/decisions/0266).
 * Slow: stores and reads pages of many megabytes.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { pageBytesMax } from '../../../src/search/sql/page-bytes.ts';
import { patient } from '../../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const bytes = 4_000_000;
/** The one that reaches the limit is read, too. */
const perPage = Math.ceil(pageBytesMax / bytes);
const ids = Array.from({ length: perPage + 2 }, (_, number) => `b${number}`);
const displays = Array.from({ length: 20 }, () => ({ display: 'x'.repeat(bytes / 20) }));

function large(id: string): object {
  return {
    resourceType: 'Basic',
    id,
    meta: { tag: [{ system: 'http://example.org/tags', code: id }] },
    code: { coding: displays },
    subject: { reference: 'Patient/p' },
  };
}

await full.send('PUT', 'Patient/p', { ...patient('Stone'), id: 'p' });
for (const id of ids) assert.equal((await full.send('PUT', `Basic/${id}`, large(id))).status, 201);

interface Entry {
  readonly resource?: { readonly id: string; readonly meta: { readonly versionId: string } };
}

const shown = ({ json }: Answer): string[] =>
  (json.entry ?? []).flatMap(({ resource }: Entry) => (resource === undefined ? [] : [resource.id]));

function linkOf({ json }: Answer, relation: string): string | undefined {
  return json.link.find((link: { relation: string }) => link.relation === relation)?.url;
}

/** What the pages from `path` on show, by the links of the relation, and the last of them. */
async function walk(path: string, relation = 'next'): Promise<{ readonly pages: string[][]; readonly last: Answer }> {
  const pages: string[][] = [];
  for (let at = path; ; ) {
    const page = await full.get(at);
    assert.equal(page.status, 200, page.text.slice(0, 500));
    pages.push(shown(page));
    const link = linkOf(page, relation);
    if (link === undefined || pages.length > 2 * ids.length) return { pages, last: page };
    at = link;
  }
}

test('a search page ends early, and the walk shows every match once, forward and backward', async () => {
  const first = await full.get('Basic?_count=100&_sort=_id');
  assert.deepEqual(shown(first), ids.slice(0, perPage));
  assert.equal(first.json.total, undefined, 'a page that was ended early is not all there is');
  const { pages, last } = await walk('Basic?_count=100&_sort=_id');
  assert.deepEqual(pages, [ids.slice(0, perPage), ids.slice(perPage)]);
  const back = await walk(linkOf(last, 'previous') ?? '', 'previous');
  assert.deepEqual(back.pages.flat().toSorted(), ids.slice(0, perPage));
  assert.equal((await full.get('Basic?_count=100&_total=accurate')).json.total, ids.length);
});

test('a page that is asked for by its number alone is refused where a cut would leave rows out', async () => {
  const refused = await full.get('Basic?_count=100&page=1');
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.json.issue, [
    {
      severity: 'error',
      code: 'too-costly',
      details: refused.json.issue[0].details,
      diagnostics: `page=1 of 100 resources takes more than ${pageBytesMax} bytes, the limit of one page: ask with _count=${perPage}, or follow next links from a search without page`,
      expression: ['page'],
    },
  ]);
  const fitting = await full.get(`Basic?_count=${perPage}&page=2&_sort=_id`);
  assert.deepEqual(shown(fitting), ids.slice(perPage));
});

test('a search of several types has one limit for all of them', async () => {
  const inTurn = await walk('?_type=Basic,Patient&_count=100');
  assert.deepEqual(inTurn.pages, [ids.slice(0, perPage), [...ids.slice(perPage), 'p']]);
  const sorted = await walk('?_type=Basic,Patient&_count=100&_sort=_id');
  assert.deepEqual(sorted.pages.flat(), [...ids, 'p']);
  for (const page of sorted.pages) assert.ok(page.length <= perPage, `${page.length} resources of ${bytes} bytes`);
});

test('$everything ends a page by bytes', async () => {
  const { pages } = await walk('Patient/p/$everything?_count=100');
  assert.deepEqual(pages.flat().toSorted(), [...ids, 'p']);
  for (const page of pages) assert.ok(page.length <= perPage + 1, `${page.length} resources`);
  const all = await walk('Patient/$everything?_count=100');
  assert.deepEqual(all.pages.flat().toSorted(), [...ids, 'p']);
  for (const page of all.pages) assert.ok(page.length <= perPage + 1, `${page.length} resources`);
});

test('what resources refer to is refused where it takes more than is included', async () => {
  const references = Array.from({ length: 9 }, (_, number) => `Organization/o${number}`);
  for (const [number] of references.entries()) {
    const organization = {
      resourceType: 'Organization',
      id: `o${number}`,
      name: 'Granite',
      alias: displays.map(({ display }) => display),
    };
    assert.equal((await full.send('PUT', `Organization/o${number}`, organization)).status, 201);
  }
  const named = { ...patient('Cobble'), id: 'q', generalPractitioner: references.map((reference) => ({ reference })) };
  assert.equal((await full.send('PUT', 'Patient/q', named)).status, 201);
  const refused = await full.get('Patient/q/$everything');
  assert.equal(refused.status, 422);
  assert.equal(
    refused.json.issue[0].diagnostics,
    'Reading the resources that are referred to costs more than one request may: the limit is 33554432 bytes. Nothing was changed. To make it cheaper: ask for smaller pages (_count), or for fewer types (_type)',
  );
});

test('a history ends its pages by bytes, of one resource and of many', async () => {
  for (const version of ids.slice(1)) {
    const changed = { ...large('b0'), language: version };
    assert.equal((await full.send('PUT', 'Basic/b0', changed)).status, 200);
  }
  const versions = Array.from({ length: ids.length }, () => 'b0');
  const one = await walk('Basic/b0/_history?_count=100');
  assert.deepEqual(one.pages, [versions.slice(0, perPage), versions.slice(perPage)]);
  const ofType = await walk('Basic/_history?_count=100');
  assert.deepEqual(ofType.pages.flat().toSorted(), [...versions, ...ids.slice(1)].toSorted());
  const ofAll = await walk('_history?_count=100&_elements=id');
  assert.equal(ofAll.pages.flat().length, ofType.pages.flat().length + 11);
  for (const page of [...ofType.pages, ...ofAll.pages])
    assert.ok(page.length <= perPage + 3, `${page.length} versions`);
});

test('the change feed ends its pages by bytes and misses nothing', async () => {
  const told: string[] = [];
  for (let at = '$changes?_count=100&_type=Basic'; ; ) {
    const page = await full.get(at);
    assert.equal(page.status, 200);
    const entries = shown(page);
    assert.ok(entries.length <= perPage, `${entries.length} changes`);
    if (entries.length === 0) break;
    told.push(...entries);
    at = linkOf(page, 'next') ?? '';
  }
  assert.deepEqual(told.toSorted(), ids, 'what was replaced before the walk began is not told');
});

test('$meta of a type is refused where the resources with its labels take more than a page', async () => {
  const refused = await full.get('Basic/$meta');
  assert.equal(refused.status, 422);
  assert.equal(
    refused.json.issue[0].diagnostics,
    `Reading the resources that have the labels costs more than one request may: the limit is ${pageBytesMax} bytes. Nothing was changed. To make it cheaper: ask the types one by one, or search by the labels that you know`,
  );
});
