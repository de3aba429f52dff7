/**
 * "Did you mean" in refusals, by real HTTP: what is published is suggested, and nothing of what the service holds: no firm, no
 * environment, realm or product of an operator, no search parameter of a firm.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createEnvironment, createProduct } from '../../src/tenancy/environments.ts';
import { patient } from '../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openWire } from '../support/wire.ts';

const service = await openTestService({ after });
const { database } = service.platform;
await createEnvironment(database, {
  name: 'hidden-one',
  realm: 'hidden-realm',
  kind: 'practice-sandbox',
  products: ['secret'],
});
await createProduct(database, 'sandbox', 'hidden');
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const caller = await openCaller(service, vendor, maple);
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';

function diagnosticsOf(answer: Answer): string {
  return String(answer.json.issue[0].diagnostics);
}

async function hear(path: string): Promise<string> {
  return diagnosticsOf(await wire.send({ path, headers: caller.headers }));
}

const grammar =
  'FHIR is served at /{environment}/firm/{firm}/{product}/fhir/v2/{Type}, tokens at /auth/realms/{realm}/protocol/openid-connect/token, administration at /admin/api; all in the letters and case shown at /docs';

test('what is near to a name of the service that is not published gets no suggestion, with credentials and without', async () => {
  for (const path of [
    '/hidden-on/firm/maple/secret/fhir/v2/Patient',
    '/hidden-onee/firm/maple/secret/fhir/v2/metadata',
    '/sandbox/firm/maple/hiden/fhir/v2/Patient',
    '/auth/realms/hiden-realm/protocol/openid-connect/token',
  ]) {
    const unknown = `No such path, environment, product or realm: ${grammar}`;
    for (const headers of [{}, caller.headers])
      assert.equal(diagnosticsOf(await wire.send({ path, headers })), unknown, path);
  }
  const firm = await wire.send({ path: `${base.replace('maple', 'mapel')}/Patient`, headers: caller.headers });
  assert.equal(firm.status, 403);
  assert.doesNotMatch(firm.text, /did you mean/);
});

test('a search parameter of a firm is suggested to nobody', async () => {
  const own = {
    resourceType: 'SearchParameter',
    url: 'https://maple.example.com/SearchParameter/hair-colour',
    name: 'HairColour',
    status: 'active',
    description: 'Hair.',
    code: 'hair-colour',
    base: ['Patient'],
    type: 'string',
    expression: 'Patient.extension.value.ofType(string)',
  };
  assert.equal((await caller.send('POST', 'SearchParameter', own)).status, 201);
  const text =
    'hair-color is not a search parameter of Patient; metadata lists those that are (Prefer: handling=lenient ignores unknown ones)';
  assert.equal(await hear(`${base}/Patient?hair-color=red`), text);
});

const unknownParameter = 'metadata lists those that are (Prefer: handling=lenient ignores unknown ones)';

/** Request → what is said. */
const mistakes: Readonly<Record<string, string>> = {
  '/sandbx/firm/maple/pm/fhir/v2/Patient/secret-id': `No such path, environment, product or realm: did you mean /sandbox/firm/{firm}/pm/fhir/v2/…? ${grammar}`,
  '/sandbox/firm/maple/pm/fhir/v1/Patient': `No such path, environment, product or realm: did you mean /sandbox/firm/{firm}/pm/fhir/v2/…? ${grammar}`,
  '/sandbox/firm/maple/pm/fhir/R4': `No such path, environment, product or realm: did you mean /sandbox/firm/{firm}/pm/fhir/v2? ${grammar}`,
  '/sandbox/frim/maple/PM/fhir/v2/Patient': `No such path, environment, product or realm: did you mean /sandbox/firm/{firm}/pm/fhir/v2/…? ${grammar}`,
  '/auth/realms/prodction/protocol/openid-connect/token': `No such path, environment, product or realm: did you mean /auth/realms/production/protocol/openid-connect/token? ${grammar}`,
  '/auth/realm/hidden-realm/protocol/openid-connect/certs': `No such path, environment, product or realm: did you mean /auth/realms/{realm}/protocol/openid-connect/certs? ${grammar}`,
  '/doc': `No such path, environment, product or realm: did you mean /docs? ${grammar}`,
  [`${base}/patient`]: `No such path, environment, product or realm: did you mean Patient? ${grammar}`,
  [`${base}/Patient/_serach`]: `No such path, environment, product or realm: did you mean _search? ${grammar}`,
  [`${base}/Patient/one/_histroy`]: `No such path, environment, product or realm: did you mean _history? ${grammar}`,
  [`${base}/Observaton?code=1`]:
    'Observaton is not a resource type with an endpoint in FHIR R4: did you mean Observation?',
  [`${base}/Patient?famly=x`]: `famly is not a search parameter of Patient: did you mean family? ${unknownParameter}`,
  [`${base}/Patient?birthDate=2001`]: `birthDate is not a search parameter of Patient: did you mean birthdate? ${unknownParameter}`,
  [`${base}/Patient?lastUpdated=2026`]: `lastUpdated is not a search parameter of Patient: did you mean _lastUpdated? ${unknownParameter}`,
  [`${base}/Patient?_inclde=Patient:organization`]: `_inclde is not a search parameter of Patient: did you mean _include? ${unknownParameter}`,
  [`${base}/Patient?family:exct=Stone`]:
    'family:exct has a modifier that family of Patient does not take: did you mean exact? it takes :missing, :exact, :contains',
  [`${base}/Patient?_sort=birthdat`]:
    '_sort names "birthdat": did you mean birthdate? it takes search parameters of Patient, separated by commas, each with - before it for descending order',
  [`${base}/Patient?_elements=nmae`]:
    '_elements names "nmae": did you mean name? it takes names of elements of Patient, separated by commas, such as id or meta',
  [`${base}/Patient?_include=Patint:organization`]:
    '_include begins with what is not a resource type of R4, or * with more behind it: did you mean Patient?',
  [`${base}/Patient?_include=Patient:organisation`]:
    '_include names no search parameter of Patient: did you mean organization? its reference parameters are general-practitioner, link, organization',
  [`${base}/Patient?_include=Patient:organization:Organisation`]:
    '_include ends with what is not a resource type of R4: did you mean Organization?',
  [`${base}/Encounter?patient.famly=x`]:
    'patient.famly follows patient to famly, which is no search parameter of what patient of Encounter refers to: did you mean family?',
  [`${base}/Patient?_has:Observaton:patient:code=x`]:
    '_has:Observaton:patient:code names no resource type of R4 after _has:: did you mean Observation?',
  [`${base}/Patient?_has:Observation:patient:cod=x`]:
    '_has:Observation:patient:cod leads to cod, which is not a search parameter of Observation: did you mean code?',
  [`${base}/Patient?_filter=famly eq x`.replaceAll(' ', '%20')]:
    '_filter names famly, which is not a search parameter of Patient: did you mean family?',
  [`${base}/Patient/_history?_sinse=2026`]:
    '_sinse is not a parameter of this history: did you mean _since? which takes _since, _at, _count, _elements, _summary, _format, _pretty, _cursor',
};

