/** What the CapabilityStatement says of a type beside its interactions, parameters and operations. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

/** Of a type that can be written, and of one that only the server writes. */
const facts = (isWritable: boolean) => ({
  versioning: 'versioned',
  readHistory: true,
  updateCreate: isWritable,
  conditionalCreate: isWritable,
  conditionalRead: 'full-support',
  conditionalUpdate: isWritable,
  conditionalDelete: isWritable ? 'single' : 'not-supported',
  referencePolicy: ['literal'],
});

for (const [type, isWritable] of [
  ['Patient', true],
  ['AuditEvent', false],
] as const) {
  test(`the entry of ${type}`, async () => {
    const { json } = await caller.get('metadata');
    const entry = json.rest[0].resource.find((each: { type: string }) => each.type === type);
    const { interaction, searchInclude, searchRevInclude, searchParam, operation, ...rest } = entry;
    for (const list of [interaction, searchInclude, searchRevInclude, searchParam]) assert.ok(list.length > 0);
    assert.deepEqual(rest, {
      type,
      profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
      ...facts(isWritable),
    });
    assert.deepEqual(
      operation?.map(({ name }: { name: string }) => name).filter((name: string) => name === 'everything') ?? [],
      type === 'Patient' ? ['everything'] : [],
    );
  });
}
