/** `praxis import`: files that are changed while they are imported, and reports that cannot be written. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { UsageError } from '../../src/cli/command.ts';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { sql } from '../../src/database/sql.ts';
import type { Firm } from '../../src/tenancy/firms.ts';
import { type CommandResult, makeFirm, openTestPlatform, runCommand, runWatched } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const platform = await openTestPlatform({ after });
const files = openScratchDirectory({ after });

const importAt = ({ prefix }: Firm, ...line: readonly string[]): Promise<CommandResult> =>
  runCommand(platform, importCommands, 'import', ...line, '--firm', prefix);

const withoutPace = (output: readonly string[]): readonly string[] =>
  output.map((line) => line.replace(/ \([\d.,]+ s, [\d,]+\/s\)/, ''));

const many = 4_000;
/** The first line is refused, which is told when the first part of the file is stored. */
const text = `{"resourceType":"Patient","gender":"x"}\n${Array.from(
  { length: many },
  (_, index) => `${JSON.stringify({ resourceType: 'Patient', id: `p${index}`, name: [{ text: 'x'.repeat(500) }] })}\n`,
).join('')}`;

/** Resources of the firm, and their versions. */
async function count({ id }: Firm): Promise<{ readonly resources: number; readonly versions: number }> {
  const [row] = await platform.asOwner((owner) =>
    owner.query<{ resources: number; versions: number }>(sql`
      SELECT (SELECT count(*) FROM resource WHERE firm = ${id}) AS resources,
        (SELECT count(*) FROM resource_version WHERE firm = ${id}) AS versions`),
  );
  assert.ok(row);
  return row;
}

const changes: readonly (readonly [what: string, change: (file: string) => void])[] = [
  ['loses its end, in the middle of a line', (file) => truncateSync(file, text.length - 30)],
  ['loses its last lines', (file) => truncateSync(file, text.lastIndexOf('\n', text.length - 5_000) + 1)],
  ['is emptied', (file) => truncateSync(file)],
  ['is written again with as many bytes', (file) => writeFileSync(file, text.replaceAll('x', 'y'))],
  ['grows', (file) => writeFileSync(file, '{"resourceType":"Patient","id":"more"}\n', { flag: 'a' })],
];

for (const [index, [what, change]] of changes.entries()) {
  test(`a file that ${what} while it is imported is told with its line, and the same file continues`, async () => {
    const firm = await makeFirm(platform, `changed-${index}`);
    const file = files.write(`changed-${index}.ndjson`, text);
    const output: string[] = [];
    let isChanged = false;
    const onProgress = (): void => {
      if (!isChanged) change(file);
      isChanged = true;
    };
    const running = runWatched(
      platform,
      importCommands,
      { onProgress, output },
      ...['import', file, '--firm', firm.prefix],
    );
    await assert.rejects(running, (error) => {
      assert.ok(error instanceof UsageError);
      assert.match(
        error.message,
        /^\S+\.ndjson:\d+: the file has changed since the import began, and is not read any further\. Restore it to continue, or import it as it is now$/,
      );
      return true;
    });
    const { resources, versions } = await count(firm);
    assert.ok(resources > 0 && resources < many, `${resources} are stored`);
    assert.equal(versions, resources);
    assert.deepEqual(withoutPace(output), [
      `${resources.toLocaleString('en-US')} resources stored at ${firm.prefix}: run it again to continue`,
    ]);
    writeFileSync(file, text);
    const again = await importAt(firm, file);
    assert.deepEqual(withoutPace(again.output), [
      `${many.toLocaleString('en-US')} resources stored at ${firm.prefix}, 1 refused`,
    ]);
    assert.deepEqual(await count(firm), { resources: many, versions: many });
  });
}

test('the report of a directory may lie in it: the same directory continues', async () => {
  const firm = await makeFirm(platform, 'within');
  const file = files.write('within/a.ndjson', text);
  const errors = path.join(files.path, 'within', 'errors.ndjson');
  const line = ['import', path.dirname(file), '--firm', firm.prefix, '--errors', errors] as const;
  const onProgress = (): void => truncateSync(file);
  await assert.rejects(
    runWatched(platform, importCommands, { onProgress, output: [] }, ...line),
    /the file has changed since the import began/,
  );
  assert.equal(readFileSync(errors, 'utf8'), '');
  writeFileSync(file, text);
  const again = await runCommand(platform, importCommands, ...line);
  assert.match(again.progress, /^continues an import that was interrupted: [\d,]+ resources are stored\n/);
  assert.deepEqual(await count(firm), { resources: many, versions: many });
});

