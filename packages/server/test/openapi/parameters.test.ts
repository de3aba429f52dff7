/**
 * What the OpenAPI document says of parameters is what the service takes: examples, values of `_format` and `_pretty`, keys,
 * and which parameters of operations are required.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describedMethods, type OperationObject, type ParameterObject } from '../../src/openapi/openapi.ts';
import { operations } from '../../src/practice/features.ts';
import { keepCalendar, plainCalendar, putPlaces } from '../practice/calendars/world.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openWire } from '../support/wire.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const wire = openWire(service.origin, 8);
after(() => wire.close());
const { json: document } = await wire.send({ path: '/openapi.json' });

/** The parameters of an operation by place and name. */
function parametersOf(operation: OperationObject | undefined): ReadonlyMap<string, ParameterObject> {
  assert.ok(operation);
  const listed = (operation.parameters ?? []).map((each): ParameterObject => {
    return '$ref' in each ? document.components.parameters[each.$ref.slice('#/components/parameters/'.length)] : each;
  });
  return new Map(listed.map((each) => [`${each.in} ${each.name}`, each]));
}

const base = `/sandbox/firm/${maple.prefix}/pm/fhir/v2`;

test('the example of each search parameter is taken, by each type that has it', async () => {
  const asked: string[] = [];
  const refused: string[] = [];
  await Promise.all(
    resourceTypesWithEndpoint.map(async (type) => {
      for (const { in: place, name, example } of parametersOf(document.paths[`/${type}`].get).values()) {
        if (place !== 'query' || example === undefined) continue;
        assert.ok(Array.isArray(example) && example.length === 1 && typeof example[0] === 'string', `${type} ${name}`);
        const path = `${base}/${type}?${name}=${encodeURIComponent(example[0])}&_count=0`;
        asked.push(path);
        const { status, text } = await wire.send({ path, headers: full.headers });
        if (status !== 200) refused.push(`${path}: ${status} ${text}`);
      }
    }),
  );
  assert.deepEqual(refused, []);
  assert.ok(asked.length > 2_500, String(asked.length));
});

test('each search parameter of R4 and of practices has an example', () => {
  for (const [name, parameter] of Object.entries<ParameterObject>(document.components.parameters)) {
    if (name.startsWith('search.')) assert.ok(parameter.example !== undefined, name);
  }
});

test('ndjson is a format of lists alone', async () => {
  const { status } = await full.send('PUT', 'Patient/p1', patient('Quill', { id: 'p1' }));
  assert.equal(status, 201);
  const paths = [
    ['/Patient', ''],
    ['/Patient/_history', '/Patient/_history'],
    ['/Patient/{id}', '/Patient/p1'],
    ['/Patient/{id}/_history', '/Patient/p1/_history'],
    ['/Patient/{id}/_history/{versionId}', '/Patient/p1/_history/1'],
    ['/Patient/{id}/$everything', '/Patient/p1/$everything'],
    ['/{type}/{id}/$meta', '/Patient/p1/$meta'],
    ['/$changes', '/$changes'],
    ['/metadata', '/metadata'],
  ] as const;
  const told = new Map<string, boolean>();
  for (const [template, path] of paths) {
    const formats = parametersOf(document.paths[template].get).get('query _format')?.schema['enum'];
    assert.ok(Array.isArray(formats), template);
    told.set(template, formats.includes('ndjson'));
    for (const format of ['json', 'xml', 'ndjson']) {
      const asked = `${base}${path || '/Patient'}?_format=${format}`;
      const { status: answered, text } = await wire.send({ path: asked, headers: full.headers });
      assert.equal(answered, formats.includes(format) ? 200 : 406, `${asked}: ${text}`);
    }
  }
  assert.deepEqual(
    [...told].filter(([, isList]) => !isList).map(([template]) => template),
    [
      '/Patient/{id}',
      '/Patient/{id}/_history/{versionId}',
      '/Patient/{id}/$everything',
      '/{type}/{id}/$meta',
      '/metadata',
    ],
  );
});

test('_pretty takes what its schema allows', async () => {
  assert.deepEqual(document.components.parameters['_pretty'].schema, { type: 'boolean' });
  for (const [value, status] of [
    ['true', 200],
    ['false', 200],
    ['1', 400],
    ['yes', 400],
  ] as const) {
    for (const path of ['/Patient', '/Patient/p1', '/metadata', '/$meta'])
      assert.equal((await full.get(`${path.slice(1)}?_pretty=${value}`)).status, status, `${path} ${value}`);
  }
});

