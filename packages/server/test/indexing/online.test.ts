/**
 * Indexing beside the life of a firm: writers of every kind go on, processes die and others take over, and in the end the
 * parameter finds exactly what following its expression by hand finds.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type JsonObject, parseJson } from '@praxis/fhir';
import { getStoredText } from '../../src/access/disclosure.ts';
import { sql } from '../../src/database/sql.ts';
import { buildWrite } from '../../src/engine/write/build-write.ts';
import { openIndexingJob } from '../../src/indexing/firm-parameters.ts';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const { platform } = service;
const { database, store, clock } = platform;
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
/** Another process: it shares nothing with the service but the database. */
const process = () => openIndexingJob({ ...service.service.parts, database, baseUrlOf: () => maple.base });

/** Five portions: a job of the service may do some of them while others are looked at. */
const stored = 2_300;
const shade = (index: number) => ['red', 'green', 'blue'][index % 3] ?? '';
const colourUrl = 'https://example.org/fhir/StructureDefinition/colour';
const coloured = (id: string, colour: string) => ({
  ...patient('Stone', { extension: [{ url: colourUrl, valueCode: colour }] }),
  resourceType: 'Patient' as const,
  id,
});

async function context() {
  const scope = await openOperatorScope(database, clock, maple);
  const caller = { flow: 'client', tokenId: 't', subject: 'praxis', requestId: 'r' } as const;
  return { scope, clock, caller, baseUrl: maple.base, budget: openOperatorBudget() };
}

async function seed(): Promise<void> {
  const writing = await context();
  for (let from = 0; from < stored; from += 500) {
    const writes = await Promise.all(
      Array.from({ length: Math.min(500, stored - from) }, (_, at) => {
        const id = `p${from + at}`;
        return buildWrite(writing, 'create', 'Patient', id, coloured(id, shade(from + at)), 0);
      }),
    );
    await store.writeMany(writing.scope, writes);
  }
}
await seed();

const definition = (code: string) => ({
  resourceType: 'SearchParameter',
  id: code,
  url: `https://example.org/fhir/SearchParameter/${code}`,
  name: code,
  status: 'active',
  description: 'The colour of the file',
  code,
  base: ['Patient'],
  type: 'token',
  expression: `Patient.extension('${colourUrl}').value`,
});

async function define(code: string): Promise<void> {
  const { status, text } = await full.send('PUT', `SearchParameter/${code}`, definition(code));
  assert.equal(status, 201, text);
}

async function stateOf(code: string): Promise<{ state: string; done: number; total: number | null } | undefined> {
  const [row] = await database.query<{ state: string; done: number; total: number | null }>(sql`
    SELECT state, resources_done AS done, resources_total AS total FROM firm_search_parameter
    WHERE firm = ${maple.id} AND resource_id = ${code} ORDER BY id DESC LIMIT 1`);
  return row;
}

/** Ids by colour, as the stored resources tell. */
async function byHand(): Promise<Map<string, string[]>> {
  const { scope } = await context();
  const ids = new Map<string, string[]>();
  for await (const { id, content } of store.stream(scope, { types: ['Patient'] })) {
    const { extension } = parseJson(getStoredText(content)) as JsonObject & { extension?: { valueCode: string }[] };
    for (const { valueCode } of extension ?? []) ids.set(valueCode, [...(ids.get(valueCode) ?? []), id].sort());
  }
  return ids;
}

async function bySearch(code: string, colour: string): Promise<string[]> {
  const ids: string[] = [];
  let url: string | undefined = `Patient?${code}=${colour}&_count=1000&_elements=id`;
  while (url !== undefined) {
    const { status, json, text } = await full.get(url);
    assert.equal(status, 200, text);
    ids.push(...(json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id));
    const next: string | undefined = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
    url = next?.slice(maple.base.length + 1);
  }
  return ids.sort();
}