test('a report that cannot be written is kept, and the same files bring it', async () => {
  const firm = await makeFirm(platform, 'unwritten');
  const file = files.write(
    'unwritten.ndjson',
    '{"resourceType":"Patient","id":"a"}\n{"resourceType":"Patient","gender":"x"}\n',
  );
  const summary = `1 resources stored at ${firm.prefix}, 1 refused`;
  const output: string[] = [];
  const line = ['import', file, '--firm', firm.prefix] as const;
  // A file whose disk is full.
  const running = runWatched(
    platform,
    importCommands,
    { onProgress: () => undefined, output },
    ...[...line, '--errors', '/dev/full'],
  );
  await assert.rejects(running, (error) => {
    assert.ok(error instanceof Error && !(error instanceof UsageError));
    assert.equal(
      error.message,
      '/dev/full cannot be written: ENOSPC. All is stored. Make room or name another file, and run it again: the report is written then',
    );
    return true;
  });
  assert.deepEqual(withoutPace(output), [summary]);
  const errors = path.join(files.path, 'unwritten-errors.ndjson');
  const again = await runCommand(platform, importCommands, ...line, '--errors', errors);
  assert.equal(again.progress, 'continues an import that was interrupted: 1 resources are stored\n');
  assert.deepEqual(withoutPace(again.output), [summary]);
  assert.equal(again.exitStatus, 1);
  assert.equal(JSON.parse(readFileSync(errors, 'utf8')).issue[0].location[0], `${file}:2`);
  assert.equal(statSync(errors).mode & 0o777, 0o600);
  assert.deepEqual(await count(firm), { resources: 1, versions: 1 });
});

test('an import that is interrupted when all is stored ends without storing anything again', async () => {
  const firm = await makeFirm(platform, 'nearly');
  const file = files.write(
    'nearly.ndjson',
    '{"resourceType":"Patient","id":"a"}\n{"resourceType":"Patient","gender":"x"}\n',
  );
  const summary = `1 resources stored at ${firm.prefix}, 1 refused`;
  await platform.asOwner(async (owner) => {
    await owner.query(sql`
      CREATE FUNCTION end_at_last() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_terminate_backend(pg_backend_pid());
        RETURN NEW;
      END $$`);
    await owner.query(sql`GRANT EXECUTE ON FUNCTION end_at_last TO praxis_runtime`);
    await owner.query(
      sql`CREATE TRIGGER end_at_last BEFORE UPDATE OF finished ON import_run FOR EACH ROW EXECUTE FUNCTION end_at_last()`,
    );
  });
  const output: string[] = [];
  const line = ['import', file, '--firm', firm.prefix] as const;
  await assert.rejects(
    runWatched(platform, importCommands, { onProgress: () => undefined, output }, ...line),
    (error) => error instanceof PraxisError && error.code === 'unavailable',
  );
  assert.deepEqual(withoutPace(output), [summary]);
  await platform.asOwner((owner) => owner.query(sql`DROP TRIGGER end_at_last ON import_run`));
  const again = await runCommand(platform, importCommands, ...line);
  assert.deepEqual(withoutPace(again.output), [summary]);
  assert.deepEqual(await count(firm), { resources: 1, versions: 1 });
});

test('a report that could not be written is refused before anything is stored', async () => {
  const firm = await makeFirm(platform, 'unwritable');
  const file = files.write('unwritable.ndjson', '{"resourceType":"Patient","id":"a"}\n');
  const refusals: readonly (readonly [errors: string, reason: string])[] = [
    [files.path, 'it is there already'],
    [file, 'it is there already'],
    [path.join(file, 'below'), 'ENOTDIR'],
    [path.join(files.path, 'missing', 'a'), 'ENOENT'],
  ];
  for (const [errors, reason] of refusals) {
    await assert.rejects(importAt(firm, file, '--errors', errors), (error) => {
      assert.ok(error instanceof UsageError);
      assert.equal(error.message, `${errors} cannot be written: ${reason}`);
      return true;
    });
  }
  assert.deepEqual(await count(firm), { resources: 0, versions: 0 });
});

test('an empty JSON file is told as no resource, and an empty NDJSON file has none', async () => {
  const firm = await makeFirm(platform, 'empty');
  const [json, lines, marks] = [
    files.write('empty.json', ''),
    files.write('empty.ndjson', ''),
    files.write('marks.ndjson', '\uFEFF\n\uFEFF \r\n{"resourceType":"Patient","id":"a"}\n\uFEFF'),
  ];
  const result = await importAt(firm, json, lines, marks);
  assert.match(result.progress, /^\S+empty\.json:1: [^\n]*end of the text[^\n]*\n$/);
  assert.deepEqual(withoutPace(result.output), [`1 resources stored at ${firm.prefix}, 1 refused`]);
  assert.equal(result.exitStatus, 1);
});
