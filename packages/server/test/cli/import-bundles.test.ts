/** Bundles in `praxis import`: unpacked where they carry resources, stored where they mean something as a whole. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { getStoredText } from '../../src/access/disclosure.ts';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { type CommandResult, makeFirm, openTestPlatform, runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const platform = await openTestPlatform({ after });
const files = openScratchDirectory({ after });

type Json = Readonly<Record<string, unknown>>;

let firms = 0;

/** Imports a Bundle at a firm of its own. Returns what was told, and the resources that are stored then. */
async function importBundle(bundle: Json): Promise<CommandResult & { told: string[]; stored: Map<string, Json> }> {
  firms += 1;
  const firm = await makeFirm(platform, `firm-${firms}`);
  const file = files.write(`bundle-${firms}.json`, JSON.stringify({ resourceType: 'Bundle', ...bundle }));
  const line = ['import', file, '--firm', firm.prefix, '--lenient-invariants'];
  const result = await runCommand(platform, importCommands, ...line);
  const scope = await openOperatorScope(platform.database, platform.clock, firm);
  const stored = new Map<string, Json>();
  for await (const { type, id, content } of platform.store.stream(scope)) {
    const { meta, ...rest } = JSON.parse(getStoredText(content));
    stored.set(`${type}/${id}`, rest);
  }
  const told = result.progress.split('\n').filter((line) => line !== '');
  return { ...result, stored, told: told.map((line) => line.replace(`${file} `, '').replace(`${file}: `, '')) };
}

const patient = (more: Json = {}): Json => ({ resourceType: 'Patient', ...more });
const condition = (subject: string, more: Json = {}): Json => ({
  resourceType: 'Condition',
  subject: { reference: subject },
  ...more,
});
const uuid = (digit: number): string => `urn:uuid:00000000-0000-4000-8000-00000000000${digit}`;

test('entries that ask for something else than storing are refused, the others stored', async () => {
  const { told, stored, output, exitStatus } = await importBundle({
    type: 'batch',
    entry: [
      { request: { method: 'GET', url: 'Patient/1' } },
      { request: { method: 'DELETE', url: 'Patient/1' } },
      {
        resource: { resourceType: 'Binary', contentType: 'application/json-patch+json' },
        request: { method: 'PATCH', url: 'Patient/1' },
      },
      { resource: { resourceType: 'Parameters' }, request: { method: 'POST', url: 'ValueSet/$lookup' } },
      { request: { method: 'POST', url: 'Patient' } },
      { resource: patient({ id: 'b' }), request: { method: 'PUT', url: 'Patient/a' } },
      { resource: patient({ id: 'wrong id' }), request: { method: 'POST', url: 'Patient' } },
      { resource: patient({ id: 'c', gender: 'none' }) },
      { resource: patient({ id: 'd' }), request: { method: 'PUT', url: 'Patient/d' } },
    ],
  });
  assert.deepEqual(told.slice(0, 6), [
    'Bundle.entry[0].request.method: GET is not executed by an import',
    'Bundle.entry[1].request.method: DELETE is not executed by an import',
    'Bundle.entry[2].request.method: PATCH is not executed by an import',
    'Bundle.entry[3].request.url: operations are not executed by an import',
    'Bundle.entry[4].resource: is missing, so there is nothing to store',
    'Bundle.entry[5].request.url: names Patient/a, but the resource has another id',
  ]);
  assert.match(told[6] ?? '', /^Bundle\.entry\[6\]: Patient\.id: must be an id: /);
  assert.match(told[7] ?? '', /^Bundle\.entry\[7\]: Patient\.gender: "none" /);
  assert.equal(told.length, 8);
  assert.deepEqual([...stored], [['Patient/d', { resourceType: 'Patient', id: 'd' }]]);
  assert.equal(exitStatus, 1);
  assert.match(output[0] ?? '', /^1 resources stored at firm-\d+, 8 refused /);
});

test('of a Bundle that is itself invalid nothing is stored', async () => {
  const { told, stored, exitStatus } = await importBundle({
    type: 'collection',
    colour: 'blue',
    entry: [
      { resource: patient({ id: 'a' }), request: { method: 'FETCH', url: 'Patient' } },
      { resource: 'Patient/1' },
    ],
  });
  assert.equal(told.length, 3, told.join('\n'));
  assert.match(told[0] ?? '', /^Bundle\.colour: /);
  assert.match(told[1] ?? '', /^Bundle\.entry\[0\]\.request\.method: "FETCH" /);
  assert.match(told[2] ?? '', /^Bundle\.entry\[1\]\.resource: /);
  assert.deepEqual([...stored], []);
  assert.equal(exitStatus, 1);
});

test('two entries with one urn cannot both be linked to', async () => {
  const { told, stored } = await importBundle({
    type: 'collection',
    entry: [
      { fullUrl: uuid(1), resource: patient({ id: 'a' }) },
      { fullUrl: uuid(1), resource: patient({ id: 'b' }) },
    ],
  });
  assert.deepEqual(told, ['Bundle.entry[1].fullUrl: is that of another entry: links to it are ambiguous']);
  assert.deepEqual([...stored.keys()], ['Patient/a']);
});

