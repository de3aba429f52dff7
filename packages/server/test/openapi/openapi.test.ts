/**
 * The OpenAPI document is valid, and true: what it names the service answers as it says, and the service takes no other
 * method at the paths it names.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { getSearchParameters, resourceTypesWithEndpoint } from '@praxis/fhir';
import { Validator } from '@seriousme/openapi-schema-validator';
import { methods } from '../../src/engine/fhir-target.ts';
import { isWritable } from '../../src/engine/write/read-only-types.ts';
import { limitHeaders, listHeaders } from '../../src/openapi/headers.ts';
import { describedMethods, type OperationObject, type PathItem } from '../../src/openapi/openapi.ts';
import { listMethods } from '../../src/operations/answer-operation.ts';
import { operations as declaredOperations } from '../../src/practice/features.ts';
import { isSearchable } from '../../src/search/query/query.ts';
import { resultParameterNames } from '../../src/search/query/result-parameters.ts';
import { officialExamples } from '../search/official-examples.ts';
import {
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';
import { openWire } from '../support/wire.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const { headers, send } = await openCaller(service, operator, maple);
const wire = openWire(service.origin, 8);
after(() => wire.close());

const { json: document } = await wire.send({ path: '/openapi.json' });
const paths: Readonly<Record<string, PathItem>> = document.paths;

interface Described {
  readonly template: string;
  readonly method: string;
  readonly item: PathItem;
  readonly operation: OperationObject;
}

const described: readonly Described[] = Object.entries(paths).flatMap(([template, item]) =>
  describedMethods.flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : [{ template, method: method.toUpperCase(), item, operation }];
  }),
);

const stored = new Map<string, object>();
for (const example of officialExamples()) {
  const type = String(example['resourceType']);
  if (stored.has(type)) continue;
  const resource = { ...JSON.parse(JSON.stringify(example)), id: 'one' };
  if ((await send('PUT', `${type}/one`, resource)).status === 201) stored.set(type, resource);
}

const values: Readonly<Record<string, string>> = {
  environment: 'sandbox',
  firm: 'maple',
  product: 'pm',
  realm: 'sandbox',
  id: 'one',
  versionId: '1',
  type: 'Patient',
};

function filled(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? assert.fail(name));
}

function pathOf(template: string, item: PathItem): string {
  const [server] = item.servers ?? document.servers;
  const searched = item.parameters?.flatMap((each) =>
    'name' in each && each.name === 'type' ? [each.schema['enum']] : [],
  );
  const [type] = Array.isArray(searched?.[0]) ? searched[0] : [];
  return filled((server.url === '/' ? '' : server.url) + template.replace('{type}', type ?? '{type}'));
}

test('it is a valid OpenAPI 3.1 document, all of whose references lead somewhere', async () => {
  const validator = new Validator();
  assert.deepEqual(await validator.validate(structuredClone(document)), { valid: true });
  assert.equal(document.openapi, '3.1.1');
  assert.equal(validator.version, '3.1');
});

test('operationIds are unique words, and stay what they are', () => {
  const ids = described.map(({ operation }) => operation.operationId);
  assert.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  );
  assert.deepEqual(
    ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id)),
    [],
  );
  assert.deepEqual(
    ids.filter((id) => id.includes('Patient') && !id.includes('Every')),
    [
      'everythingPatientOfTypeByQuery',
      'everythingPatientOfType',
      'exportPatientOfTypeByQuery',
      'exportPatientOfType',
      'everythingPatientByQuery',
      'everythingPatient',
      'searchPatient',
      'createPatient',
      'conditionalUpdatePatient',
      'conditionalPatchPatient',
      'conditionalDeletePatient',
      'searchPatientByForm',
      'historyOfAllPatient',
      'readPatient',
      'updatePatient',
      'patchPatient',
      'deletePatient',
      'historyOfPatient',
      'vreadPatient',
      'searchPatientCompartment',
      'searchPatientCompartmentByForm',
      'searchPatientCompartmentTypes',
      'searchPatientCompartmentTypesByForm',
    ],
  );
});

test('no parameter stands twice in an operation, and those of the path are all there', () => {
  for (const { template, method, item, operation } of described) {
    const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
    const names = all
      .map((each) => ('$ref' in each ? resolved(each.$ref) : each))
      .map((each) => `${each.in} ${each.name}`);
    assert.deepEqual(
      names.filter((name, at) => names.indexOf(name) !== at),
      [],
      `${method} ${template}`,
    );
    const wanted = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => `path ${name}`);
    assert.deepEqual(names.filter((name) => name.startsWith('path ')).sort(), wanted.sort(), `${method} ${template}`);
  }
});

test('every interaction of every type is in it', () => {
  const shapes = {
    type: '',
    search: '/_search',
    'type-history': '/_history',
    instance: '/{id}',
    history: '/{id}/_history',
  };
  for (const type of resourceTypesWithEndpoint) {
    for (const [shape, path] of [...Object.entries(shapes), ['version', '/{id}/_history/{versionId}'] as const]) {
      const taken = Object.keys(methods[shape as keyof typeof methods]).filter((method) => method !== 'HEAD');
      const item = paths[`/${type}${path}`] ?? {};
      const told = describedMethods.filter((method) => item[method] !== undefined).map((name) => name.toUpperCase());
      const offered = taken.filter((method) => isWritable(type) || !changes(method, shape));
      assert.deepEqual(told.sort(), offered.sort(), `/${type}${path}`);
    }
  }
});

function changes(method: string, shape: string): boolean {
  return shape !== 'search' && method !== 'GET';
}

test('every operation is in it, at each level and by each method', () => {
  for (const declaration of declaredOperations) {
    const { name, types, levels, ofVersions } = declaration;
    const below = types === 'all' ? ['{type}'] : types;
    const places = levels.flatMap((level) => {
      if (level === 'system') return [''];
      return below.map((type) => (level === 'type' ? `/${type}` : `/${type}/{id}`));
    });
    const versions = ofVersions === true ? below.map((type) => `/${type}/{id}/_history/{versionId}`) : [];
    for (const place of [...places, ...versions]) {
      const item = paths[`${place}/$${name}`] ?? assert.fail(`${place}/$${name}`);
      const told = describedMethods.filter((method) => item[method] !== undefined).map((each) => each.toUpperCase());
      const named = declaredOperations.filter(
        (each) => each.name === name && each.levels.some((level) => levels.includes(level)),
      );
      const taken = new Set(named.flatMap(listMethods));
      taken.delete('HEAD');
      assert.deepEqual(told.sort(), [...taken].sort());
    }
  }
});

test('a search lists every parameter that is served, with its description and kind', () => {
  for (const type of resourceTypesWithEndpoint) {
    const refs = (paths[`/${type}`]?.get?.parameters ?? []).map((each) => ('$ref' in each ? each.$ref : ''));
    const listed = refs.map((ref) => document.components.parameters[ref.slice(ref.lastIndexOf('/') + 1)]);
    const byName = new Map(listed.map((parameter) => [parameter.name, parameter]));
    for (const parameter of getSearchParameters(type).values()) {
      if (!isSearchable(parameter)) continue;
      const { description, schema } = byName.get(parameter.code) ?? assert.fail(`${type} ${parameter.code}`);
      assert.equal(description, parameter.description);
      assert.deepEqual(schema, { $ref: `#/components/schemas/search.${parameter.type}` });
    }
    for (const name of resultParameterNames) assert.ok(byName.has(name), `${type} ${name}`);
  }
});

/** A body of the media type that is taken, as small as it can be. */
function bodyOf({ template, operation }: Described): { readonly type: string; readonly body: string } | undefined {
  const given = operation.requestBody;
  if (given === undefined) return undefined;
  const { content } = '$ref' in given ? resolved(given.$ref) : given;
  const type = Object.keys(content)[0] ?? assert.fail(template);
  if (type === 'application/x-www-form-urlencoded') {
    const form = template.includes('/auth/') ? clientForm(operator) : passwordForm(operator, maple);
    return { type, body: operation.tags.includes('Tokens') ? new URLSearchParams(form).toString() : '' };
  }
  const resource = stored.get(operation.tags[0] ?? '');
  if (type === 'application/json-patch+json') {
    return { type, body: JSON.stringify([{ op: 'test', path: '/id', value: 'one' }]) };
  }
  if (template === '/') return { type, body: JSON.stringify({ resourceType: 'Bundle', type: 'batch' }) };
  if (template.includes('$')) return { type, body: JSON.stringify({ resourceType: 'Parameters' }) };
  return { type, body: JSON.stringify(resource ?? { resourceType: operation.tags[0] }) };
}

