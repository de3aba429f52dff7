/** `praxis import`: modes, invariants, references, the file of errors, and what an interrupted import continues with. */
import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { getStoredText } from '../../src/access/disclosure.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { UsageError } from '../../src/cli/command.ts';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { sql } from '../../src/database/sql.ts';
import type { Firm } from '../../src/tenancy/firms.ts';
import { setRequiredReferences } from '../../src/tenancy/firms.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { type CommandResult, makeFirm, openTestPlatform, runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const platform = await openTestPlatform({ after });
const files = openScratchDirectory({ after });

let firms = 0;

async function openFirm(): Promise<Firm> {
  firms += 1;
  return await makeFirm(platform, `firm-${firms}`);
}

const importAt = (firm: Firm, ...line: readonly string[]): Promise<CommandResult> =>
  runCommand(platform, importCommands, 'import', ...line, '--firm', firm.prefix);

const lines = (...resources: readonly unknown[]): string =>
  resources.map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join('');

const patient = (id: string, more: object = {}) => ({ resourceType: 'Patient', id, ...more });
const named = (id: string, family: string) => patient(id, { name: [{ family }] });

/** What is stored: `Patient/a` with its version and family name. */
async function stored(firm: Firm): Promise<Record<string, string>> {
  const scope = await openOperatorScope(platform.database, platform.clock, firm);
  const found: Record<string, string> = {};
  for await (const { type, id, versionId, content } of platform.store.stream(scope))
    found[`${type}/${id}`] = `${versionId} ${JSON.parse(getStoredText(content)).name?.[0].family ?? ''}`.trim();
  return found;
}

/** The output without the pace, which is another each time. */
const withoutPace = ({ output }: CommandResult): readonly string[] =>
  output.map((line) => line.replace(/ \([\d.,]+ s, [\d,]+\/s\)/, ''));

