/** `praxis export`: a firm's live resources, and nothing else, as they are stored. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import test, { after } from 'node:test';
import { boxStored, getStoredText } from '../../src/access/disclosure.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { UsageError } from '../../src/cli/command.ts';
import { exportCommands } from '../../src/cli/commands/data/export.ts';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { openDirectorySink, streamSink } from '../../src/cli/exporting/export-files.ts';
import { makeIndexRows } from '../../src/search/index/index-rows.ts';
import type { StoredResource } from '../../src/storage/store.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { makeFirm, openTestPlatform, runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const platform = await openTestPlatform({ after });
const files = openScratchDirectory({ after });
const maple = await makeFirm(platform, 'maple');
await makeFirm(platform, 'cedar');
const scope = await openOperatorScope(platform.database, platform.clock, maple);

const run = (...line: readonly string[]) => runCommand(platform, exportCommands, 'export', ...line);
const out = (name: string): string => path.join(files.path, name);

const imported = files.write(
  'maple.ndjson',
  [
    { resourceType: 'Patient', id: 'a', active: true },
    { resourceType: 'Patient', id: 'gone' },
    { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' } },
    { resourceType: 'Patient', id: 'b', active: false },
    { resourceType: 'Patient', id: 'a', active: false },
  ]
    .map((resource) => `${JSON.stringify(resource)}\n`)
    .join(''),
);
await runCommand(platform, importCommands, 'import', imported, '--firm', 'maple');
await runCommand(
  platform,
  importCommands,
  'import',
  files.write('cedar.json', '{"resourceType":"Patient","id":"of-cedar"}'),
  '--firm',
  'cedar',
);
await platform.store.write(scope, {
  type: 'Patient',
  id: 'gone',
  expectedVersion: 1,
  lastUpdatedMs: platform.clock.now(),
  content: null,
  index: makeIndexRows(),
  audit: { atMs: platform.clock.now(), interaction: 'delete', subject: 'test', tokenId: 'test', requestId: 'test' },
});

async function current(...keys: readonly string[]): Promise<string> {
  const texts: string[] = [];
  for (const key of keys) {
    const [type = '', id = ''] = key.split('/');
    const found = await platform.store.read(scope, type, id);
    assert.ok(found);
    texts.push(`${getStoredText(found.content)}\n`);
  }
  return texts.join('');
}

test('an unknown firm or type, and a directory that is not empty, are refused and nothing is written', async () => {
  await assert.rejects(run(), (error) => error instanceof UsageError && /^--firm is missing/.test(error.message));
  await assert.rejects(
    run('--firm', 'nobody', '--out', out('refused')),
    (error) => error instanceof PraxisError && error.code === 'resource-not-found',
  );
  await assert.rejects(
    run('--firm', 'maple', '--type', 'Patienta', '--out', out('refused')),
    new UsageError('--type Patienta is not a resource type of R4: did you mean Patient?'),
  );
  assert.throws(() => statSync(out('refused')), /ENOENT/);
  const used = path.dirname(files.write('used/Patient.ndjson', 'earlier\n'));
  await assert.rejects(
    run('--firm', 'maple', '--out', used),
    (error) => error instanceof UsageError && /used must be empty: it holds Patient\.ndjson/.test(error.message),
  );
  assert.deepEqual(readdirSync(used), ['Patient.ndjson']);
  assert.equal(readFileSync(path.join(used, 'Patient.ndjson'), 'utf8'), 'earlier\n');
});

test('what fails half-way leaves no files behind', async () => {
  const sink = await openDirectorySink(out('failed'));
  await sink.write({
    type: 'Patient',
    id: 'a',
    versionId: 1,
    lastUpdatedMs: 0,
    deleted: false,
    content: boxStored('{}'),
  });
  await sink.abandon();
  assert.deepEqual(readdirSync(out('failed')), []);
});

test('a file that cannot be written fails the export', async () => {
  const directory = out('blocked');
  const sink = await openDirectorySink(directory);
  writeFileSync(path.join(directory, 'Patient.ndjson.partial'), 'of another export');
  const write = async (): Promise<void> => {
    await sink.write({
      type: 'Patient',
      id: 'a',
      versionId: 1,
      lastUpdatedMs: 0,
      deleted: false,
      content: boxStored('{}'),
    });
    await sink.finish();
  };
  await assert.rejects(write(), /EEXIST/);
});

test('a file per type, each line as it is stored, readable by its owner alone', async () => {
  const result = await run('--firm', 'maple', '--out', out('all'));
  assert.equal(result.exitStatus, 0);
  assert.match(result.progress, /^3 resources of maple exported \(\d+\.\d s, [\d,]+\/s\)\n$/);
  assert.deepEqual(result.output, []);
  assert.deepEqual(readdirSync(out('all')).sort(), ['Observation.ndjson', 'Patient.ndjson']);
  assert.equal(readFileSync(out('all/Patient.ndjson'), 'utf8'), await current('Patient/a', 'Patient/b'));
  assert.equal(readFileSync(out('all/Observation.ndjson'), 'utf8'), await current('Observation/o'));
  assert.equal(statSync(out('all/Patient.ndjson')).mode & 0o777, 0o600);
});

test('of the types that are asked for only', async () => {
  await run('--firm', 'maple', '--type', 'Observation', '--type', 'Slot', '--out', out('some'));
  assert.deepEqual(readdirSync(out('some')), ['Observation.ndjson']);
});

test('what was exported can be imported elsewhere', async () => {
  await makeFirm(platform, 'birch');
  await run('--firm', 'maple', '--out', out('moved'));
  const result = await runCommand(platform, importCommands, 'import', out('moved'), '--firm', 'birch');
  assert.match(result.output[0] ?? '', /^3 resources stored at birch, 0 refused/);
  await run('--firm', 'birch', '--out', out('moved-again'));
  const ofBirch = readFileSync(out('moved-again/Patient.ndjson'), 'utf8');
  const ofMaple = readFileSync(out('moved/Patient.ndjson'), 'utf8');
  assert.equal(ofBirch, ofMaple.replace('"versionId":"2"', '"versionId":"1"'));
});

test('a slow reader is waited for', async () => {
  const received: number[] = [];
  let pendingMax = 0;
  const slow = new Writable({
    highWaterMark: 1024,
    write(chunk: Buffer, _encoding, done) {
      received.push(chunk.length);
      setTimeout(done, 2);
    },
  });
  const sink = streamSink(slow);
  const resource: StoredResource = {
    type: 'Patient',
    id: 'a',
    versionId: 1,
    lastUpdatedMs: 0,
    deleted: false,
    content: boxStored('x'.repeat(1023)),
  };
  for (let index = 0; index < 1000; index += 1) {
    await sink.write(resource);
    pendingMax = Math.max(pendingMax, slow.writableLength);
  }
  await sink.finish();
  assert.equal(
    received.reduce((sum, length) => sum + length, 0),
    1_024_000,
  );
  assert.ok(pendingMax <= 64 * 1024, `${pendingMax} bytes were waiting`);
});
