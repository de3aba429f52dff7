/** Profiles: R4's vital signs, and made ones for what those do not use. https://hl7.org/fhir/R4/profiling.html */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { type JsonObject, loadOfficialProfiles, parseJson } from '@praxis/fhir';
import { examine } from '../../src/validation/examine.ts';
import { listNamedProfiles } from '../../src/validation/named-profiles.ts';
import { toPlain } from '../../src/validation/plain.ts';
import { loadProfiles } from '../../src/validation/profiles.ts';
import { objectOf } from './plain-resource.ts';

const officialProfiles = await loadOfficialProfiles();
const official = 'http://hl7.org/fhir/StructureDefinition/';
const own = 'http://example.org/StructureDefinition/own';

/** Rule and path of each error. */
async function errorsOf(
  resource: object,
  profiles: readonly string[],
  definitions: ReadonlyMap<string, JsonObject> = new Map(),
): Promise<string[]> {
  const plain = toPlain(objectOf(parseJson(JSON.stringify(resource))));
  const names = [...profiles, ...listNamedProfiles(plain)];
  const loaded = await loadProfiles(officialProfiles, names, async (canonical) => definitions.get(canonical));
  const { findings } = examine(plain, profiles, loaded, 100);
  return findings.filter(({ severity }) => severity === 'error').map(({ rule, path }) => `${rule} ${path}`);
}

/** Errors under a profile of the given snapshot elements. */
async function errorsUnder(elements: readonly object[], resource: { resourceType: string }): Promise<string[]> {
  const type = resource.resourceType;
  const element = [{ path: type, min: 0, max: '*' }, ...elements];
  const definition = { resourceType: 'StructureDefinition', url: own, type, snapshot: { element } };
  const parsed = objectOf(parseJson(JSON.stringify(definition)));
  return errorsOf(resource, [own], new Map([[own, parsed]]));
}

// biome-ignore lint/suspicious/noExplicitAny: examples are changed at many places.
function example(name: string): any {
  return JSON.parse(
    readFileSync(new URL(`../../../../node_modules/hl7.fhir.r4.examples/${name}.json`, import.meta.url), 'utf8'),
  );
}

test('the official examples of vital signs conform to the profiles that they state', async () => {
  for (const name of ['blood-pressure', 'bmi', 'body-height', 'body-temperature', 'heart-rate', 'vitals-panel']) {
    const resource = example(`Observation-${name}`);
    assert.ok(resource.meta.profile.length > 0);
    assert.deepEqual(await errorsOf(resource, []), [], name);
  }
});

test('a blood pressure without what the profile asks for', async () => {
  const bare = example('Observation-blood-pressure');
  delete bare.meta;
  delete bare.category;
  bare.component.pop();
  delete bare.component[0].valueQuantity.code;
  bare.valueQuantity = { value: 1, system: 'http://unitsofmeasure.org', code: '1' };
  assert.deepEqual(await errorsOf(bare, [`${official}bp`]), [
    'cardinality-min Observation.category',
    'slice-min Observation.category',
    'slice-max Observation.value',
    'cardinality-min Observation.component',
    'cardinality-min Observation.component[0].value.code',
    'slice-min Observation.component',
  ]);
});

test('a resource of another type, and another kind of observation, do not conform', async () => {
  assert.deepEqual(await errorsOf({ resourceType: 'Patient' }, [`${official}bmi`]), ['profile-type Patient']);
  const errors = await errorsOf(example('Observation-blood-pressure'), [`${official}bmi`]);
  assert.ok(errors.includes('slice-min Observation.code.coding'));
});

test('a base type is a profile that every resource of it conforms to', async () => {
  assert.deepEqual(await errorsOf({ resourceType: 'Patient' }, [`${official}Patient`]), []);
  assert.deepEqual(await errorsOf({ resourceType: 'Patient' }, [`${official}Group`]), ['profile-type Patient']);
});

test('an extension is what its definition says', async () => {
  const withBirthPlace = (value: object) => ({
    resourceType: 'Patient',
    extension: [{ url: `${official}patient-birthPlace`, ...value }],
  });
  assert.deepEqual(await errorsOf(withBirthPlace({ valueAddress: { city: 'Ulm' } }), []), []);
  assert.deepEqual(await errorsOf(withBirthPlace({ valueString: 'Ulm' }), []), ['type Patient.extension[0].value']);
});

