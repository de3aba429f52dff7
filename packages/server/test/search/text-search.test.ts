/**
 * `_text` and `_content`, `phonetic`, `near` and `age`: https://hl7.org/fhir/R4/search.html#text and #special
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeSoundex } from '../../src/search/kinds/sound.ts';
import { checkGolden, type Golden } from './golden.ts';
import { openSearchWorld } from './world.ts';

const div = (xhtml: string): object => ({
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${xhtml}</div>` },
});

const many = Array.from({ length: 400 }, (_, index) => `filler${index}`).join(' ');
const conditions = [
  { id: 'bone', ...div('<p>Bone</p><p>Metastases &amp; pain</p>'), code: { text: 'Tumour' } },
  { id: 'liver', ...div('Liver with <b>metastases</b>'), note: [{ text: 'Seen by Dr. Müller' }] },
  { id: 'skin', ...div('Skin, no metastases') },
  { id: 'content', code: { coding: [{ system: 'http://loinc.org', code: 'X1-9', display: 'Bone metastases' }] } },
  { id: 'long', ...div(`bone ${many} metastases`) },
  { id: 'entities', ...div('na&#xEF;ve&nbsp;caf&#233;s') },
].map((condition) => ({ resourceType: 'Condition', subject: { reference: 'Patient/bone' }, ...condition }));

const conditionTable: Golden = [
  ['_text=(bone OR liver) and metastases', ['bone', 'liver', 'long']],
  ['_text=metastases bone', ['bone', 'long']],
  ['_text="bone metastases"', ['bone', 'long']],
  ['_text=metastases not skin', ['bone', 'liver', 'long']],
  ['_text=metastases AND NOT (bone OR liver)', ['skin']],
  ['_text=tumour', []],
  ['_text=bone,skin', ['bone', 'skin', 'long']],
  ['_text=metas', []],
  ['_text=metas*', ['bone', 'liver', 'skin', 'long']],
  ['_text=p', []],
  ['_text=naïve', ['entities']],
  ['_text=cafés', ['entities']],
  ['_text=xhtml', []],
  ['_content=tumour', ['bone']],
  ['_content=BONE metastases', ['bone', 'content', 'long']],
  ['_content=muller', ['liver']],
  ['_content=x1-9', ['content']],
  ['_content=loinc', []],
  // What a narrative says is read, not how it is marked up.
  ['_content=xhtml', []],
  ['_content=patient', []],
  ['_content=condition', []],
  ['_content=filler3 and filler399', ['long']],
  ['_text=bone&_content=tumour', ['bone']],
];

const people = [
  { id: 'smith', name: [{ family: 'Smith', given: ['Robert'] }], birthDate: '1990-01-15' },
  { id: 'smyth', name: [{ family: 'Smyth', given: ['Rupert'] }], birthDate: '1990-01-16' },
  { id: 'schmidt', name: [{ family: 'Schmidt', given: ['Anna'] }], birthDate: '1989-01-15' },
  { id: 'jones', name: [{ text: 'Ann Jones' }], birthDate: '1990' },
  { id: 'dead', name: [{ family: 'Müller' }], birthDate: '1989-06-01', deceasedBoolean: true },
].map((person) => ({ resourceType: 'Patient', ...person }));

// Now is the 15th of January 2026.
const peopleTable: Golden = [
  ['phonetic=smith', ['smith', 'smyth', 'schmidt']],
  ['phonetic=Smith Robert', ['smith', 'smyth']],
  ['phonetic=robert,anne', ['smith', 'smyth', 'schmidt', 'jones']],
  ['phonetic=miller', ['dead']],
  ['age=36', ['smith']],
  ['age=35', ['smyth']],
  ['age=37', ['schmidt']],
  ['age=ge36', ['smith', 'schmidt']],
  ['age=lt36', ['smyth']],
  ['age=gt36', ['schmidt']],
  ['age=36,37', ['smith', 'schmidt']],
];

const location = (id: string, latitude: number, longitude: number): object => ({
  resourceType: 'Location',
  id,
  position: { latitude, longitude },
});
const locations = [
  location('ann-arbor', 42.2565, -83.6948),
  location('detroit', 42.3314, -83.0458),
  location('fiji-west', -17.0, 179.9),
  location('fiji-east', -17.0, -179.9),
  location('pole', 89.99, 10),
  location('beyond-pole', 89.99, -170),
  { resourceType: 'Location', id: 'nowhere' },
];

const locationTable: Golden = [
  ['near=42.2565|-83.6948|11.20|km', ['ann-arbor']],
  // 54.1 km apart on a sphere.
  ['near=42.2565|-83.6948|54|km', ['ann-arbor']],
  ['near=42.2565|-83.6948|54.5', ['ann-arbor', 'detroit']],
  ['near=42.2565|-83.6948|54500|m', ['ann-arbor', 'detroit']],
  ['near=42.2565|-83.6948|33|[mi_i]', ['ann-arbor']],
  ['near=42.2565|-83.6948|34|mi', ['ann-arbor', 'detroit']],
  ['near=42.2565|-83.6948', ['ann-arbor']],
  ['near=-17|179.95|50|km', ['fiji-west', 'fiji-east']],
  ['near=-17|-179.95|50|km', ['fiji-west', 'fiji-east']],
  ['near=90|0|5|km', ['pole', 'beyond-pole']],
  ['near=89.99|10|3|km', ['pole', 'beyond-pole']],
  ['near=89.99|10|2|km', ['pole']],
  ['near:missing=true', ['nowhere']],
];

test('text, sound, distance and age', async (t) => {
  const world = await openSearchWorld(t);
  await world.load([...conditions, ...people, ...locations]);
  await checkGolden(t, world, 'Condition', conditionTable);
  await checkGolden(t, world, 'Patient', peopleTable);
  await checkGolden(t, world, 'Location', locationTable);
});

test('codes of American Soundex, from its description', () => {
  const codes = [
    'washington',
    'lee',
    'gutierrez',
    'pfister',
    'jackson',
    'tymczak',
    'ashcraft',
    'robert',
    'rupert',
    'петров',
  ];
  assert.deepEqual(codes.map(encodeSoundex), [
    'w252',
    'l000',
    'g362',
    'p236',
    'j250',
    't522',
    'a261',
    'r163',
    'r163',
    'петров',
  ]);
});