test('a conditional reference, which an import cannot resolve, is refused', async () => {
  const { told, stored } = await importBundle({
    type: 'transaction',
    entry: [
      { resource: condition('Patient?identifier=1', { id: 'a' }), request: { method: 'POST', url: 'Condition' } },
    ],
  });
  assert.deepEqual(told, [
    'Bundle.entry[0]: Condition.subject.reference: "Patient?identifier=1" is a conditional reference: in a transaction only',
  ]);
  assert.equal(stored.size, 0);
});

for (const type of ['collection', 'batch', 'transaction']) {
  test(`a ${type} is unpacked: entries keep their ids, or get that of their URL, or a new one`, async () => {
    const request = (method: string, url: string): Json => (type === 'collection' ? {} : { request: { method, url } });
    const { told, stored, exitStatus } = await importBundle({
      type,
      entry: [
        { resource: patient({ id: 'own' }), ...request('POST', 'Patient') },
        {
          resource: patient(),
          fullUrl: 'https://example.com/fhir/Patient/of-url',
          ...request('PUT', 'Patient/of-url'),
        },
        { resource: patient(), fullUrl: uuid(1), ...request('POST', 'Patient') },
      ],
    });
    assert.deepEqual(told, []);
    assert.equal(exitStatus, 0);
    const ids = [...stored.keys()];
    assert.deepEqual(ids.slice(0, 2), ['Patient/own', 'Patient/of-url']);
    assert.match(ids[2] ?? '', /^Patient\/[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });
}

for (const type of ['document', 'message', 'searchset', 'history', 'batch-response', 'transaction-response']) {
  test(`a ${type} is stored as a whole, links included`, async () => {
    const entry = [
      { fullUrl: uuid(1), resource: patient({ id: 'inside' }) },
      { fullUrl: uuid(2), resource: condition(uuid(1)) },
    ];
    const { told, stored } = await importBundle({ type, id: 'whole', entry });
    assert.deepEqual(told, []);
    assert.deepEqual([...stored], [['Bundle/whole', { resourceType: 'Bundle', id: 'whole', type, entry }]]);
  });
}

test('links by urn lead to the stored resources, wherever they stand; identifying URIs and other links stay', async () => {
  const oid = 'urn:oid:1.2.3.4';
  const { told, stored } = await importBundle({
    type: 'transaction',
    entry: [
      {
        fullUrl: uuid(2),
        request: { method: 'POST', url: 'Condition' },
        resource: condition(uuid(1), {
          id: 'linked',
          text: {
            status: 'generated',
            div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${uuid(1)}">she</a> ${uuid(1)} <a href='https://example.com'>x</a></div>`,
          },
          identifier: [{ system: oid, value: uuid(1) }],
          contained: [{ resourceType: 'Practitioner', id: 'inner', photo: [{ url: oid }] }],
          asserter: { reference: '#inner' },
          recorder: { reference: uuid(9) },
          encounter: { reference: 'https://example.com/fhir/Encounter/1' },
          extension: [{ url: 'https://example.com/who', valueReference: { reference: uuid(1), display: uuid(1) } }],
          _recordedDate: { extension: [{ url: 'https://example.com/who', valueReference: { reference: uuid(1) } }] },
        }),
      },
      { fullUrl: uuid(1), resource: patient({ id: 'she' }), request: { method: 'POST', url: 'Patient' } },
      {
        fullUrl: oid,
        resource: {
          resourceType: 'Binary',
          id: 'photo',
          contentType: 'image/png',
          securityContext: { reference: uuid(1) },
        },
        request: { method: 'POST', url: 'Binary' },
      },
    ],
  });
  assert.deepEqual(told, []);
  assert.deepEqual(stored.get('Condition/linked'), {
    resourceType: 'Condition',
    id: 'linked',
    subject: { reference: 'Patient/she' },
    text: {
      status: 'generated',
      div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="Patient/she">she</a> ${uuid(1)} <a href='https://example.com'>x</a></div>`,
    },
    identifier: [{ system: oid, value: uuid(1) }],
    contained: [{ resourceType: 'Practitioner', id: 'inner', photo: [{ url: 'Binary/photo' }] }],
    asserter: { reference: '#inner' },
    recorder: { reference: uuid(9) },
    encounter: { reference: 'https://example.com/fhir/Encounter/1' },
    extension: [{ url: 'https://example.com/who', valueReference: { reference: 'Patient/she', display: uuid(1) } }],
    _recordedDate: { extension: [{ url: 'https://example.com/who', valueReference: { reference: 'Patient/she' } }] },
  });
  assert.deepEqual(stored.get('Binary/photo'), {
    resourceType: 'Binary',
    id: 'photo',
    contentType: 'image/png',
    securityContext: { reference: 'Patient/she' },
  });
});

test('a Bundle inside a Bundle is stored, not unpacked', async () => {
  const inner = {
    resourceType: 'Bundle',
    id: 'inner',
    type: 'collection',
    entry: [{ fullUrl: uuid(1), resource: patient({ id: 'x' }) }, { resource: condition(uuid(1)) }],
  };
  const { told, stored } = await importBundle({
    type: 'collection',
    entry: [{ resource: inner }, { fullUrl: uuid(1), resource: patient({ id: 'y' }) }],
  });
  assert.deepEqual(told, []);
  assert.deepEqual([...stored.keys()], ['Bundle/inner', 'Patient/y']);
  assert.deepEqual(stored.get('Bundle/inner'), inner);
});