/** Elements of a snapshot, a resource, the errors. */
const cases: readonly (readonly [what: string, elements: object[], resource: object, errors: string[]])[] = [
  ['min', [{ path: 'Patient.name', min: 2, max: '*' }], { name: [{ text: 'x' }] }, ['cardinality-min Patient.name']],
  ['max', [{ path: 'Patient.name', max: '0' }], { name: [{ text: 'x' }] }, ['cardinality-max Patient.name[0]']],
  ['fixed', [{ path: 'Patient.active', fixedBoolean: true }], { active: false }, ['fixed Patient.active']],
  [
    'fixed, more than is fixed',
    [{ path: 'Patient.maritalStatus', fixedCodeableConcept: { text: 'x' } }],
    { maritalStatus: { text: 'x', coding: [{ code: 'M' }] } },
    ['fixed Patient.maritalStatus'],
  ],
  [
    'pattern, more than the pattern',
    [{ path: 'Patient.maritalStatus', patternCodeableConcept: { coding: [{ code: 'M' }] } }],
    { maritalStatus: { text: 'x', coding: [{ code: 'S' }, { system: 'urn:x', code: 'M' }] } },
    [],
  ],
  [
    'pattern, not there',
    [{ path: 'Patient.maritalStatus', patternCodeableConcept: { coding: [{ system: 'urn:x', code: 'M' }] } }],
    { maritalStatus: { coding: [{ system: 'urn:y', code: 'M' }] } },
    ['pattern Patient.maritalStatus'],
  ],
  [
    'type of a choice',
    [{ path: 'Patient.deceased[x]', type: [{ code: 'dateTime' }] }],
    { deceasedBoolean: true },
    ['type Patient.deceased'],
  ],
  ['maxLength', [{ path: 'Patient.language', maxLength: 2 }], { language: 'de-AT' }, ['max-length Patient.language']],
  [
    'least value',
    [{ path: 'Patient.birthDate', minValueDate: '1900-01-01' }],
    { birthDate: '1899-12' },
    ['min-value Patient.birthDate'],
  ],
  [
    'target of a reference',
    [
      {
        path: 'Patient.generalPractitioner',
        type: [{ code: 'Reference', targetProfile: [`${official}Practitioner`] }],
      },
    ],
    { generalPractitioner: [{ reference: 'Practitioner/1' }, { reference: 'Organization/1' }] },
    ['reference-target Patient.generalPractitioner[1]'],
  ],
  [
    'invariant of an element, with the extensions of a primitive',
    [
      {
        path: 'Patient.birthDate',
        constraint: [{ key: 'own-1', severity: 'error', human: 'x', expression: 'extension.empty()' }],
      },
    ],
    { birthDate: '2000-01-01', _birthDate: { extension: [{ url: 'urn:x:y', valueString: 'x' }] } },
    ['own-1 Patient.birthDate'],
  ],
];

for (const [what, elements, resource, errors] of cases) {
  test(`profile: ${what}`, async () => {
    assert.deepEqual(await errorsUnder(elements, { resourceType: 'Patient', ...resource }), errors);
  });
}

/** Telecoms sliced by a discriminator into `phone` (exactly one) and `mail`. */
function sliced(slicing: object, phone: object, mail: object): object[] {
  return [
    { path: 'Patient.telecom', slicing },
    { path: 'Patient.telecom', sliceName: 'phone', min: 1, max: '1' },
    { path: 'Patient.telecom.system', min: 0, max: '1', ...phone },
    { path: 'Patient.telecom', sliceName: 'mail', min: 0, max: '*' },
    { path: 'Patient.telecom.system', min: 0, max: '1', ...mail },
  ];
}
const bySystem = (more: object) =>
  sliced(
    { discriminator: [{ type: 'value', path: 'system' }], ...more },
    { fixedCode: 'phone' },
    { patternCode: 'email' },
  );
const telecoms = (...systems: string[]) => ({
  resourceType: 'Patient',
  telecom: systems.map((system) => ({ system, value: 'x' })),
});

test('slices by value: how many, closed, order', async () => {
  const open = bySystem({ rules: 'open' });
  assert.deepEqual(await errorsUnder(open, telecoms('fax', 'email', 'phone', 'email')), []);
  assert.deepEqual(await errorsUnder(open, telecoms('email')), ['slice-min Patient.telecom']);
  assert.deepEqual(await errorsUnder(open, telecoms('phone', 'phone')), ['slice-max Patient.telecom[0]']);
  const closed = bySystem({ rules: 'closed' });
  assert.deepEqual(await errorsUnder(closed, telecoms('phone', 'fax')), ['slicing Patient.telecom[1]']);
  const atEnd = bySystem({ rules: 'openAtEnd' });
  assert.deepEqual(await errorsUnder(atEnd, telecoms('phone', 'fax', 'email')), ['slice-order Patient.telecom[1]']);
  assert.deepEqual(await errorsUnder(atEnd, telecoms('phone', 'email', 'fax')), []);
  const ordered = bySystem({ rules: 'open', ordered: true });
  assert.deepEqual(await errorsUnder(ordered, telecoms('email', 'phone')), ['slice-order Patient.telecom[1]']);
});

