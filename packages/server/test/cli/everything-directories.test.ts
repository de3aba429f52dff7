/**
 * Directories of exports of everything that are refused: where another run writes, or none can be put; and lists of documents that
 * somebody else has made, which are checked line by line: no file outside is read.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { gzipSync } from 'node:zlib';
import { UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { exportEverything } from '../../src/cli/exporting/everything/export-everything.ts';
import { readThisProcess } from '../../src/cli/exporting/everything/process-mark.ts';
import { sql } from '../../src/database/sql.ts';
import { openWorld, pdf } from '../content/world.ts';
import { makeFirm } from '../support/service.ts';
import { runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const world = await openWorld({ after });
const { platform, maple } = world;
const files = openScratchDirectory({ after });
const source = files.write('resources.ndjson', '{"resourceType":"Patient","id":"a"}\n');

const at = (...names: readonly string[]): string => path.join(files.path, ...names);
const run = (...line: readonly string[]) => runCommand(platform, commands, ...line);
const exported = (out: string) => run('export', '--firm', 'maple', '--everything', '--out', at(out));
const noUsage = (message: RegExp) => (error: unknown) => error instanceof UsageError && message.test(error.message);

test('a directory that another run writes to, or that cannot be replaced, is refused before any work', async () => {
  files.write('busy.partial/.praxis-export', await readThisProcess());
  files.write('busy.partial/current/Patient.ndjson', 'of the other run');
  await assert.rejects(exported('busy'), noUsage(/^another export writes to .*busy\.partial$/));
  assert.equal(readFileSync(at('busy.partial/current/Patient.ndjson'), 'utf8'), 'of the other run');
  mkdirSync(at('real'));
  symlinkSync(at('real'), at('link'));
  await assert.rejects(exported('link'), noUsage(/link must be new or an empty directory, and no link to one$/));
  if (existsSync('/dev/shm') && statSync('/dev/shm').dev !== statSync('/dev').dev)
    await assert.rejects(
      run('export', '--firm', 'maple', '--everything', '--out', '/dev/shm'),
      noUsage(/^\/dev\/shm (is the root of a file system|must be empty)/),
    );
  assert.deepEqual(readdirSync(at('real')), []);
});

test('a firm whose erasure is confirmed meanwhile gives no export', async () => {
  const elm = await makeFirm(world, 'elm');
  const store: typeof platform.store = {
    ...platform.store,
    run: async (scope, statement, options) => {
      await platform.asOwner((owner) => owner.query(sql`UPDATE firm SET state = 'erasing' WHERE id = ${elm.id}`));
      return await platform.store.run(scope, statement, options);
    },
  };
  const progress = { onPart: () => undefined, onCount: () => undefined };
  await assert.rejects(
    exportEverything({ ...platform, store }, elm, at('elm'), progress),
    /firm elm does not exist in environment sandbox/,
  );
  assert.deepEqual([existsSync(at('elm')), existsSync(at('elm.partial'))], [false, false]);
});

const idOf = (digit: number): string => `0000000${digit}-0000-4000-8000-000000000000`;

/** A line of the list whose content is there. */
function lineOf(digit: number, given: object = {}): object {
  const id = idOf(digit);
  const sha256 = createHash('sha256').update(pdf).digest('hex');
  const facts = { bytes: pdf.length, sha256, mediaType: 'application/pdf', uploaded: 1, application: 1, holders: [] };
  return { id, path: `documents/00/${id}`, ...facts, ...given };
}

async function imported(directory: string, lines: readonly unknown[]) {
  files.write(`${directory}/documents.ndjson.gz`, gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
  const at = path.join(files.path, directory);
  const result = await runCommand(platform, commands, 'import', source, '--firm', 'maple', '--documents', at);
  const rows = await platform.asOwner((owner) =>
    owner.query<{ id: string; name: string | null }>(
      sql`SELECT id, object_key AS name FROM document_content WHERE firm = ${maple.id} ORDER BY id`,
    ),
  );
  return { ...result, rows };
}

test('a file that is missing is told with its id, and the rest is imported', async () => {
  files.write(`lost/documents/00/${idOf(2)}`, pdf);
  const { exitStatus, output, progress, rows } = await imported('lost', [lineOf(1), lineOf(2), lineOf(2)]);
  assert.equal(exitStatus, 1);
  assert.match(output[0] ?? '', /^1 documents stored at maple, 2 refused/);
  assert.match(progress, new RegExp(`document ${idOf(1)} is missing`));
  assert.match(progress, new RegExp(`document ${idOf(2)} is listed twice`));
  assert.deepEqual(
    rows.map(({ id }) => id),
    [idOf(2)],
  );
  assert.ok(existsSync(path.join(world.files.path, 'content', rows[0]?.name ?? 'nowhere')));
});

test('wrong lines are told with their number, links are not followed, and nothing of them is stored', async () => {
  const foreign = files.write('secret.pdf', pdf);
  files.write(`foreign/documents/00/${idOf(3)}`, pdf);
  symlinkSync(foreign, path.join(files.path, 'foreign/documents/00', idOf(4)));
  symlinkSync(path.join(files.path, 'foreign/documents/00'), path.join(files.path, 'foreign/documents/11'));
  const wrong: readonly (readonly [unknown, string])[] = [
    [null, 'is no JSON object'],
    [[], 'is no JSON object'],
    [lineOf(5, { id: '../../../pwned' }), 'id must be a UUID in lower case'],
    [lineOf(5, { path: '../secret.pdf' }), 'path must be a path below the directory'],
    [lineOf(5, { bytes: -1 }), 'bytes must be a whole number of at least 0'],
    [lineOf(5, { bytes: 1.5 }), 'bytes must be a whole number of at least 0'],
    [lineOf(5, { sha256: 'x' }), 'sha256 must be 64 hexadecimal digits in lower case'],
    [lineOf(5, { mediaType: 'text/html' }), 'mediaType must be a media type that documents may have'],
    [lineOf(5, { holders: 'none' }), 'holders must be a list of references'],
  ];
  const { exitStatus, output, progress, rows } = await imported('foreign', [
    ...wrong.map(([line]) => line),
    ...[lineOf(4), lineOf(6, { path: `documents/11/${idOf(3)}` }), lineOf(3)],
  ]);
  assert.equal(exitStatus, 1);
  assert.match(output[0] ?? '', /^1 documents stored at maple, 11 refused/);
  for (const [index, [, rule]] of wrong.entries())
    assert.ok(progress.includes(`line ${index + 1} of documents.ndjson.gz: ${rule}`), `${rule}: ${progress}`);
  for (const digit of [4, 6])
    assert.ok(progress.includes(`document ${idOf(digit)} is no regular file of the directory`), progress);
  assert.deepEqual(
    rows.map(({ id }) => id),
    [idOf(2), idOf(3)],
  );
  assert.deepEqual(readdirSync(path.join(world.files.path, 'content/incoming')), []);
});