test('keys have no example, so that tools do not send one twice, and are what the schema says', async () => {
  const { schema, ...rest } = document.components.parameters['header.idempotencyKey'];
  assert.equal('example' in rest || 'examples' in rest || 'examples' in schema || 'example' in schema, false);
  const isValid = new Ajv2020().compile(schema);
  const keys = [
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', true],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9325"', true],
    ['"with a space; and more"', true],
    ['with,comma', false],
    ['with space', false],
    ['"', false],
    ['a"b', false],
    ['k'.repeat(256), false],
  ] as const;
  for (const [key, taken] of keys) {
    const { status } = await full.send('POST', 'Patient', patient('Quill'), { 'idempotency-key': key });
    assert.deepEqual([status, isValid(key)], taken ? [201, true] : [400, false], key);
  }
});

test('what an operation needs is required: in its query, and in the schema of its Parameters', async () => {
  const needing = operations.filter(({ parameters }) => parameters.some(({ use, min }) => use === 'in' && min > 0));
  const names = needing.map(({ name }) => name);
  for (const name of ['book', 'release', 'renew', 'write-outcome', 'cancel', 'find'])
    assert.ok(names.includes(name), name);
  for (const declaration of needing) {
    const required = declaration.parameters.filter(({ use, min }) => use === 'in' && min > 0);
    const schema = document.components.schemas[`in.${declaration.url.slice(declaration.url.lastIndexOf('/') + 1)}`];
    assert.deepEqual(schema.required, ['parameter']);
    assert.deepEqual(
      schema.properties.parameter.allOf,
      required.map(({ name, min }) => ({
        contains: { type: 'object', properties: { name: { const: name } }, required: ['name'] },
        minContains: min,
      })),
    );
  }
  for (const [template, item] of Object.entries<Record<string, OperationObject>>(document.paths)) {
    const name = /\$([\w-]+)$/.exec(template)?.[1];
    for (const method of describedMethods.filter((each) => each !== 'post' && item[each] !== undefined)) {
      const declared = needing.filter((each) => each.name === name).flatMap(({ parameters }) => parameters);
      for (const { in: place, name: query, required, style } of parametersOf(item[method]).values()) {
        if (place !== 'query') continue;
        const isNeeded = declared.some((each) => each.use === 'in' && each.name === query && each.min > 0);
        assert.equal(required === true, isNeeded || style === 'form', `${method} ${template} ${query}`);
      }
    }
  }
  for (const path of ['$write-outcome', 'Slot/$find', '$reconciliation'])
    assert.equal((await full.get(path)).status, 400);
});

test('examples of what operations take are taken, with ids that there are', async () => {
  await putPlaces(full, ['12'], ['3']);
  await keepCalendar(service.platform, maple, plainCalendar);
  await service.service.jobs.settle();
  await full.send('PUT', 'Patient/p1', patient('Quill', { id: 'p1' }));
  const { json: found } = await full.get('Slot/$find?appointment-type=FOLLOWUP&_count=2');
  const [first = '', second = ''] = found.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
  const exampleOf = (name: string, slot: string): object => {
    const text = JSON.stringify(document.components.examples[`in.${name}`].value);
    return JSON.parse(text.replace('Slot/1', `Slot/${slot}`).replace('Patient/1', 'Patient/p1'));
  };
  const booked = await full.send('POST', 'Appointment/$book', exampleOf('book', first));
  assert.equal(booked.status, 201, booked.text);
  const at = `Appointment/${booked.json.id}`;
  const moved = await full.send('POST', `${at}/$reschedule`, exampleOf('reschedule', second));
  assert.deepEqual([moved.status, moved.json.start === booked.json.start], [200, false], moved.text);
  const cancelled = await full.send('POST', `${at}/$cancel`, exampleOf('cancel', ''));
  assert.deepEqual([cancelled.status, cancelled.json.status], [200, 'cancelled'], cancelled.text);
});

test('Parameters without what is required break the schema, as they break the rule', async () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: 'https://example.com/d', components: { schemas: document.components.schemas } });
  const isValid = ajv.compile({ $ref: 'https://example.com/d#/components/schemas/in.book' });
  const slot = { name: 'slot', valueString: 'Slot/one' };
  const appointment = {
    name: 'appointment',
    resource: { resourceType: 'Appointment', status: 'booked', participant: [{ status: 'accepted' }] },
  };
  assert.equal(
    isValid({ resourceType: 'Parameters', parameter: [slot, appointment] }),
    true,
    JSON.stringify(isValid.errors),
  );
  for (const parameters of [{ parameter: [slot] }, { parameter: [slot, slot] }, {}]) {
    const body = { resourceType: 'Parameters', ...parameters };
    assert.equal(isValid(body), false);
    assert.equal((await full.send('POST', 'Appointment/$book', body)).status, 400);
  }
});