test('slices by existence', async () => {
  const elements = sliced(
    { discriminator: [{ type: 'exists', path: 'system' }], rules: 'closed' },
    { min: 1 },
    { max: '0' },
  );
  const resource = { resourceType: 'Patient', telecom: [{ rank: 1 }, { system: 'phone', value: '2' }] };
  assert.deepEqual(await errorsUnder(elements, resource), []);
  const none = { resourceType: 'Patient', telecom: [{ rank: 1 }] };
  assert.deepEqual(await errorsUnder(elements, none), ['slice-min Patient.telecom']);
});

test('slices by type: of a choice, and of what a reference leads to', async () => {
  const choice = [
    { path: 'Observation.value[x]', slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'closed' } },
    { path: 'Observation.value[x]', sliceName: 'valueQuantity', min: 0, max: '1', type: [{ code: 'Quantity' }] },
    { path: 'Observation.value[x].unit', min: 1, max: '1' },
  ];
  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };
  assert.deepEqual(await errorsUnder(choice, { ...observation, valueQuantity: { value: 1 } } as never), [
    'cardinality-min Observation.value.unit',
  ]);
  assert.deepEqual(await errorsUnder(choice, { ...observation, valueString: 'x' } as never), [
    'slicing Observation.value',
  ]);
  const reference = [
    {
      path: 'Patient.generalPractitioner',
      slicing: { discriminator: [{ type: 'type', path: 'resolve()' }], rules: 'open' },
    },
    {
      path: 'Patient.generalPractitioner',
      sliceName: 'doctor',
      min: 1,
      max: '1',
      type: [{ code: 'Reference', targetProfile: [`${official}Practitioner`] }],
    },
  ];
  const referring = (reference_: string) => ({
    resourceType: 'Patient',
    generalPractitioner: [{ reference: reference_ }],
  });
  assert.deepEqual(await errorsUnder(reference, referring('Practitioner/1')), []);
  assert.deepEqual(await errorsUnder(reference, referring('Organization/1')), [
    'slice-min Patient.generalPractitioner',
  ]);
});

test('slices by profile, and by a value of what a reference leads to', async () => {
  const byValue = [
    {
      path: 'Patient.link',
      slicing: { discriminator: [{ type: 'value', path: 'other.resolve().active' }], rules: 'closed' },
    },
    { path: 'Patient.link', sliceName: 'active', min: 1, max: '1' },
    { path: 'Patient.link.other', type: [{ code: 'Reference', targetProfile: [active] }] },
  ];
  const linked = (isActive: boolean) => ({
    resourceType: 'Patient',
    contained: [{ resourceType: 'Patient', id: 'p', active: isActive }],
    link: [{ type: 'seealso', other: { reference: '#p' } }],
  });
  const definition = (url: string, element: readonly object[]) =>
    objectOf(
      parseJson(JSON.stringify({ url, type: 'Patient', snapshot: { element: [{ path: 'Patient' }, ...element] } })),
    );
  const definitions = new Map([
    [own, definition(own, byValue)],
    [active, definition(active, [{ path: 'Patient.active', fixedBoolean: true }])],
  ]);
  assert.deepEqual(await errorsOf(linked(true), [own], definitions), []);
  assert.deepEqual(await errorsOf(linked(false), [own], definitions), [
    'slicing Patient.link[0]',
    'slice-min Patient.link',
  ]);
  const outside = { resourceType: 'Patient', link: [{ type: 'seealso', other: { reference: 'Patient/1' } }] };
  assert.deepEqual(await errorsOf(outside, [own], definitions), [], 'what is outside is not judged');
});

const active = 'http://example.org/StructureDefinition/active';

test('a StructureDefinition that is no usable profile is a problem with a reason', async () => {
  const loaded = await loadProfiles(officialProfiles, [own, `${own}|2`], async (canonical) =>
    canonical === own ? objectOf(parseJson(JSON.stringify({ url: own, type: 'Patient' }))) : undefined,
  );
  assert.equal(loaded.problems.get(own), 'it has no snapshot');
  assert.match(loaded.problems.get(`${own}|2`) ?? '', /^no StructureDefinition/);
});
