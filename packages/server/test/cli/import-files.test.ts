/** `praxis import`: what is refused and where that is told, and what is stored. */
import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { getStoredText } from '../../src/access/disclosure.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { UsageError } from '../../src/cli/command.ts';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { setValueSet } from '../../src/practice/value-sets/edit-value-sets.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { makeFirm, openTestPlatform, runCommand, startMs } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const platform = await openTestPlatform({ after });
const files = openScratchDirectory({ after });
const firm = await makeFirm(platform, 'maple');
const scope = await openOperatorScope(platform.database, platform.clock, firm);

const run = (...line: readonly string[]) => runCommand(platform, importCommands, 'import', ...line);
const importAt = (...paths: readonly string[]) => run(...paths, '--firm', 'maple');

const lastUpdated = new Date(startMs).toISOString();

/** The text of the current version. */
async function read(type: string, id: string): Promise<string | undefined> {
  const found = await platform.store.read(scope, type, id);
  return found === undefined ? undefined : getStoredText(found.content);
}

function lines(...resources: readonly unknown[]): string {
  return resources.map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join('');
}

test('a command line that cannot be followed is refused before anything is read', async () => {
  const file = files.write('fine.ndjson', lines({ resourceType: 'Patient', id: 'never' }));
  const other = files.write('patients.csv', 'id\n1\n');
  const empty = path.dirname(files.write('nothing/readme.txt', ''));
  const missing = path.join(files.path, 'missing.json');
  const refusals: readonly (readonly [line: readonly string[], message: RegExp])[] = [
    [[file], /^--firm is missing/],
    [['--firm', 'maple'], /^FILE\|DIR is missing; usage: praxis import FILE\|DIR… --firm FIRM/],
    [[missing, '--firm', 'maple'], /missing\.json cannot be read: there is no such file or directory$/],
    [[file, other, '--firm', 'maple'], /patients\.csv must be called \.ndjson \(one resource a line\) or \.json/],
    [[empty, '--firm', 'maple'], /^there is no \.json or \.ndjson file in /],
  ];
  for (const [line, message] of refusals) {
    await assert.rejects(
      run(...line),
      (error) => error instanceof UsageError && message.test(error.message),
      line.join(' '),
    );
  }
  const unknown: readonly (readonly [line: readonly string[], diagnostics: string])[] = [
    [['--firm', 'nobody'], 'firm nobody does not exist in environment sandbox'],
    [['--firm', 'maple', '--environment', 'prod'], 'firm maple does not exist in environment prod'],
  ];
  for (const [line, diagnostics] of unknown) {
    await assert.rejects(
      run(file, ...line),
      (error) => error instanceof PraxisError && error.details.diagnostics === diagnostics,
    );
  }
  assert.equal(await read('Patient', 'never'), undefined);
});

test('each line that is refused is told with file, line and element, and stops no other', async () => {
  const file = files.write(
    'mixed.ndjson',
    lines(
      { resourceType: 'Patient', id: 'first' },
      '{"resourceType":"Patient","id":"cut',
      { resourceType: 'Patient', id: 'gender', gender: 'unheard-of' },
      '',
      { resourceType: 'Patient', id: 'unknown', colour: 'blue', birthDate: '1990-13-01' },
      '{"resourceType":"Patient","id":"twice","active":true,"active":false}',
      { resourceType: 'Patient', id: 'not an id' },
      { resourceType: 'Patienta', id: 'type' },
      { id: 'no-type' },
      '[1]',
      { resourceType: 'Parameters', id: 'parameters' },
      { resourceType: 'Patient', id: 'last' },
    ),
  );
  const result = await importAt(file);
  const told = result.progress.trimEnd().split('\n');
  const expected: readonly (readonly [line: number, problem: RegExp])[] = [
    [2, /^Patient\.id: a string is not closed: found the end of the text \(column \d+\)$/],
    [3, /^Patient\.gender: "unheard-of" /],
    [5, /^Patient\.colour: /],
    [5, /^Patient\.birthDate: "1990-13-01" /],
    [6, /^Patient\.active: the key "active" occurs twice in one object \(column 54\)$/],
    [7, /^Patient\.id: must be an id: /],
    [8, /^Patienta: "Patienta" is not a resource type: did you mean Patient\?$/],
    [9, /^must be a JSON object with a resourceType$/],
    [10, /^must be a JSON object with a resourceType$/],
    [11, /^Parameters: is not stored, since it has no endpoint to read it from$/],
  ];
  assert.equal(told.length, expected.length, result.progress);
  for (const [index, [line, problem]] of expected.entries()) {
    const [, number, text] = /mixed\.ndjson:(\d+): (.*)$/.exec(told[index] ?? '') ?? [];
    assert.equal(number, String(line), told[index]);
    assert.match(text ?? '', problem);
  }
  assert.equal(result.exitStatus, 1);
  assert.match(result.output.join('\n'), /^2 resources stored at maple, 9 refused \(\d+\.\d s, [\d,]+\/s\)$/);
  for (const id of ['gender', 'unknown', 'twice', 'parameters']) assert.equal(await read('Patient', id), undefined);
  for (const id of ['first', 'last']) assert.notEqual(await read('Patient', id), undefined);
});