// biome-ignore lint/suspicious/noExplicitAny: components of many shapes.
function resolved(ref: string): any {
  return ref
    .slice(2)
    .split('/')
    .reduce((value, name) => value[name], document);
}

/**
 * Headers that tell of limits, which are off here, those of lists as lines, those of searches by time and of keys, and
 * that of one of several workers.
 */
const whereAsked: ReadonlySet<string> = new Set([
  ...limitHeaders,
  ...listHeaders,
  'X-Complete-Until',
  'Idempotent-Replayed',
  'X-Worker',
]);

async function assertAnswered(asked: Described): Promise<void> {
  const { template, method, item, operation } = asked;
  const what = `${method} ${template}`;
  const key = template.endsWith('/grant') ? operator.legacyKey : operator.clientKey;
  const credentials = operation.security?.length === 0 ? {} : { ...headers, 'x-api-key': key };
  const authorised = operation.tags.includes('Tokens') ? { 'x-api-key': key } : credentials;
  const sent = bodyOf(asked);
  const conditional = operation.operationId.startsWith('conditional') ? '?_id=one' : '';
  // What is deleted is another resource, so that the other operations find theirs.
  const path = pathOf(template, item);
  const answer = await wire.send({
    method,
    path:
      method === 'DELETE'
        ? `${path.replace(/\/one$/, '/two')}${conditional.replace('one', 'two')}`
        : path + conditional,
    headers: { ...authorised, ...(sent === undefined ? {} : { 'content-type': sent.type }) },
    ...(sent === undefined ? {} : { body: sent.body }),
  });
  // A stored Slot is no slot of a calendar.
  const isMissing =
    answer.json?.issue?.[0]?.details?.coding?.[0]?.code === 'resource-not-found' &&
    (!stored.has(operation.tags[0] ?? '') || template.endsWith('/$hold'));
  assert.ok(answer.status !== 404 || isMissing, `${what}: ${answer.status} ${answer.text.slice(0, 200)}`);
  const told = operation.responses[answer.status] ?? assert.fail(`${what}: ${answer.status} is not described`);
  const { content = {}, headers: named = {} } = '$ref' in told ? resolved(told.$ref) : told;
  if (answer.status === 200 || answer.status === 201) {
    const lacking = Object.keys(named).filter((name) => !whereAsked.has(name) && !answer.headers.has(name));
    assert.deepEqual(lacking, [], what);
  }
  const type = answer.headers.get('content-type')?.split(';')[0];
  assert.ok(answer.text === '' || '*/*' in content || (type !== undefined && type in content), `${what}: ${type}`);
  assert.ok(answer.status < 500, `${what}: ${answer.status} ${answer.text.slice(0, 200)}`);
}

