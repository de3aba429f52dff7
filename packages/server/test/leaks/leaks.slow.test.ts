/**
 * No way to ask tells of what is hidden. Two services differ only in what a caller may not see (elements, resources,
 * rows, another firm's data); whatever it asks, both answer the same: status, headers, body, count and order, on all
 * pages. Those who may see it are told something else, so that each way could tell.
 * Slow: asks two services in thousands of ways.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { interactions } from '../../src/engine/dispatch.ts';
import { operations } from '../../src/practice/features.ts';
import { getStandardParameters } from '../../src/search/parameters.ts';
import { resultParameterNames } from '../../src/search/query/result-parameters.ts';
import type { Answer, Caller } from '../support/service.ts';
import { type Way, ways } from './ways.ts';
import { callerNames, openWorld, secrets, type World } from './worlds.ts';

const [alpha, bravo] = await Promise.all(secrets.map((secret) => openWorld({ after }, secret)));
assert.ok(alpha !== undefined && bravo !== undefined);
const worlds: readonly [World, World] = [alpha, bravo];

/** Headers that differ from one request to the next, and the length of what is compared as a whole. */
const unsteady = new Set(['date', 'x-request-id', 'content-length', 'connection', 'keep-alive']);
const pagesMax = 20;

/** An answer without what differs by nature: the origin, ids that the server made up, sealed cursors. */
function steady({ origin }: World, { status, headers, text }: Answer): object {
  const plain = (value: string): string =>
    value
      .replaceAll(origin, 'http://service')
      .replace(/_cursor=[\w%.~-]+/g, '_cursor=sealed')
      .replace(/since=c[\w-]+/g, (cursor) => `since=sealed-${cursor.length}`)
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'made-up');
  const kept = [...headers].filter(([name]) => !unsteady.has(name)).map(([name, value]) => [name, plain(value)]);
  return { status, headers: Object.fromEntries(kept), text: plain(text) };
}

/** The answer and, of a Bundle with pages, all that its next links lead to; of a bulk export, its manifest and its files. */
async function ask(world: World, caller: Caller, { method = 'GET', path, body, headers }: Way): Promise<object[]> {
  const encoded = path.replaceAll(' ', '%20');
  const answers = [
    method === 'GET' ? await caller.get(encoded, headers) : await caller.send(method, encoded, body, headers),
  ];
  for (let next = nextOf(answers[0]); next !== undefined && answers.length < pagesMax; next = nextOf(answers.at(-1))) {
    answers.push(await caller.get(next, headers));
  }
  if (answers[0]?.status === 202) answers.push(...(await exported(caller, answers[0])));
  return answers.map((answer) => steady(world, answer));
}

/** The manifest of an export that was begun, and its files. */
async function exported(caller: Caller, begun: Answer): Promise<readonly Answer[]> {
  const status = begun.headers.get('content-location') ?? '';
  let manifest = await caller.get(status);
  while (manifest.status === 202) manifest = await caller.get(status);
  const { output, deleted = [] } = manifest.json;
  const files: readonly { readonly url: string }[] = [...output, ...deleted];
  return [manifest, ...(await Promise.all(files.map(({ url }) => caller.get(url))))];
}

function nextOf(answer: Answer | undefined): string | undefined {
  return answer?.json?.link?.find?.(({ relation }: { relation: string }) => relation === 'next')?.url;
}

const titleOf = ({ method = 'GET', path, body, headers }: Way): string =>
  [method, path, headers === undefined ? '' : JSON.stringify(headers), body === undefined ? '' : JSON.stringify(body)]
    .join(' ')
    .trim();

for (const name of callerNames) {
  test(`${name}: both worlds answer the same`, async (t) => {
    for (const way of ways) {
      await t.test(titleOf(way), async () => {
        const [one, other] = await Promise.all(worlds.map((world) => ask(world, world.callers[name], way)));
        assert.deepEqual(one, other);
      });
    }
  });
}

test('each way could tell: those who may see what differs are told', async (t) => {
  for (const way of ways) {
    await t.test(titleOf(way), async () => {
      const [one, other] = await Promise.all(
        worlds.map(async (world) => await Promise.all(world.entitled.map((caller) => ask(world, caller, way)))),
      );
      assert.notDeepEqual(one, other);
    });
  }
});

const covered = new Set(ways.flatMap(({ covers }) => covers));

function assertCovered(names: Iterable<string>): void {
  assert.deepEqual(
    [...new Set(names)].filter((name) => !covered.has(name)),
    [],
    'ways to ask that have no row in ways.ts',
  );
}

test('every interaction and operation is tried', () => {
  assertCovered(Object.keys(interactions).map((name) => `interaction ${name}`));
  assertCovered(
    operations.flatMap(({ name, types }) =>
      types === 'all' ? [`operation $${name}`] : types.map((type) => `operation ${type}/$${name}`),
    ),
  );
  assertCovered(['bundle batch', 'bundle transaction']);
});

test('every kind of search parameter, modifier and result parameter is tried', () => {
  const parameters = resourceTypesWithEndpoint.flatMap((type) => [...getStandardParameters(type).values()]);
  const own = new Set(['_text', '_content', 'phonetic', '_id', '_lastUpdated', 'age']);
  assertCovered(
    parameters.map(({ code, definition }) => {
      if (own.has(code)) return `kind ${code}`;
      return definition.type === 'special' ? `kind special ${code}` : `kind ${definition.type}`;
    }),
  );
  const types = new Set(resourceTypesWithEndpoint);
  assertCovered(
    parameters.flatMap((parameter) =>
      parameter.kind.modifiers(parameter).map((name) => `modifier :${types.has(name) ? '[type]' : name}`),
    ),
  );
  assertCovered(['modifier :missing', ...[...resultParameterNames].map((name) => `result ${name}`)]);
});