test('bytes that are not UTF-8 are refused, a byte order mark and Windows line ends are not', async () => {
  const bytes = Buffer.concat([
    Buffer.from('\uFEFF{"resourceType":"Patient","id":"marked"}\r\n'),
    Buffer.from('{"resourceType":"Patient","id":"latin","name":[{"family":"M\xfcller"}]}\r\n', 'latin1'),
    Buffer.from('\r\n \r\n{"resourceType":"Patient","id":"unended","name":[{"family":"Müller"}]}'),
  ]);
  const file = files.write('encodings.ndjson', bytes);
  const result = await importAt(file);
  assert.equal(result.progress, `${file}:2: must be UTF-8: some of its bytes are not\n`);
  assert.equal(result.exitStatus, 1);
  assert.notEqual(await read('Patient', 'marked'), undefined);
  assert.match((await read('Patient', 'unended')) ?? '', /Müller/);
});

test('a fault in a JSON file is told with its line', async () => {
  const file = files.write(
    'broken.json',
    '{\n  "resourceType": "Patient",\n  "name": [\n    { "family": "A", }\n  ]\n}\n',
  );
  const result = await importAt(file);
  assert.match(
    result.progress,
    /broken\.json:4: Patient\.name\[0\]: a key in double quotes is expected, not "}" \(column \d+\)\n$/,
  );
  assert.equal(result.exitStatus, 1);
});

test('a resource is stored as it was given, with version, time and the decimals digit by digit', async () => {
  const given =
    '{"id":"exact","valueQuantity":{"value":1.00,"unit":"é"},"resourceType":"Observation","status":"final","meta":{"versionId":"7","tag":[{"code":"kept"}]},"code":{"text":"x"}}';
  const result = await importAt(files.write('exact.json', given));
  assert.deepEqual([result.exitStatus, result.progress], [0, '']);
  assert.equal(
    await read('Observation', 'exact'),
    `{"resourceType":"Observation","id":"exact","meta":{"versionId":"1","tag":[{"code":"kept"}],"lastUpdated":"${lastUpdated}"},"valueQuantity":{"value":1.00,"unit":"é"},"status":"final","code":{"text":"x"}}`,
  );
});

test('a resource without an id gets one, one that exists a new version, and two of the same file two', async () => {
  const named = (family: string, id?: string) => ({
    resourceType: 'Practitioner',
    ...(id === undefined ? {} : { id }),
    name: [{ family }],
  });
  const file = files.write(
    'practitioners.ndjson',
    lines(named('Old', 'same'), named('New', 'same'), named('Anonymous')),
  );
  assert.equal((await importAt(file)).exitStatus, 0);
  assert.equal((await importAt(file)).exitStatus, 0);
  const { versions } = await platform.store.history(scope, 'Practitioner', 'same', { limit: 10 });
  assert.deepEqual(
    versions.map(({ versionId, method, content }) => [
      versionId,
      method,
      JSON.parse(getStoredText(content)).name[0].family,
    ]),
    [
      [4, 'update', 'New'],
      [3, 'update', 'Old'],
      [2, 'update', 'New'],
      [1, 'create', 'Old'],
    ],
  );
  const ids: string[] = [];
  for await (const { id } of platform.store.stream(scope, { types: ['Practitioner'] })) ids.push(id);
  assert.equal(ids.length, 3);
  for (const id of ids.filter((each) => each !== 'same')) assert.match(id, /^[0-9a-f-]{36}$/);
});

