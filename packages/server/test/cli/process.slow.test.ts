/**
 * Import, export, backup and restore as people run them: exit status, standard output and standard error.
 * Slow: starts a process for each command, and kills some.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { makeSecret } from '../../src/base/ids.ts';
import { sql } from '../../src/database/sql.ts';
import { ensureDefaultEnvironments } from '../../src/tenancy/environments.ts';
import { createFirm } from '../../src/tenancy/firms.ts';
import { openTestDatabase } from '../support/database.ts';
import { makeDataDir } from '../support/embedded.ts';
import { runPraxis, startPraxis } from './praxis-process.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const { connections, owner, runtime } = await openTestDatabase({ after });
await ensureDefaultEnvironments(runtime);
await createFirm(runtime, { environment: 'sandbox', prefix: 'maple', name: 'Maple', timeZone: 'America/New_York' });
const files = openScratchDirectory({ after });

const { user, password, host, port, database } = connections.owner;
const environment = {
  DATABASE_URL: `postgresql://${user}:${encodeURIComponent(password)}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`,
  PRAXIS_SECRET_KEY: makeSecret(),
};

const patients = (count: number, more: object = {}): string =>
  Array.from(
    { length: count },
    (_, index) => `${JSON.stringify({ resourceType: 'Patient', id: `p${index}`, ...more })}\n`,
  ).join('');

test('the exit status is 2 for a wrong command line and 1 when anything was refused', async () => {
  const usage = await runPraxis(environment, 'import', 'missing.json', '--firm', 'maple');
  assert.deepEqual(usage, {
    status: 2,
    stdout: '',
    stderr: 'praxis: missing.json cannot be read: there is no such file or directory\n',
  });
  const file = files.write('refused.ndjson', `${patients(1)}{"resourceType":"Patient","gender":"x"}\n`);
  const refused = await runPraxis(environment, 'import', file, '--firm', 'maple');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^\S+refused\.ndjson:2: Patient\.gender: "x" [^\n]*\n$/);
  assert.match(refused.stdout, /^1 resources stored at maple, 1 refused \([^\n]*\)\n$/);
});

test('what was imported is exported on standard output, also to a reader who has soon had enough', async () => {
  const name = [{ family: 'F'.repeat(2000) }];
  const imported = await runPraxis(
    environment,
    'import',
    files.write('many.ndjson', patients(2000, { name })),
    '--firm',
    'maple',
  );
  assert.deepEqual([imported.status, imported.stderr], [0, '']);
  const exported = await runPraxis(environment, 'export', '--firm', 'maple', '--type', 'Patient');
  assert.equal(exported.status, 0);
  assert.match(exported.stderr, /^2,000 resources of maple exported /);
  const lines = exported.stdout.trimEnd().split('\n');
  assert.equal(lines.length, 2000);
  assert.deepEqual(JSON.parse(lines[1999] ?? ''), {
    resourceType: 'Patient',
    id: 'p1999',
    meta: JSON.parse(lines[1999] ?? '').meta,
    name,
  });

  const child = startPraxis(environment, 'export', '--firm', 'maple');
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  child.stdout?.once('data', () => child.stdout?.destroy());
  const status = await new Promise((resolve) => child.once('close', resolve));
  assert.deepEqual([status, complaints], [0, '']);
});

test('an embedded database is backed up and restored in another data directory, with its key', async (t) => {
  const [first, second] = [{ PRAXIS_DATA_DIR: makeDataDir(t) }, { PRAXIS_DATA_DIR: makeDataDir(t) }];
  const file = path.join(files.path, 'embedded.backup');
  const made = await runPraxis(first, 'backup', file);
  const keyOf = ({ PRAXIS_DATA_DIR }: typeof first): string => path.join(PRAXIS_DATA_DIR, 'secret.key');
  assert.equal(
    made.stderr,
    `The secret key is not in it, and nobody can restore it without: keep ${keyOf(first)} elsewhere.\nThe content of documents is not in it either: afterwards copy the directory ${path.join(first.PRAXIS_DATA_DIR, 'content')}, and after a restore let \`praxis content verify\` compare the two.\n`,
  );

  const refused = await runPraxis(second, 'restore', file);
  assert.equal(refused.status, 2);
  assert.match(
    refused.stderr,
    /was made under another secret key \([0-9a-f]{32}\), .*: set PRAXIS_SECRET_KEY_PREVIOUS to that key, then restore\n$/,
  );
  copyFileSync(keyOf(first), keyOf(second));
  const restored = await runPraxis(second, 'restore', file);
  assert.deepEqual([restored.status, restored.stderr], [0, '']);
  const rows = / rows in /.exec(made.stdout)?.index ?? 0;
  assert.ok(rows > 0, made.stdout);
  assert.match(restored.stdout, new RegExp(`^${made.stdout.slice(0, rows)} rows restored from `));
});

test('an import in threads that is killed again and again stores all, each once, in the order of the files', async () => {
  const firm = await createFirm(runtime, {
    environment: 'sandbox',
    prefix: 'oak',
    name: 'Oak',
    timeZone: 'America/New_York',
  });
  const many = 6_000;
  const changed = Array.from({ length: 300 }, (_, index) => ({
    resourceType: 'Patient',
    id: `same${index % 3}`,
    name: [{ text: `${index}` }],
  }));
  const changes = changed.map((each) => `${JSON.stringify(each)}\n`).join('');
  const file = files.write(
    'killed.ndjson',
    `${changes}${patients(many)}{"resourceType":"Patient","gender":"x"}\n${changes}`,
  );
  const errors = path.join(files.path, 'killed-errors.ndjson');
  const line = ['import', file, '--firm', 'oak', '--threads', '2'] as const;
  const count = async (): Promise<number> => {
    const [row] = await owner.query<{ stored: number }>(
      sql`SELECT count(*) AS stored FROM resource_version WHERE firm = ${firm.id}`,
    );
    return row?.stored ?? 0;
  };
  let kills = 0;
  for (let before = 0; before < 4_000; before = await count()) {
    const child = startPraxis(environment, ...line);
    const ended = new Promise((resolve) => child.once('close', resolve));
    // As soon as it has stored something more, wherever it is then.
    while (child.exitCode === null && (await count()) <= before) await delay(5);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
    kills += 1;
  }
  assert.ok(kills >= 2, `${kills} kills`);
  const last = await runPraxis(environment, ...line, '--errors', errors);
  assert.match(last.stderr, /^continues an import that was interrupted: [\d,]+ resources are stored\n/);
  assert.match(last.stdout, /^6,600 resources stored at oak, 1 refused \([^\n]*\)\n$/);
  assert.equal(last.status, 1);
  assert.equal(JSON.parse(readFileSync(errors, 'utf8')).issue[0].location[0], `${file}:${300 + many + 1}`);
  const rows = await owner.query(sql`
    SELECT count(*) AS resources, sum(vid) AS versions, (SELECT count(*) FROM resource_version WHERE firm = ${firm.id}) AS stored,
      (SELECT count(*) FROM audit_ledger WHERE firm = ${firm.id} AND interaction IN ('create', 'update')) AS noted,
      (SELECT count(*) FROM import_range WHERE firm = ${firm.id}) AS ranges
    FROM resource WHERE firm = ${firm.id}`);
  assert.deepEqual(rows, [
    { resources: many + 3, versions: many + 600, stored: many + 600, noted: many + 600, ranges: 0 },
  ]);
  const texts = await owner.query<{ texts: string[] }>(sql`
    SELECT array_agg(content::json #>> '{name,0,text}' ORDER BY vid) AS texts FROM resource_version
    WHERE firm = ${firm.id} AND id LIKE 'same%' GROUP BY id ORDER BY id`);
  const inFile = [0, 1, 2].map((rest) => {
    const once = changed
      .map((_, index) => index)
      .filter((index) => index % 3 === rest)
      .map(String);
    return { texts: [...once, ...once] };
  });
  assert.deepEqual(texts, inFile);
});