test('a misspelt path, type, parameter, modifier or element is told what was meant', async () => {
  for (const [path, text] of Object.entries(mistakes)) assert.equal(await hear(path), text, path);
});

test('a misspelt type of several, an operation and its parameter are, too', async () => {
  assert.equal(
    await hear(`${base}?_type=Patient,Encountr`),
    '_type names "Encountr": did you mean Encounter? it takes names of resource types with an endpoint, separated by commas: Patient,Encounter',
  );
  assert.match(
    await hear(`${base}/Patient/one/$everthing`),
    /^\$everthing is not an operation of this path: did you mean \$everything\? Supported here: \$/,
  );
  assert.match(
    await hear(`${base}/Patient/one/$everything?strt=2026-01-01`),
    /^strt is no parameter of the operation: did you mean start\? it takes start, end, /,
  );
  const bundle = await caller.send('POST', '', {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [{ request: { method: 'GET', url: 'patient/one' } }],
  });
  assert.match(diagnosticsOf(bundle), /one of them with \$operation: did you mean Patient\?$/);
});

test('elements in bodies and in paths of patches are, by the definitions of R4', async () => {
  const { id } = (await caller.send('POST', 'Patient', patient('Stone'))).json;
  const unknown = await caller.send('PUT', `Patient/${id}`, { ...patient('Stone'), id, birthDat: '2001-01-01' });
  assert.match(diagnosticsOf(unknown), /unknown element of Patient: did you mean birthDate\?$/);
  const jsonPatch = { 'content-type': 'application/json-patch+json' };
  const byPointer = await caller.send('PATCH', `Patient/${id}`, [{ op: 'remove', path: '/nmae/0' }], jsonPatch);
  assert.equal(diagnosticsOf(byPointer), 'Operation 1 (remove) finds nothing at /nmae/0: did you mean name?');
  const absent = await caller.send('PATCH', `Patient/${id}`, [{ op: 'remove', path: '/photo' }], jsonPatch);
  assert.equal(diagnosticsOf(absent), 'Operation 1 (remove) finds nothing at /photo');
  const operation = [
    { name: 'type', valueCode: 'delete' },
    { name: 'path', valueString: 'Patient.nmae' },
  ];
  const byPath = await caller.send('PATCH', `Patient/${id}`, {
    resourceType: 'Parameters',
    parameter: [{ name: 'operation', part: operation }],
  });
  assert.match(
    diagnosticsOf(byPath),
    /Unknown element nmae of Patient in the FHIRPath expression: Patient\.nmae: did you mean name\?$/,
  );
});

test('what nothing is near to, and what is long, gets no suggestion', async () => {
  for (const path of [
    `/${'sandbox'.repeat(2_000)}`,
    `/sandbox${'x'.repeat(60)}/firm/maple/pm/fhir/v2/Patient`,
    `${base}/Patient?${'family'.repeat(20)}=x`,
    `${base}/Patient?colour=x`,
    `${base}/Unicorn`,
  ])
    assert.doesNotMatch(await hear(path), /did you mean/, path.slice(0, 80));
});
