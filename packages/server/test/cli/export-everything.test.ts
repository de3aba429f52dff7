/** `praxis export --everything`: all of a firm, of one moment, signed; checked without a database, and imported elsewhere. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { PraxisError } from '../../src/base/errors.ts';
import { UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { exportEverything } from '../../src/cli/exporting/everything/export-everything.ts';
import { sql } from '../../src/database/sql.ts';
import { openAdministrator } from '../admin/world.ts';
import { openWorld, pdf, storedDocument, uploaded } from '../content/world.ts';
import { makeApplication, makeFirm, openCaller } from '../support/service.ts';
import { runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const world = await openWorld({ after });
const { platform, caller, full, service, maple } = world;
const files = openScratchDirectory({ after });
const at = (...names: readonly string[]): string => path.join(files.path, ...names);
const run = (...line: readonly string[]) => runCommand(platform, commands, ...line);
const exported = (out: string) => run('export', '--firm', 'maple', '--everything', '--out', at(out));
const read = (file: string): string =>
  file.endsWith('.gz') ? gunzipSync(readFileSync(at(file))).toString() : readFileSync(at(file), 'utf8');
const linesOf = (file: string) =>
  read(file)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const sha256 = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(at(file)))
    .digest('hex');
const noUsage = (message: string | RegExp) => (error: unknown) =>
  error instanceof UsageError &&
  (typeof message === 'string' ? error.message === message : message.test(error.message));

// Patients stone and reed are there.
await full.send('PUT', 'Patient/reed', { resourceType: 'Patient', id: 'reed', active: true });
await full.send('PUT', 'Patient/gone', { resourceType: 'Patient', id: 'gone' });
await full.send('DELETE', 'Patient/gone');
const document = await storedDocument(caller, pdf);
await uploaded(caller, Buffer.concat([pdf, Buffer.from('that no resource holds')]));
await openAdministrator(world, 'desk', 'practice', { firm: 'maple' });
await service.parts.ledger.flush();

test('no directory, an unknown firm, and directories that hold something are refused; nothing is written', async () => {
  await assert.rejects(
    run('export', '--firm', 'maple', '--everything'),
    noUsage('--everything needs --out: the directory of the files'),
  );
  await assert.rejects(
    run('export', '--firm', 'maple', '--everything', '--type', 'Patient', '--out', at('refused')),
    noUsage('give --type or --everything: everything is of all types'),
  );
  await assert.rejects(
    run('export', '--firm', 'nobody', '--everything', '--out', at('refused')),
    (error) => error instanceof PraxisError && error.code === 'resource-not-found',
  );
  assert.equal(existsSync(at('refused')), false);
  files.write('used/letter.txt', 'of somebody');
  await assert.rejects(exported('used'), noUsage(/used must be empty: it holds letter\.txt, which would mix/));
  files.write('other.partial/letter.txt', 'of somebody');
  await assert.rejects(exported('other'), noUsage(/other\.partial is in the way, and no export has made it/));
  assert.equal(readFileSync(at('other.partial/letter.txt'), 'utf8'), 'of somebody');
});

test('what fails half-way leaves nothing, and what a killed run has left is replaced', async () => {
  const broken = { ...platform, store: { ...platform.store, run: () => Promise.reject(new Error('gone')) } };
  const progress = { onPart: () => undefined, onCount: () => undefined };
  await assert.rejects(exportEverything(broken, maple, at('half'), progress), /gone/);
  assert.deepEqual([existsSync(at('half')), existsSync(at('half.partial'))], [false, false]);
  files.write('all.partial/.praxis-export', '2147483647 1');
  files.write('all.partial/history/Patient.ndjson.gz', 'half');
});

test('everything: current resources, versions with deletions, documents, settings and the ledger, each as the manifest has it', async () => {
  const result = await exported('all');
  assert.equal(result.exitStatus, 0);
  assert.match(
    result.output[0] ?? '',
    /^3 resources, 6 versions, 1 documents and \d+ rows of the audit ledger of maple are in .*all \(/,
  );
  assert.equal(existsSync(at('all.partial')), false);
  assert.equal(statSync(at('all')).mode & 0o777, 0o700);
  assert.equal(statSync(at('all/current/Patient.ndjson')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(at('all')).sort(), [
    ...[
      'audit',
      'configuration',
      'current',
      'documents',
      'documents.ndjson.gz',
      'history',
      'manifest.json',
      'manifest.sig',
    ],
  ]);
  assert.deepEqual(
    linesOf('all/current/Patient.ndjson').map(({ id, meta }) => [id, meta.versionId]),
    [
      ['stone', '1'],
      ['reed', '2'],
    ],
  );
  assert.deepEqual(
    linesOf('all/history/Patient.ndjson.gz').map((line) => line.id ?? line),
    [
      ...['stone', 'reed', 'reed', 'gone'],
      {
        resourceType: 'Bundle',
        type: 'history',
        entry: [
          {
            request: { method: 'DELETE', url: 'Patient/gone' },
            response: { status: '204', etag: 'W/"2"', lastModified: '2026-11-21T09:30:00.000Z' },
          },
        ],
      },
    ],
  );
  const [listed, ...others] = linesOf('all/documents.ndjson.gz');
  assert.deepEqual(others, []);
  assert.deepEqual(listed.holders, [`DocumentReference/${document}`]);
  assert.deepEqual(readFileSync(at('all', listed.path)), pdf);
  assert.equal(listed.sha256, createHash('sha256').update(pdf).digest('hex'));
  const [reference] = linesOf('all/current/DocumentReference.ndjson');
  assert.equal(reference.content[0].attachment.url, `urn:praxis:content:${listed.id}`);
  const manifest = JSON.parse(read('all/manifest.json'));
  assert.deepEqual(manifest.firm, {
    environment: 'sandbox',
    prefix: 'maple',
    name: 'Firm maple',
    timeZone: 'America/New_York',
  });
  assert.deepEqual(manifest.documents, { files: 1, bytes: pdf.length, missing: 0 });
  assert.equal(manifest.ledger.findings, 0);
  for (const { path: file, sha256: digest, bytes, lines } of manifest.files) {
    assert.deepEqual([sha256(`all/${file}`), statSync(at('all', file)).size], [digest, bytes], file);
    if (lines !== undefined) assert.equal(linesOf(`all/${file}`).length, lines, file);
  }
});

test('no secret is in it', async () => {
  const texts = readdirSync(at('all'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(files.path, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('documents/'))
    .map(read)
    .join('\n');
  const rows = await platform.asOwner((owner) =>
    owner.query<{ text: string }>(sql`
      SELECT encode(password_hash, 'hex') AS text FROM legacy_account UNION ALL SELECT password FROM administrator
      UNION ALL SELECT encode(hash, 'hex') FROM api_key UNION ALL SELECT encode(hash, 'hex') FROM client_secret
      UNION ALL SELECT object_key FROM document_content WHERE object_key IS NOT NULL`),
  );
  assert.ok(rows.length > 4);
  for (const { text } of rows) assert.ok(!texts.includes(text));
  assert.deepEqual(linesOf('all/configuration/administrator.ndjson'), [
    { role: 'practice', state: 'active', username: 'desk', created_at: '2026-11-21T09:30:00+00:00' },
  ]);
  assert.deepEqual(
    linesOf('all/configuration/application.ndjson').map(({ name }) => name),
    ['Operator', 'Scanner', 'Praxis operator'],
  );
});

test('headers of a subscription, which hold credentials of its endpoint, are left out', async () => {
  const aspen = await makeFirm(world, 'aspen');
  const channel = { type: 'rest-hook', endpoint: 'https://example.com/hook', payload: 'application/fhir+json' };
  const subscription = {
    ...{ resourceType: 'Subscription', id: 's', status: 'off', reason: 'Moved', criteria: 'Patient?active=true' },
    channel: { ...channel, header: ['Authorization: Bearer of-the-endpoint'] },
  };
  const header = ['Authorization: Bearer of-the-endpoint'];
  const endpoint = {
    ...{ resourceType: 'Endpoint', status: 'active', payloadType: [{ text: 'any' }], address: 'https://example.com' },
    connectionType: { system: 'http://terminology.hl7.org/CodeSystem/endpoint-connection-type', code: 'hl7-fhir-rest' },
  };
  const _header = [{ extension: [{ url: 'urn:x', valueString: 'of-the-endpoint' }] }];
  const weight = '{"resourceType":"Basic","code":{"text":"w"},"extension":[{"url":"urn:w","valueDecimal":1.50}]}';
  const inside = [
    { ...subscription, id: 'inner', channel: { ...subscription.channel, _header } },
    { ...endpoint, id: 'e', header, _header },
  ].map((resource) => ({ resource }));
  const bundle = JSON.stringify({ resourceType: 'Bundle', id: 'b', type: 'collection', entry: inside });
  const within = [{ url: 'urn:e', valueReference: { reference: '#c' } }];
  const lines = [
    JSON.stringify(subscription),
    JSON.stringify({ ...endpoint, id: 'f', header }),
    JSON.stringify({
      resourceType: 'Patient',
      id: 'p',
      contained: [{ ...endpoint, id: 'c', header }],
      extension: within,
    }),
  ];
  const source = files.write('subscription.ndjson', `${lines.join('\n')}\n`);
  const stored = await run('import', source, '--firm', 'aspen');
  assert.equal(stored.exitStatus, 0, stored.progress);
  const there = await openCaller(world, await makeApplication(world, 'Sender', ['acl/*'], [aspen]), aspen);
  const whole = bundle.replace('"entry":[', `"entry":[{"resource":${weight}},`);
  const put = await there.send('PUT', 'Bundle/b', whole);
  assert.equal(put.status, 201, put.text);
  await run('export', '--firm', 'aspen', '--everything', '--out', at('aspen'));
  const [shown] = linesOf('aspen/current/Subscription.ndjson');
  assert.deepEqual(shown.channel, channel);
  for (const type of ['Subscription', 'Endpoint', 'Patient', 'Bundle'])
    for (const file of [`aspen/history/${type}.ndjson.gz`, `aspen/current/${type}.ndjson`])
      assert.ok(!/of-the-endpoint|header"/.test(read(file)), file);
  assert.match(read('aspen/current/Bundle.ndjson'), /"valueDecimal":1\.50.*"resourceType":"Endpoint"/);
});

test('the ledger tells who exported, and about which patients', async () => {
  const rows = await platform.asOwner((owner) =>
    owner.query<{ interaction: string; id: string | null; patients: string | null }>(sql`
      SELECT interaction, id, patients FROM audit_ledger WHERE firm = ${maple.id} AND interaction = '$export'`),
  );
  assert.deepEqual(rows, [{ interaction: '$export', id: null, patients: 'stone reed gone' }]);
});

test('verified without a database: as it was written, by the key of the installation', async () => {
  const key = files.write('key.pem', `${(await run('audit', 'key')).output.join('\n')}\n`);
  const offline = (...line: readonly string[]) =>
    runCommand({} as typeof platform, commands, 'export', 'verify', ...line);
  const { exitStatus, output } = await offline(at('all'), '--public-key', key);
  assert.equal(exitStatus, 0);
  assert.match(output[0] ?? '', /all: the export of firm maple in sandbox is as it was written \(\d+ files\)$/);
  assert.match(output[1] ?? '', /^signed by the key [0-9a-f]{64}$/);
  assert.equal(output.length, 2);
  assert.deepEqual(
    (await offline(at('all'))).output[2],
    'the export itself names this key: compare it with that of the installation',
  );
  await assert.rejects(offline(at('nowhere')), noUsage(/nowhere holds no whole export: manifest\.json is missing$/));
});

test('what is no regular file is not waited for, and links are not followed', async () => {
  cpSync(at('all'), at('links'), { recursive: true });
  rmSync(at('links/manifest.sig'));
  symlinkSync(at('all/manifest.sig'), at('links/manifest.sig'));
  await assert.rejects(
    run('export', 'verify', at('links')),
    noUsage(/links holds no whole export: manifest\.sig is no regular file of the directory$/),
  );
});

const changes: readonly (readonly [string, (of: (file: string) => string) => void, RegExp])[] = [
  [
    'a resource',
    (of) => {
      const file = of('current/Patient.ndjson');
      writeFileSync(file, readFileSync(file, 'utf8').replace('reed', 'weed'));
    },
    /^current\/Patient\.ndjson was changed$/,
  ],
  ['a file that is gone', (of) => rmSync(of('history/Patient.ndjson.gz')), /^history\/Patient\.ndjson\.gz is missing$/],
  [
    'a file more',
    (of) => writeFileSync(of('current/Group.ndjson'), '{}\n'),
    /^current\/Group\.ndjson does not belong to the export$/,
  ],
  [
    'a directory more',
    (of) => mkdirSync(of('notes/empty'), { recursive: true }),
    /^notes does not belong to the export$/,
  ],
  [
    'a pipe in place of a file',
    (of) => {
      rmSync(of('current/Patient.ndjson'));
      execFileSync('mkfifo', [of('current/Patient.ndjson')]);
    },
    /^current\/Patient\.ndjson is no regular file of the directory$/,
  ],
  [
    'a link in place of a file',
    (of) => {
      rmSync(of('audit/ledger.ndjson.gz'));
      symlinkSync(at('all/audit/ledger.ndjson.gz'), of('audit/ledger.ndjson.gz'));
    },
    /^audit\/ledger\.ndjson\.gz is no regular file of the directory$/,
  ],
  [
    'a document',
    (of) => {
      const [{ path: file }] = linesOf('all/documents.ndjson.gz');
      writeFileSync(of(file), 'x');
    },
    /^documents\/\S+ has 1 bytes instead of \d+$/,
  ],
  [
    'the manifest',
    (of) => {
      const file = of('manifest.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace('Firm maple', 'Firm cedar'));
    },
    /^manifest\.json was changed, or is not signed by this key$/,
  ],
  [
    'a row of the ledger',
    (of) => {
      const file = of('audit/ledger.ndjson.gz');
      const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
      writeFileSync(file, gzipSync(`${lines.filter((line) => !line.includes('"interaction":"create"')).join('\n')}\n`));
    },
    /^audit\/ledger\.ndjson\.gz: row \d+ was removed: seal \d+ covers it$/,
  ],
];

for (const [index, [what, change, finding]] of changes.entries())
  test(`a change is found: ${what}`, async () => {
    const copy = `changed-${index}`;
    cpSync(at('all'), at(copy), { recursive: true });
    change((file) => at(copy, file));
    const { exitStatus, output } = await run('export', 'verify', at(copy));
    assert.equal(exitStatus, 1);
    assert.ok(
      output.some((line) => finding.test(line.trim())),
      output.join('\n'),
    );
  });

test('a document whose bytes are lost is told, and hinders nothing', async () => {
  const [{ object_key: name } = { object_key: '' }] = await platform.asOwner((owner) =>
    owner.query<{ object_key: string }>(sql`SELECT object_key FROM document_content WHERE held`),
  );
  const bytes = path.join(world.files.path, 'content', name);
  cpSync(bytes, at('kept'));
  rmSync(bytes);
  const result = await exported('without');
  assert.equal(result.exitStatus, 1);
  assert.match(result.progress, /document \S+ \(DocumentReference\/\S+\) cannot be read: ENOENT/);
  assert.equal((await run('export', 'verify', at('without'))).exitStatus, 0);
  cpSync(at('kept'), bytes);
});

test('imported into a new firm it gives the same current resources, and the documents with them', async () => {
  const birch = await makeFirm(world, 'birch');
  const refused = await run('import', at('all/current'), '--firm', 'birch', '--documents', at('used')).catch(
    (error) => error,
  );
  assert.ok(noUsage(/used\/documents\.ndjson\.gz cannot be read as the list of an export$/)(refused));
  const into = ['import', at('all/current'), '--firm', 'birch', '--documents', at('all')];
  const first = await run(...into);
  assert.deepEqual(
    [first.exitStatus, first.output.map((line) => line.replace(/ \(.*/, ''))],
    [0, ['1 documents stored at birch, 0 refused', '3 resources stored at birch, 0 refused']],
  );
  assert.match((await run(...into)).output[0] ?? '', /^0 documents stored at birch, 1 were there, 0 refused/);
  await run('export', '--firm', 'birch', '--everything', '--out', at('birch'));
  const withoutMeta = (file: string) =>
    linesOf(file)
      .map(({ meta: _, ...resource }) => resource)
      .sort((left, right) => (left.id < right.id ? -1 : 1));
  for (const file of ['current/Patient.ndjson', 'current/DocumentReference.ndjson'])
    assert.deepEqual(withoutMeta(`birch/${file}`), withoutMeta(`all/${file}`));
  assert.deepEqual(readdirSync(at('birch/current')).sort(), readdirSync(at('all/current')).sort());
  const [listed] = linesOf('birch/documents.ndjson.gz');
  assert.deepEqual(readFileSync(at('birch', listed.path)), pdf);
  assert.ok(birch.id > maple.id);
});

test('others write meanwhile: all files are of one moment', async () => {
  let pages = 0;
  let writes = 0;
  const store: typeof platform.store = {
    ...platform.store,
    // What is written before a page is read is after the moment.
    run: async (scope, statement, options) => {
      pages += 1;
      if (pages % 8 !== 0) return await platform.store.run(scope, statement, options);
      writes += 1;
      await full.send('PUT', `Patient/late${writes % 5}`, { resourceType: 'Patient', id: `late${writes % 5}` });
      await full.send('PUT', 'Patient/reed', { resourceType: 'Patient', id: 'reed', active: writes % 2 === 0 });
      return await platform.store.run(scope, statement, options);
    },
  };
  const progress = { onPart: () => undefined, onCount: () => undefined };
  const { manifest } = await exportEverything({ ...platform, store }, maple, at('moving'), progress);
  assert.ok(writes > 15);
  assert.equal(read('moving/history/Patient.ndjson.gz'), read('all/history/Patient.ndjson.gz'));
  assert.equal(read('moving/current/Patient.ndjson'), read('all/current/Patient.ndjson'));
  assert.equal((await run('export', 'verify', at('moving'))).exitStatus, 0);
  assert.equal(manifest.ledger?.findings, 0);
});
