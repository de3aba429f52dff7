/** Storing many resources at once: what one failure costs, and how far reading runs ahead of writing. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { ImportItem } from '../../src/cli/importing/plan-batch.ts';
import type { ImportProblem } from '../../src/cli/importing/problem.ts';
import { loadResources } from '../../src/cli/loading.ts';
import { sql } from '../../src/database/sql.ts';
import { changeRights } from '../../src/tenancy/epochs.ts';
import type { Firm } from '../../src/tenancy/firms.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { makeFirm, openTestPlatform } from './platform.ts';

const platform = await openTestPlatform({ after });

const item = (id: string, size = 0): ImportItem => ({
  resource: { resourceType: 'Patient', id },
  origin: `line ${id}`,
  size,
});

interface Loaded {
  readonly stored: number;
  readonly problems: readonly ImportProblem[];
  /** What `onProgress` was told. */
  readonly progress: readonly number[];
}

async function load(
  firm: Firm,
  items: Iterable<ImportItem> | AsyncIterable<ImportItem>,
  onProgress?: (stored: number) => void,
): Promise<Loaded> {
  const problems: ImportProblem[] = [];
  const progress: number[] = [];
  const stored = await loadResources(platform, firm, items, {
    validate: true,
    onProblem: (problem) => void problems.push(problem),
    onProgress(count) {
      progress.push(count);
      onProgress?.(count);
    },
  });
  return { stored, problems, progress };
}

async function idsAt(firm: Firm): Promise<string[]> {
  const scope = await openOperatorScope(platform.database, platform.clock, firm);
  const ids: string[] = [];
  for await (const { id } of platform.store.stream(scope)) ids.push(id);
  return ids;
}

test('what the database refuses is told, and stops nothing else of its batch', async () => {
  const firm = await makeFirm(platform, 'refusing');
  await platform.asOwner(async (owner) => {
    await owner.query(sql`
      CREATE FUNCTION refuse_some() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.id LIKE 'refused%' THEN RAISE check_violation; END IF;
        RETURN NEW;
      END $$`);
    await owner.query(
      sql`CREATE TRIGGER refuse_some BEFORE INSERT ON resource FOR EACH ROW EXECUTE FUNCTION refuse_some()`,
    );
  });
  const ids = ['a', 'refused-1', 'b', 'c', 'a', 'refused-2', 'd'];
  const { stored, problems } = await load(
    firm,
    ids.map((id) => item(id)),
  );
  await platform.asOwner((owner) => owner.query(sql`DROP TRIGGER refuse_some ON resource`));
  assert.equal(stored, 5);
  assert.deepEqual(
    problems.map(({ origin }) => origin),
    ['line refused-1', 'line refused-2'],
  );
  for (const { issues } of problems) assert.match(issues[0]?.diagnostics ?? '', /SQLSTATE 23514/);
  assert.deepEqual(await idsAt(firm), ['a', 'b', 'c', 'd']);
});

test('a source that fails in the middle fails the whole, and what was told as stored is', async () => {
  const firm = await makeFirm(platform, 'failing');
  let told = 0;
  async function* items(): AsyncGenerator<ImportItem> {
    for (let index = 0; index < 700; index += 1) yield item(`p${index}`);
    throw new Error('the disk is gone');
  }
  await assert.rejects(
    load(firm, items(), (stored) => {
      told = stored;
    }),
    /the disk is gone/,
  );
  const ids = await idsAt(firm);
  assert.ok(told >= 200, `only ${told}`);
  assert.ok(ids.length >= told);
  assert.equal(ids.length % 200, 0);
});

test('rights of the operator that change in the middle change nothing', async () => {
  const firm = await makeFirm(platform, 'changing');
  async function* items(): AsyncGenerator<ImportItem> {
    for (let index = 0; index < 1000; index += 1) {
      if (index % 300 === 0) await changeRights(platform.database, { firm: firm.id }, async () => undefined);
      yield item(`p${index}`);
    }
  }
  const { stored, problems } = await load(firm, items());
  assert.deepEqual(problems, []);
  assert.equal(stored, 1000);
  assert.equal((await idsAt(firm)).length, 1000);
});

test('two imports of the same resources at the same time both store all of theirs', async () => {
  const firm = await makeFirm(platform, 'racing');
  const ids = Array.from({ length: 500 }, (_, index) => `p${index}`);
  const results = await Promise.all([
    load(
      firm,
      ids.map((id) => item(id)),
    ),
    load(
      firm,
      ids.map((id) => item(id)),
    ),
  ]);
  for (const { stored, problems } of results) assert.deepEqual([stored, problems], [500, []]);
  const scope = await openOperatorScope(platform.database, platform.clock, firm);
  const current = await platform.store.currentVersions(
    scope,
    ids.map((id) => ({ type: 'Patient', id })),
  );
  assert.deepEqual(new Set(current.map(({ versionId }) => versionId)), new Set([2]));
});

test('reading runs ahead of writing by a few batches, of small resources and of large ones', async () => {
  for (const { prefix, size, aheadMax } of [
    { prefix: 'small', size: 1000, aheadMax: 3 * 200 },
    { prefix: 'large', size: 4 * 1024 * 1024, aheadMax: 3 * 3 },
  ]) {
    const firm = await makeFirm(platform, prefix);
    let read = 0;
    let ahead = 0;
    let written = 0;
    function* items(): Generator<ImportItem> {
      for (let index = 0; index < 1200; index += 1) {
        read += 1;
        ahead = Math.max(ahead, read - written);
        yield item(`p${index}`, size);
      }
    }
    const { stored } = await load(firm, items(), (count) => {
      written = count;
    });
    assert.equal(stored, 1200);
    assert.ok(ahead <= aheadMax, `${ahead} of ${prefix} resources read and not written`);
  }
});