test('the operator may import AuditEvents, which no application may write', async () => {
  const event = {
    resourceType: 'AuditEvent',
    id: 'from-elsewhere',
    type: { system: 'http://terminology.hl7.org/CodeSystem/audit-event-type', code: 'rest' },
    recorded: '2026-11-20T10:00:00Z',
    agent: [{ requestor: true }],
    source: { observer: { display: 'Earlier system' } },
  };
  assert.equal((await importAt(files.write('audit.json', JSON.stringify(event)))).exitStatus, 0);
  assert.notEqual(await read('AuditEvent', 'from-elsewhere'), undefined);
});

test('directories are read with their subdirectories, sorted; hidden and other files are passed over', async () => {
  const versions = (order: string, name: string) =>
    files.write(`tree/${name}`, JSON.stringify({ resourceType: 'Location', id: 'tree', name: order }));
  versions('third', 'b/z.json');
  versions('first', 'a.json');
  versions('fourth', 'c.JSON');
  files.write('tree/b/a.ndjson', lines({ resourceType: 'Location', id: 'tree', name: 'second' }));
  for (const passed of ['tree/.hidden.json', 'tree/b/notes.txt', 'tree/.git/x.json']) files.write(passed, 'not JSON');
  symlinkSync(path.join(files.path, 'tree'), path.join(files.path, 'tree', 'loop'));
  const result = await importAt(path.join(files.path, 'tree'));
  assert.deepEqual([result.exitStatus, result.progress], [0, '']);
  const { versions: stored } = await platform.store.history(scope, 'Location', 'tree', { limit: 10 });
  const names = stored.map(({ content }) => JSON.parse(getStoredText(content)).name);
  assert.deepEqual(names.reverse(), ['first', 'second', 'third', 'fourth']);
});

test('an import reaches its own firm only', async () => {
  const cedar = await openOperatorScope(platform.database, platform.clock, await makeFirm(platform, 'cedar'));
  await importAt(files.write('own.json', JSON.stringify({ resourceType: 'Patient', id: 'own' })));
  assert.equal(await platform.store.read(cedar, 'Patient', 'own'), undefined);
  assert.notEqual(await platform.store.read(scope, 'Patient', 'own'), undefined);
});

test('codes that the firm does not keep are stored, and told once for each element', async () => {
  const editor = {
    store: platform.store,
    scope,
    clock: platform.clock,
    changedBy: 'test',
    budget: openOperatorBudget(),
  };
  const codes = { codes: [{ code: 'NEW', display: 'New' }] };
  await setValueSet(editor, 'appointment-type', codes, undefined);
  const typed = (id: string, code: string) => ({
    ...{
      resourceType: 'Appointment',
      id,
      status: 'booked',
      start: '2026-11-24T15:00:00Z',
      end: '2026-11-24T15:30:00Z',
    },
    appointmentType: { coding: [{ code }] },
    participant: [{ actor: { reference: 'Patient/1' }, status: 'accepted' }],
  });
  const file = files.write('codes.ndjson', lines(typed('c1', 'NEW'), typed('c2', 'OLD'), typed('c3', 'OLDER')));
  const { output, exitStatus } = await importAt(file);
  assert.equal(exitStatus, 0);
  assert.deepEqual(output.slice(0, 1), [
    'stored nevertheless, 2 times: Appointment.appointmentType has no code of ValueSet/appointment-type, which the practice keeps: use NEW (New)',
  ]);
  assert.match(output[1] ?? '', /^3 resources stored at maple, 0 refused/);
  assert.match((await read('Appointment', 'c3')) ?? '', /"OLDER"/);
});
