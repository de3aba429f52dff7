/** `praxis import`: files that are changed while they are imported, and empty ones. */
import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import test, { after } from 'node:test';
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
