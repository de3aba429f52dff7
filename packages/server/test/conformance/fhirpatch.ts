/** https://hl7.org/fhir/R4/fhirpatch.html */
import assert from 'node:assert/strict';
import { patient } from '../support/records.ts';
import type { Answer } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { type Clause, type Page, shall, shallNot, should } from './clause.ts';
import { observation } from './records.ts';
import type { World } from './world.ts';

/** A patch of one operation; `parts` are the values of its parts by name. */
function operation(type: string, path: string, ...parts: readonly object[]): object {
  const part = [{ name: 'type', valueCode: type }, { name: 'path', valueString: path }, ...parts];
  return { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] };
}

const value = (content: object) => ({ name: 'value', ...content });
const named = (name: string) => ({ name: 'name', valueString: name });

/** The patch is refused with 4xx and an OperationOutcome, and nothing is written. */
async function assertRefused({ send, service }: World, path: string, patch: object): Promise<void> {
  const before = await tenantRows(service.database.owner);
  const { status, json }: Answer = await send('PATCH', path, patch);
  assert.ok(status >= 400 && status < 500, JSON.stringify(json));
  assert.equal(json.resourceType, 'OperationOutcome');
  assert.deepEqual(await tenantRows(service.database.owner), before);
}

const contained = {
  contained: [{ resourceType: 'Practitioner', id: 'p', active: true }],
  performer: [{ reference: '#p' }],
};

const clauses: readonly Clause[] = [
  shallNot('fhirpatch-concept-1', 'concept', 'A path does not leave the resource by resolve()', async (world) => {
    const { id } = await world.create(patient(world.unique()));
    const seen = await world.create(observation(`Patient/${id}`, '1234-5'));
    for (const path of ['Observation.subject.resolve().name.family', 'Observation.subject.resolve().active']) {
      const content = path.endsWith('family') ? { valueString: 'Broken' } : { valueBoolean: false };
      await assertRefused(world, `Observation/${seen.id}`, operation('replace', path, value(content)));
    }
  }),
  shall(
    'fhirpatch-concept-2',
    'concept',
    'resolve() leads to contained resources of the same resource alone',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      const seen = await world.create({ ...observation(`Patient/${id}`, '1234-5'), ...contained });
      const path = `Observation/${seen.id}`;
      const inside = operation('replace', 'Observation.performer.resolve().active', value({ valueBoolean: false }));
      const answer = await world.send('PATCH', path, inside);
      if (answer.status === 200) assert.equal((await world.get(path)).json.contained[0].active, false);
      else assert.ok(answer.status >= 400 && answer.status < 500);
      await assertRefused(world, path, operation('delete', 'Observation.subject.resolve().name'));
    },
  ),
  shallNot('fhirpatch-concept-3', 'concept', 'A patch alters no other resource', async (world) => {
    const { id, meta } = await world.create(patient(world.unique()));
    const seen = await world.create(observation(`Patient/${id}`, '1234-5'));
    const attempt = operation('replace', 'Observation.subject.resolve().name.family', value({ valueString: 'Broken' }));
    await world.send('PATCH', `Observation/${seen.id}`, attempt);
    await world.send('PATCH', `Observation/${seen.id}`, operation('delete', 'Patient.name'));
    assert.equal((await world.get(`Patient/${id}`)).json.meta.versionId, meta.versionId);
    const inTransaction = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource: attempt, request: { method: 'PATCH', url: `Observation/${seen.id}` } }],
    };
    assert.ok((await world.send('POST', '', inTransaction)).status >= 400);
    assert.equal((await world.get(`Patient/${id}`)).json.meta.versionId, meta.versionId);
  }),
  should('fhirpatch-concept-4', 'concept', 'A patch that tries to is refused', async (world) => {
    const { id } = await world.create(patient(world.unique()));
    const seen = await world.create(observation(`Patient/${id}`, '1234-5'));
    await assertRefused(world, `Observation/${seen.id}`, operation('delete', 'Observation.subject.resolve().name'));
    await assertRefused(
      world,
      `Observation/${seen.id}`,
      operation('add', 'Observation.subject.resolve()', named('active'), value({ valueBoolean: true })),
    );
  }),
  shall('fhirpatch-concept-5', 'concept', 'A value of another type than its place has is refused', async (world) => {
    const { id } = await world.create({ ...patient(world.unique()), birthDate: '2000-01-02', active: true });
    const path = `Patient/${id}`;
    for (const patch of [
      operation('replace', 'Patient.birthDate', value({ valueBoolean: true })),
      operation('replace', 'Patient.active', value({ valueString: 'true' })),
      operation('add', 'Patient', named('gender'), value({ valueHumanName: { family: 'x' } })),
      operation('replace', 'Patient.name[0]', value({ valueIdentifier: { value: 'x' } })),
      operation('insert', 'Patient.name', value({ valueAddress: { city: 'x' } }), { name: 'index', valueInteger: 0 }),
    ]) {
      await assertRefused(world, path, patch);
    }
  }),
  shall('fhirpatch-concept-6', 'concept', 'A patch that leaves no valid resource is refused', async (world) => {
    const { id } = await world.create(patient(world.unique()));
    const seen = await world.create(observation(`Patient/${id}`, '1234-5'));
    await assertRefused(world, `Observation/${seen.id}`, operation('delete', 'Observation.status'));
    await assertRefused(
      world,
      `Observation/${seen.id}`,
      operation('replace', 'Observation.status', value({ valueCode: 'none' })),
    );
    await assertRefused(
      world,
      `Patient/${id}`,
      operation('add', 'Patient', named('nonsense'), value({ valueString: 'x' })),
    );
    await assertRefused(
      world,
      `Patient/${id}`,
      operation('add', 'Patient', named('birthDate'), value({ valueDate: 'soon' })),
    );
  }),
];

export const fhirpatch: Page = {
  name: 'fhirpatch',
  title: 'FHIRPath Patch',
  url: 'https://hl7.org/fhir/R4/fhirpatch.html',
  clauses,
};