async function assertAllFound(code: string): Promise<void> {
  for (const [colour, ids] of await byHand()) assert.deepEqual(await bySearch(code, colour), ids, colour);
}

test('a process that dies between portions leaves its work to the next, which goes on where it was', async () => {
  await define('file-colour');
  const seen: number[] = [];
  for (let portions = 0; portions < 200; portions += 1) {
    // Each portion by a process of its own, as if the one before had died after it.
    if ((await process().run()) === 'done') break;
    const { done = 0 } = (await stateOf('file-colour')) ?? {};
    seen.push(done);
  }
  assert.equal((await stateOf('file-colour'))?.state, 'active');
  assert.deepEqual(
    seen,
    seen.toSorted((left, right) => left - right),
  );
  assert.ok(new Set(seen).size > 3, `it took several portions: ${seen}`);
  await assertAllFound('file-colour');
});

test('writers of all kinds go on while it is indexed by two processes, and nothing is missed', async () => {
  await define('paper-colour');
  let writing = true;
  const kinds = ['red', 'green', 'blue', 'black'];
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let round = 0; writing; round += 1) {
      const id = `p${(writer * 211 + round * 7) % stored}`;
      const colour = kinds[(writer + round) % kinds.length] ?? '';
      const answers = [
        await full.send('PUT', `Patient/${id}`, coloured(id, colour)),
        await full.send('POST', 'Patient', coloured('new', colour)),
        round % 5 === 0 ? await full.send('DELETE', `Patient/p${(writer * 97 + round) % stored}`) : undefined,
      ];
      for (const answer of answers) {
        if (answer !== undefined) assert.ok([200, 201, 204, 409].includes(answer.status), answer.text);
      }
    }
  });
  const walkers = [process(), process()].map(async (job) => {
    while ((await stateOf('paper-colour'))?.state !== 'active') await job.run();
  });
  await Promise.all(walkers);
  writing = false;
  await Promise.all(writers);
  await assertAllFound('paper-colour');
  await assertAllFound('file-colour');
});

test('a transaction that was open before the definition is waited for, and what it writes is found', async () => {
  const opened = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const writing = await context();
  const slow = store.transaction(writing.scope, async (inside) => {
    await inside.write(
      writing.scope,
      await buildWrite(writing, 'create', 'Patient', 'slow', coloured('slow', 'white'), 0),
    );
    opened.resolve();
    await gate.promise;
  });
  await opened.promise;
  await define('ink-colour');
  const job = process();
  for (let portions = 0; portions < 20; portions += 1) await job.run();
  assert.deepEqual(await stateOf('ink-colour'), { state: 'indexing', done: 0, total: null });
  assert.equal(
    (await full.send('PUT', 'Patient/quick', coloured('quick', 'white'))).status,
    201,
    'writes are not held up',
  );
  gate.resolve();
  await slow;
  await service.service.jobs.settle();
  assert.deepEqual(await bySearch('ink-colour', 'white'), ['quick', 'slow']);
  await assertAllFound('ink-colour');
});

test('a resource that a writer holds is waited for alone, while others are written', async () => {
  const opened = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  await define('cover-colour');
  const job = process();
  while ((await stateOf('cover-colour'))?.total === null || (await stateOf('cover-colour')) === undefined)
    await job.run();
  const writing = await context();
  const held = store.transaction(writing.scope, async (inside) => {
    const current = await inside.read(writing.scope, 'Patient', 'p1200');
    const version = current?.versionId ?? 0;
    await inside.write(
      writing.scope,
      await buildWrite(writing, 'update', 'Patient', 'p1200', coloured('p1200', 'white'), version),
    );
    opened.resolve();
    await gate.promise;
    throw new Error('undone');
  });
  await opened.promise;
  const walking = service.service.jobs.settle();
  assert.equal((await full.send('PUT', 'Patient/p1', coloured('p1', 'black'))).status, 200);
  gate.resolve();
  await assert.rejects(held, /undone/);
  await walking;
  await assertAllFound('cover-colour');
});