test('every operation is answered, with a status and a media type that it describes', async () => {
  // Deletes and patches come after reads of the same path, types side by side.
  const byTag = Map.groupBy(described, ({ operation }) => operation.tags[0]);
  await Promise.all(
    [...byTag.values()].map(async (those) => {
      for (const each of those) await assertAnswered(each);
    }),
  );
});

test('an operation that creates describes 201 with what it creates, and 200 only with other results', () => {
  const find = (path: string) =>
    described.find(({ template }) => template.endsWith(path))?.operation ?? assert.fail(`${path} is not described`);
  const good = (path: string) => Object.keys(find(path).responses).filter((status) => status < '300');
  assert.deepEqual(good('/Appointment/$book'), ['200', '201']);
  assert.deepEqual(good('/Slot/{id}/$hold'), ['200']);
  assert.deepEqual(find('/Appointment/$book').responses['201'], { $ref: '#/components/responses/Appointment.written' });
  assert.match(JSON.stringify(find('/Appointment/$book').parameters), /preferReturn/);
  assert.doesNotMatch(JSON.stringify(find('/Slot/{id}/$hold').parameters), /preferReturn/);
});

test('examples of bodies are taken as they stand, and answered as described', async () => {
  const { examples } = document.components;
  for (const type of ['Patient', 'Appointment']) {
    const { status, json } = await send('POST', type, examples[`${type}.sent`].value);
    assert.equal(status, 201);
    assert.deepEqual({ ...json, id: '1' }, examples[`${type}.returned`].value);
    if (type !== 'Patient') continue;
    for (const [name, mediaType] of [
      ['json-patch', 'application/json-patch+json'],
      ['fhirpath-patch', 'application/fhir+json'],
    ] as const) {
      const patched = await send('PATCH', `Patient/${json.id}`, examples[name].value, { 'content-type': mediaType });
      assert.deepEqual([patched.status, patched.json.telecom[0].value], [200, '555-0199']);
    }
  }
  const done = await send('POST', '', examples.transaction.value);
  assert.deepEqual(
    done.json.entry.map(({ response }: { response: { status: string } }) => response.status),
    ['201 Created', '201 Created'],
  );
});

