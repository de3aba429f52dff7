/** `praxis import`: several versions of one resource in one transaction, of which some are refused. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { getStoredText } from '../../src/access/disclosure.ts';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { sql } from '../../src/database/sql.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { openWorld, pdf, uploaded } from '../content/world.ts';
import { type CommandResult, runCommand } from './platform.ts';

const world = await openWorld({ after });
const { platform, files, maple } = world;
const scope = await openOperatorScope(platform.database, platform.clock, maple);
const base = `http://${platform.config.host}:${platform.config.port}/sandbox/firm/maple/pm`;

let number = 0;

function importLines(resources: readonly object[], ...more: readonly string[]): Promise<CommandResult> {
  number += 1;
  const file = files.write(`order-${number}.ndjson`, resources.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return runCommand(platform, importCommands, 'import', file, '--firm', 'maple', ...more);
}

const document = (id: string, description: string, content?: string) => ({
  resourceType: 'DocumentReference',
  id,
  status: 'current',
  description,
  content: [{ attachment: content === undefined ? { title: 'none' } : { url: `${base}/content/${content}` } }],
});

/** Versions of a resource, oldest first: their numbers, in the database and in their texts, and their members. */
async function versionsOf(type: string, id: string, member: string): Promise<readonly unknown[]> {
  const { versions } = await platform.store.history(scope, type, id, { limit: 10 });
  return versions.toReversed().map(({ versionId, content }) => {
    const resource = JSON.parse(getStoredText(content));
    return [versionId, resource.meta.versionId, resource[member]];
  });
}

const summaryOf = ({ output }: CommandResult): string | undefined => output.at(-1)?.split(' (')[0];
const missing = '0193f2f0-0000-7000-8000-000000000001';

test('a version that names content is stored before the next one of its resource, and after the one before', async () => {
  const { id } = await uploaded(world.caller, pdf);
  const result = await importLines([
    document('held', 'first'),
    document('held', 'with content', id),
    document('held', 'last'),
    document('other', 'apart'),
  ]);
  assert.deepEqual([result.progress, result.exitStatus], ['', 0]);
  assert.equal(summaryOf(result), '4 resources stored at maple, 0 refused');
  assert.deepEqual(await versionsOf('DocumentReference', 'held', 'description'), [
    [1, '1', 'first'],
    [2, '2', 'with content'],
    [3, '3', 'last'],
  ]);
});

for (const [mode, versions] of [
  ['upsert', [[1, '1', 'second'] as const, [2, '2', 'third'] as const]],
  ['create', [[1, '1', 'second'] as const]],
  ['skip-existing', [[1, '1', 'second'] as const]],
] as const) {
  test(`where a version names content that is not there, the next one takes its place: ${mode}`, async () => {
    const id = `refused-${mode}`;
    const result = await importLines(
      [document(id, 'first', missing), document(id, 'second'), document(id, 'third')],
      '--mode',
      mode,
    );
    const told = result.progress.trimEnd().split('\n');
    assert.match(told[0] ?? '', /:1: DocumentReference\.content\[0\]\.attachment\.url names no content/);
    assert.equal(told.length, mode === 'create' ? 2 : 1);
    if (mode === 'create')
      assert.match(told[1] ?? '', /:3: DocumentReference\/refused-create is there already, so its id is in use$/);
    assert.deepEqual(await versionsOf('DocumentReference', id, 'description'), versions);
  });
}

test('a version that the database refuses is passed over, and those around it are stored', async () => {
  await platform.asOwner(async (owner) => {
    await owner.query(sql`
      CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.content LIKE '%unheard-of%' THEN RAISE EXCEPTION 'no room for it' USING ERRCODE = '54000'; END IF;
        RETURN NEW;
      END $$`);
    await owner.query(sql`GRANT EXECUTE ON FUNCTION refuse_row TO praxis_runtime`);
    await owner.query(
      sql`CREATE TRIGGER refuse_row BEFORE INSERT OR UPDATE ON resource FOR EACH ROW EXECUTE FUNCTION refuse_row()`,
    );
  });
  const patient = (id: string, language: string) => ({ resourceType: 'Patient', id, name: [{ text: language }] });
  const result = await importLines([
    patient('a', 'first'),
    patient('b', 'unheard-of'),
    patient('a', 'unheard-of'),
    patient('a', 'last'),
    patient('b', 'first'),
  ]);
  await platform.asOwner((owner) => owner.query(sql`DROP TRIGGER refuse_row ON resource`));
  const places = result.progress
    .trimEnd()
    .split('\n')
    .map((line) => /\.ndjson:(\d+): /.exec(line)?.[1]);
  assert.deepEqual(places, ['2', '3']);
  assert.match(result.progress, /no room for it/);
  assert.equal(summaryOf(result), '3 resources stored at maple, 2 refused');
  assert.deepEqual(await versionsOf('Patient', 'a', 'name'), [
    [1, '1', [{ text: 'first' }]],
    [2, '2', [{ text: 'last' }]],
  ]);
  assert.deepEqual(await versionsOf('Patient', 'b', 'name'), [[1, '1', [{ text: 'first' }]]]);
});

for (const [mode, summary, version] of [
  ['upsert', '2,602 resources stored at maple, 0 refused', 2],
  ['create', '2,600 resources stored at maple, 2 refused', 1],
  ['skip-existing', '2,600 resources stored at maple, 2 skipped, 0 refused', 1],
] as const) {
  test(`what is there is seen also where all before it was new: ${mode}`, async () => {
    const there = { resourceType: 'Patient', id: `there-${mode}` };
    const broken = { resourceType: 'Patient', id: `broken-${mode}`, contact: [{ gender: 'male' }] };
    await importLines([there, broken], '--lenient-invariants');
    const fresh = Array.from({ length: 2_600 }, (_, index) => ({ resourceType: 'Patient', id: `${mode}-${index}` }));
    const result = await importLines([...fresh, there, broken], '--mode', mode);
    assert.equal(summaryOf(result), summary, result.progress);
    for (const { id } of [there, broken])
      assert.equal((await platform.store.read(scope, 'Patient', id))?.versionId, version);
  });
}

test('an invariant that the version before has mended is broken anew', async () => {
  const patient = (language: string, contact: object) => ({
    resourceType: 'Patient',
    id: 'mended',
    name: [{ text: language }],
    contact: [contact],
  });
  const broken = { gender: 'male' };
  await importLines([patient('broken', broken)], '--lenient-invariants');
  const result = await importLines([patient('mended', { name: { text: 'x' } }), patient('broken again', broken)]);
  assert.match(result.progress, /^\S+:2: Patient\.contact\[0\]: SHALL [^\n]*\(pat-1\)\n$/);
  assert.equal(summaryOf(result), '1 resources stored at maple, 1 refused');
  assert.deepEqual(await versionsOf('Patient', 'mended', 'name'), [
    [1, '1', [{ text: 'broken' }]],
    [2, '2', [{ text: 'mended' }]],
  ]);
});