/** The OperationOutcomes of a file. */
const outcomesIn = (file: string): unknown[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const outcome = (location: string, error: string, code: string, diagnostics: string, element?: string) => ({
  resourceType: 'OperationOutcome',
  issue: [
    {
      severity: 'error',
      code,
      diagnostics,
      ...(element === undefined ? {} : { expression: [element] }),
      details: { coding: [{ system: 'https://praxis.health/fhir/CodeSystem/error', code: error }], text: diagnostics },
      location: [location],
    },
  ],
});

test('options that cannot be followed are refused before anything is read', async () => {
  const firm = await openFirm();
  const file = files.write('fine.ndjson', lines(patient('never')));
  const there = files.write('there.ndjson', 'kept');
  const refusals: readonly (readonly [line: readonly string[], message: string])[] = [
    [['--mode', 'replace'], "--mode must be one of upsert, create, skip-existing, not 'replace'"],
    [['--threads', 'all'], '--threads must be a number from 0 to 64'],
    [['--errors', there], `${there} cannot be written: it is there already`],
    [['--errors', path.join(files.path, 'missing', 'a')], `${files.path}/missing/a cannot be written: ENOENT`],
  ];
  for (const [line, message] of refusals) {
    await assert.rejects(importAt(firm, file, ...line), (error) => {
      assert.ok(error instanceof UsageError);
      assert.equal(error.message, message);
      return true;
    });
  }
  assert.equal(readFileSync(there, 'utf8'), 'kept');
  assert.deepEqual(await stored(firm), {});
});

test('each refused resource is an OperationOutcome of its own in the file of errors', async () => {
  const firm = await openFirm();
  const file = files.write(
    'refused.ndjson',
    lines(
      patient('a'),
      '{"resourceType":"Patient",',
      patient('b', { gender: 'unheard-of' }),
      { resourceType: 'Patienta', id: 'c' },
      { resourceType: 'Parameters', id: 'd' },
      patient('e', { contact: [{ gender: 'male' }] }),
      { id: 'f' },
    ),
  );
  const errors = path.join(files.path, 'errors.ndjson');
  const result = await importAt(firm, file, '--errors', errors);
  const problems: readonly (readonly [line: number, error: string, code: string, words: string, element?: string])[] = [
    [
      2,
      'json-malformed',
      'structure',
      'Patient: a key in double quotes is expected, not the end of the text (column 27)',
      'Patient',
    ],
    [3, 'resource-invalid', 'code-invalid', '', 'Patient.gender'],
    [4, 'resource-invalid', 'structure', '', 'Patienta'],
    [5, 'type-unknown', 'not-supported', 'Parameters: is not stored, since it has no endpoint to read it from'],
    [
      6,
      'invariant-broken',
      'invariant',
      "Patient.contact[0]: SHALL at least contain a contact's details or a reference to an organization (pat-1)",
      'Patient.contact[0]',
    ],
    [7, 'json-malformed', 'structure', 'must be a JSON object with a resourceType'],
  ];
  const told = result.progress.trimEnd().split('\n');
  const expected = problems.map(([line, error, code, words, element], index) => {
    const said = words === '' ? (told[index] ?? '').slice(`${file}:${line}: `.length) : words;
    return outcome(`${file}:${line}`, error, code, said, element);
  });
  assert.deepEqual(outcomesIn(errors), expected);
  assert.deepEqual(
    told,
    expected.map(({ issue }) => `${issue[0]?.location[0]}: ${issue[0]?.diagnostics}`),
  );
  assert.deepEqual(withoutPace(result), [`1 resources stored at ${firm.prefix}, 6 refused`]);
  assert.equal(result.exitStatus, 1);
  assert.deepEqual(await stored(firm), { 'Patient/a': '1' });
});

test('a line that is too large is refused, and those around it are stored', async () => {
  const firm = await openFirm();
  const file = files.write('large.ndjson', lines(patient('before')));
  const size = readFileSync(file).length + 64 * 1024 * 1024 + 1;
  truncateSync(file, size); // zeros without a line end, which take no room
  writeFileSync(file, `\n${lines(patient('behind'))}`, { flag: 'a' });
  const result = await importAt(firm, file);
  assert.equal(result.progress, `${file}:2: a line may have 67108864 bytes at most\n`);
  assert.deepEqual(withoutPace(result), [`2 resources stored at ${firm.prefix}, 1 refused`]);
  assert.deepEqual(await stored(firm), { 'Patient/before': '1', 'Patient/behind': '1' });
});

test('a broken invariant is refused unless the version before broke it, or it is to be stored and counted', async () => {
  const firm = await openFirm();
  const words =
    "Patient.contact[0]: SHALL at least contain a contact's details or a reference to an organization (pat-1)";
  const broken = (family: string) => ({ ...named('a', family), contact: [{ gender: 'male' }] });
  const file = files.write('broken.ndjson', lines(broken('New')));
  const refused = await importAt(firm, file);
  assert.equal(refused.progress, `${file}:1: ${words}\n`);
  assert.deepEqual(withoutPace(refused), [`0 resources stored at ${firm.prefix}, 1 refused`]);
  assert.deepEqual(await stored(firm), {});
  const lenient = await importAt(firm, file, '--lenient-invariants');
  assert.deepEqual([lenient.progress, lenient.exitStatus], ['', 0]);
  assert.deepEqual(withoutPace(lenient), [
    `stored nevertheless, 1 times: ${words.replace('[0]', '')}`,
    `1 resources stored at ${firm.prefix}, 0 refused`,
  ]);
  const again = await importAt(firm, files.write('again.ndjson', lines(broken('Newer'))));
  assert.deepEqual([again.progress, again.exitStatus], ['', 0]);
  assert.deepEqual(await stored(firm), { 'Patient/a': '2 Newer' });
});

test('an id in use is refused, passed over, or gets a new version', async () => {
  const firm = await openFirm();
  const file = files.write('ids.ndjson', lines(named('a', 'First'), named('b', 'First'), named('b', 'Second')));
  await importAt(firm, files.write('a.ndjson', lines(named('a', 'Old'))));
  const created = await importAt(firm, file, '--mode', 'create');
  assert.deepEqual(created.progress.trimEnd().split('\n'), [
    `${file}:1: Patient/a is there already, so its id is in use`,
    `${file}:3: Patient/b is there already, so its id is in use`,
  ]);
  assert.deepEqual(withoutPace(created), [`1 resources stored at ${firm.prefix}, 2 refused`]);
  assert.equal(created.exitStatus, 1);
  assert.deepEqual(await stored(firm), { 'Patient/a': '1 Old', 'Patient/b': '1 First' });
  const skipped = await importAt(firm, file, '--mode', 'skip-existing');
  assert.deepEqual(withoutPace(skipped), [`0 resources stored at ${firm.prefix}, 3 skipped, 0 refused`]);
  assert.equal(skipped.exitStatus, 0);
  const updated = await importAt(firm, file, '--mode', 'upsert');
  assert.deepEqual(withoutPace(updated), [`3 resources stored at ${firm.prefix}, 0 refused`]);
  assert.deepEqual(await stored(firm), { 'Patient/a': '2 First', 'Patient/b': '3 Second' });
});

test('references to what is not there are told at the end, also where the target comes later', async () => {
  const firm = await openFirm();
  const seen = (id: string, subject: string) => ({
    resourceType: 'Encounter',
    id,
    status: 'finished',
    class: { code: 'AMB' },
    subject: { reference: subject },
  });
  const file = files.write(
    'references.ndjson',
    lines(seen('1', 'Patient/later'), seen('2', 'Patient/never'), patient('later'), seen('x y', 'Patient/never')),
  );
  const unasked = await importAt(firm, files.write('one.ndjson', lines(seen('3', 'Patient/never'))));
  assert.deepEqual([unasked.progress, unasked.exitStatus], ['', 0]);
  const errors = path.join(files.path, 'missing.ndjson');
  const result = await importAt(firm, file, '--check-references', '--errors', errors);
  const [invalid, missing] = result.progress.trimEnd().split('\n');
  assert.match(invalid ?? '', /:4: Encounter\.id: must be an id: /);
  const words = 'Encounter.subject: Patient/never does not exist';
  assert.equal(missing, `${file}:2: ${words}`);
  assert.deepEqual(outcomesIn(errors).slice(1), [
    outcome(`${file}:2`, 'rule-broken', 'business-rule', words, 'Encounter.subject'),
  ]);
  assert.deepEqual(withoutPace(result), [
    `3 resources stored at ${firm.prefix}, 1 refused`,
    '1 resources refer to what is not there',
  ]);
  assert.equal(result.exitStatus, 1);
  await setRequiredReferences(platform.database, firm, true);
  const required = await importAt(firm, files.write('four.ndjson', lines(seen('4', 'Patient/none'))));
  assert.match(required.progress, /four\.ndjson:1: Encounter\.subject: Patient\/none does not exist\n$/);
  assert.equal(required.exitStatus, 1);
});

test('a document that names content which is not there is refused, and stops no other', async () => {
  const firm = await openFirm();
  const { host, port } = platform.config;
  const base = `http://${host}:${port}/sandbox/firm/${firm.prefix}/pm`;
  const url = `${base}/content/0193f2f0-0000-7000-8000-000000000001`;
  const document = {
    resourceType: 'DocumentReference',
    id: 'd',
    status: 'current',
    content: [{ attachment: { url } }],
  };
  const result = await importAt(firm, files.write('document.ndjson', lines(document, patient('a'))));
  assert.deepEqual(Object.keys(await stored(firm)), ['Patient/a']);
  assert.match(
    result.progress,
    /document\.ndjson:1: DocumentReference\.content\[0\]\.attachment\.url names no content/,
  );
});

/** Has the database end the session that inserts the resource `ends-session`, until the result is called. */
async function endSessions(): Promise<() => Promise<void>> {
  await platform.asOwner(async (owner) => {
    await owner.query(sql`
      CREATE OR REPLACE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.id = 'ends-session' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NEW;
      END $$`);
    await owner.query(sql`GRANT EXECUTE ON FUNCTION end_session TO praxis_runtime`);
    await owner.query(
      sql`CREATE TRIGGER end_session BEFORE INSERT ON resource FOR EACH ROW EXECUTE FUNCTION end_session()`,
    );
  });
  return async () => {
    await platform.asOwner((owner) => owner.query(sql`DROP TRIGGER end_session ON resource`));
  };
}

const isLost = (error: unknown): boolean => error instanceof PraxisError && error.code === 'unavailable';
const continues = (count: number): string =>
  `continues an import that was interrupted: ${count.toLocaleString('en-US')} resources are stored`;

test('an import that fails in the middle continues with the line that is not stored', async () => {
  const firm = await openFirm();
  const family = (index: number) => `Family ${index}`;
  const idOf = (index: number) => (index === 1_200 ? 'ends-session' : `p${index}`);
  const resources = Array.from({ length: 1_500 }, (_, index) => named(idOf(index), family(index)));
  const text = lines(...resources.slice(0, 700), '{"resourceType":"Patient"', ...resources.slice(700));
  const file = files.write('interrupted.ndjson', text);
  const errors = path.join(files.path, 'interrupted-errors.ndjson');
  const mend = await endSessions();
  await assert.rejects(importAt(firm, file, '--errors', errors), isLost);
  await mend();
  const before = Object.keys(await stored(firm)).length;
  assert.ok(before >= 500 && before < 1_500, `${before} are stored`);
  const again = await importAt(firm, file, '--errors', errors);
  assert.equal(again.progress.split('\n')[0], continues(before));
  assert.deepEqual(withoutPace(again), [`1,500 resources stored at ${firm.prefix}, 1 refused`]);
  assert.deepEqual(
    await stored(firm),
    Object.fromEntries(resources.map(({ id }, index) => [`Patient/${id}`, `1 ${family(index)}`])),
  );
  const words = 'Patient.resourceType: "," or "}" is expected, not the end of the text (column 26)';
  assert.deepEqual(outcomesIn(errors), [
    outcome(`${file}:701`, 'json-malformed', 'structure', words, 'Patient.resourceType'),
  ]);
  // It has ended: the same files are another import.
  const anew = await importAt(firm, file, '--mode', 'skip-existing');
  assert.deepEqual(withoutPace(anew), [`0 resources stored at ${firm.prefix}, 1,500 skipped, 1 refused`]);
});

test('a large Bundle is stored in parts, and its links hold when it is interrupted between them', async () => {
  const firm = await openFirm();
  const url = (index: number): string => `urn:uuid:00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const pairs = Array.from({ length: 1_300 }, (_, index) => [
    { fullUrl: url(index), resource: { resourceType: 'Patient' } },
    { resource: { resourceType: 'Condition', subject: { reference: url(index) } } },
  ]);
  const last = { resource: { resourceType: 'Patient', id: 'ends-session' } };
  const bundle = JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry: [...pairs.flat(), last] });
  const file = files.write('large-bundle.ndjson', lines(patient('before'), bundle, patient('behind')));
  const mend = await endSessions();
  await assert.rejects(importAt(firm, file), isLost);
  await mend();
  const before = Object.keys(await stored(firm)).length;
  assert.ok(before >= 1_000 && before < 2_600, `${before} are stored`);
  const again = await importAt(firm, file, '--check-references');
  assert.equal(again.progress, `${continues(before)}\n`);
  assert.deepEqual(withoutPace(again), [
    `2,603 resources stored at ${firm.prefix}, 0 refused`,
    '0 resources refer to what is not there',
  ]);
  const versions = Object.values(await stored(firm));
  assert.deepEqual([versions.length, new Set(versions)], [2_603, new Set(['1'])]);
});

test('an import that another process takes over ends, and stores nothing any more', async () => {
  const firm = await openFirm();
  const resources = Array.from({ length: 2_000 }, (_, index) => named(`p${index}`, `Family ${index}`));
  const file = files.write('taken-over.ndjson', lines(...resources));
  await platform.asOwner(async (owner) => {
    await owner.query(sql`
      CREATE FUNCTION take_over() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE import_run SET holder = gen_random_uuid() WHERE firm = NEW.firm AND id = NEW.run AND NEW.from_byte > 0;
        RETURN NEW;
      END $$`);
    await owner.query(
      sql`CREATE TRIGGER take_over AFTER INSERT ON import_range FOR EACH ROW EXECUTE FUNCTION take_over()`,
    );
  });
  await assert.rejects(
    importAt(firm, file),
    (error) =>
      error instanceof UsageError &&
      error.message === 'another process goes on with this import, or it was cancelled: this one has ended',
  );
  await platform.asOwner((owner) => owner.query(sql`DROP TRIGGER take_over ON import_range`));
  const before = Object.keys(await stored(firm)).length;
  assert.ok(before < 2_000, `${before} are stored`);
  const again = await importAt(firm, file, '--threads', '2');
  assert.equal(again.progress, `${continues(before)}\n`);
  assert.deepEqual(withoutPace(again), [`2,000 resources stored at ${firm.prefix}, 0 refused`]);
  assert.deepEqual(
    await stored(firm),
    Object.fromEntries(resources.map(({ id }, index) => [`Patient/${id}`, `1 Family ${index}`])),
  );
});

test('the command of the page stores a directory', async () => {
  const page = readFileSync(new URL('../../../../docs/operate/import.md', import.meta.url), 'utf8');
  const [, line = ''] = /^npx praxis (import .*)$/m.exec(page) ?? [];
  files.write('records/patients.ndjson', lines(patient('a')));
  const firm = await makeFirm(platform, 'maple');
  const words = line.split(' ').map((word) => (word === 'records/' ? path.join(files.path, 'records') : word));
  const result = await runCommand(platform, importCommands, ...words);
  assert.deepEqual(withoutPace(result), ['1 resources stored at maple, 0 refused']);
  assert.deepEqual(await stored(firm), { 'Patient/a': '1' });
});