test('tokens are answered with the members of their examples', async () => {
  const client = await postForm(clientTokenUrl(service), clientForm(operator), operator.clientKey);
  const legacy = await postForm(maple.legacyTokenUrl, passwordForm(operator, maple), operator.legacyKey);
  const { ClientTokenAnswer, LegacyTokenAnswer } = document.components.examples;
  assert.deepEqual(Object.keys(client.json).sort(), Object.keys(ClientTokenAnswer.value).sort());
  assert.deepEqual(Object.keys(legacy.json).sort(), Object.keys(LegacyTokenAnswer.value).sort());
  assert.deepEqual(document.components.schemas.ClientTokenAnswer.required.toSorted(), Object.keys(client.json).sort());
  assert.deepEqual(document.components.schemas.LegacyTokenAnswer.required.toSorted(), Object.keys(legacy.json).sort());
});

const probedTypes = ['Patient', 'AuditEvent', 'Binary', 'Bundle', 'Composition', 'Observation', 'ValueSet', 'Device'];

test('methods that it does not describe are refused with 405', async () => {
  for (const [template, item] of Object.entries(paths)) {
    const tags = describedMethods.flatMap((method) => item[method]?.tags ?? []);
    const isType = tags.some((tag) => resourceTypesWithEndpoint.includes(tag));
    if (isType && !tags.some((tag) => probedTypes.includes(tag))) continue;
    for (const method of describedMethods.filter((name) => item[name] === undefined)) {
      const request = { method: method.toUpperCase(), path: pathOf(template, item), headers };
      const { status, headers: received } = await wire.send(request);
      assert.equal(status, 405, `${method} ${template}`);
      if (tags.includes('AuditEvent')) continue; // its Allow names what other types take
      const allowed = describedMethods.filter((name) => item[name] !== undefined).map((name) => name.toUpperCase());
      const told = (received.get('allow') ?? '').split(', ').filter((name) => name !== 'HEAD');
      assert.deepEqual(told.sort(), allowed.sort(), `${method} ${template}`);
    }
  }
});

test('it holds nothing of a tenant: no firm, no application, and the same text whoever asks', async () => {
  const texts = await Promise.all([{}, headers].map((sent) => wire.send({ path: '/openapi.json', headers: sent })));
  assert.equal(texts[0]?.text, texts[1]?.text);
  for (const word of ['maple', 'Operator', operator.clientId, '127.0.0.1']) {
    assert.ok(!texts[0]?.text.includes(word), word);
  }
});
