/**
 * Modifiers beyond the value itself: texts beside codes, types of identifiers, URLs by their paths, canonicals by version,
 * media types by their base. https://hl7.org/fhir/R4/search.html#modifiers, #uri, #versions and #mimetype
 */
import test from 'node:test';
import { checkGolden, type Golden } from './golden.ts';
import { openSearchWorld } from './world.ts';

const types = 'http://terminology.hl7.org/CodeSystem/v2-0203';

const conditions = [
  {
    id: 'text',
    code: { coding: [{ system: 'urn:x', code: '1', display: 'Pain in the head' }], text: 'Headache, left' },
    category: [{ text: 'Problem' }],
  },
  {
    id: 'display',
    code: {
      coding: [
        { code: '2', display: 'Héadache' },
        { code: '3', display: 'Migraine' },
      ],
    },
  },
  { id: 'code', code: { coding: [{ code: 'headache' }] } },
  { id: 'none' },
].map((condition) => ({ resourceType: 'Condition', subject: { display: 'x' }, ...condition }));

const conditionTable: Golden = [
  ['code:text=headache', ['text', 'display']],
  ['code:text=HEADACHE LEFT', ['text']],
  ['code:text=pain', ['text']],
  ['code:text=head,migraine', ['text', 'display']],
  ['code:text=left', []],
  ['code:text=problem', []],
  ['category:text=prob', ['text']],
  ['code=headache', ['code']],
  ['code:text=headache&category:text=problem', ['text']],
];

const patients = [
  {
    id: 'record',
    identifier: [
      {
        type: {
          coding: [
            { system: types, code: 'MR' },
            { system: 'urn:l', code: 'chart' },
          ],
        },
        value: 'Ab-1',
      },
      { type: { coding: [{ system: types, code: 'SS' }], text: 'Social security number' }, value: '999' },
    ],
  },
  {
    id: 'licence',
    identifier: [{ type: { coding: [{ system: types, code: 'DL' }] }, system: 'urn:dmv', value: 'Ab-1' }],
  },
  { id: 'untyped', identifier: [{ system: types, value: 'Ab-1' }] },
  { id: 'valueless', identifier: [{ type: { coding: [{ system: types, code: 'MR' }] } }] },
].map((patient) => ({ resourceType: 'Patient', ...patient }));

const patientTable: Golden = [
  [`identifier:of-type=${types}|MR|Ab-1`, ['record']],
  // As without the modifier, the case of an identifier does not count.
  [`identifier:of-type=${types}|MR|ab-1`, ['record']],
  ['identifier:of-type=urn:l|chart|Ab-1', ['record']],
  [`identifier:of-type=${types}|MR|999`, []],
  [`identifier:of-type=${types}|MR|Ab`, []],
  [`identifier:of-type=${types}|MR|Ab-1,${types}|DL|Ab-1`, ['record', 'licence']],
  [`identifier:of-type=${types}|MR|Ab-1,urn:l|chart|Ab-1`, ['record']],
  ['identifier:text=social security', ['record']],
];

const url = (id: string, address: string): object => ({ resourceType: 'ValueSet', id, status: 'active', url: address });
const valueSets = [
  url('root', 'http://acme.org'),
  url('fhir', 'http://acme.org/fhir'),
  url('v123', 'http://acme.org/fhir/ValueSet/123'),
  url('v1234', 'http://acme.org/fhir/ValueSet/1234'),
  url('history', 'http://acme.org/fhir/ValueSet/123/_history/5'),
  url('fhirx', 'http://acme.org/fhirx/ValueSet/123'),
  url('oid', 'urn:oid:1.2.3'),
  url('deeper', 'urn:oid:1.2.3.4'),
];

const valueSetTable: Golden = [
  ['url:below=http://acme.org/fhir/', ['v123', 'v1234', 'history']],
  ['url:below=http://acme.org/fhir', ['fhir', 'v123', 'v1234', 'history']],
  ['url:below=http://acme.org/fhir/ValueSet/123', ['v123', 'history']],
  ['url:below=http://acme.org', ['root', 'fhir', 'v123', 'v1234', 'history', 'fhirx']],
  ['url:below=http://acme.org/FHIR', []],
  ['url:above=http://acme.org/fhir/ValueSet/123/_history/5', ['root', 'fhir', 'v123', 'history']],
  ['url:above=http://acme.org/fhir/ValueSet/1234', ['root', 'fhir', 'v1234']],
  ['url:above=http://acme.org', ['root']],
  ['url=urn:oid:1.2.3', ['oid']],
];

const questionnaire = (id: string, canonical: string): object => ({
  resourceType: 'QuestionnaireResponse',
  id,
  status: 'completed',
  questionnaire: canonical,
});
const responses = [
  questionnaire('q', 'http://acme.com/profile'),
  questionnaire('q1', 'http://acme.com/profile|1'),
  questionnaire('q10', 'http://acme.com/profile|1.0'),
  questionnaire('q11', 'http://acme.com/profile|1.1'),
  questionnaire('q12', 'http://acme.com/profile|12.0'),
  questionnaire('q20', 'http://acme.com/profile|2.0'),
];

const responseTable: Golden = [
  ['questionnaire:below=http://acme.com/profile', ['q', 'q1', 'q10', 'q11', 'q12', 'q20']],
  ['questionnaire:below=http://acme.com/profile|1', ['q1', 'q10', 'q11']],
  ['questionnaire:below=http://acme.com/profile|1.1', ['q11']],
  ['questionnaire=http://acme.com/profile|1', ['q1']],
];

const documents = ['text/xml', 'text/xml; charset=UTF-8', 'TEXT/XML;q=1', 'text/xml2', 'text/html'].map(
  (contentType, index) => ({
    resourceType: 'DocumentReference',
    id: `d${index}`,
    status: 'current',
    content: [{ attachment: { contentType } }],
  }),
);

const documentTable: Golden = [
  ['contenttype=text/xml', ['d0']],
  ['contenttype:below=text/xml', ['d0', 'd1', 'd2']],
];

test('modifiers of tokens, URIs and canonicals', async (t) => {
  const world = await openSearchWorld(t);
  await world.load([...conditions, ...patients, ...valueSets, ...responses, ...documents]);
  await checkGolden(t, world, 'Condition', conditionTable);
  await checkGolden(t, world, 'Patient', patientTable);
  await checkGolden(t, world, 'ValueSet', valueSetTable);
  await checkGolden(t, world, 'QuestionnaireResponse', responseTable);
  await checkGolden(t, world, 'DocumentReference', documentTable);
});
