/**
 * What a search refuses, before it asks the database anything: every answer names the parameter and what would be right.
 * https://hl7.org/fhir/R4/search.html#errors
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { parseSearch } from '../../src/search/query/query.ts';
import { encodeQuery } from './golden.ts';
import { context, parametersOfQuery } from './world.ts';

const dates =
  'takes a date such as 2013, 2013-01, 2013-01-14 or 2013-01-14T10:00:00Z (also with an offset, +02:00), after one of eq, ne, gt, lt, ge, le, sa, eb, ap or none';
const numbers = 'takes a number such as 100, 5.40 or 5.4e-3, after one of eq, ne, gt, lt, ge, le, sa, eb, ap or none';
const escapes =
  'has a backslash that escapes nothing: write \\\\ for a backslash, and \\, \\| \\$ for these separators as text';
const tokens = 'has no value: it takes code, system|code, |code or system|';
const quantities = 'takes number, number|system|code or number||code, for instance 5.4|http://unitsofmeasure.org|mg';
const references =
  'takes an id (23), a type and id (Patient/23) or an absolute URL; ids are 1 to 64 letters, digits, hyphens and dots';
const typed =
  'takes system|code|value, all three: the type of the identifier and its value, for instance http://terminology.hl7.org/CodeSystem/v2-0203|MR|446053';
const words = 'lacks a word: it takes words, with AND, OR, NOT and parentheses between them';
const urls = 'takes an absolute URL: only URLs have a hierarchy, URNs have none';
const places =
  'takes latitude|longitude|distance|units in degrees of WGS84, for instance 42.2565|-83.6948|11.2|km; latitudes are from -90 to 90, longitudes from -180 to 180';
const letters = 'needs a value with at least one letter or digit: punctuation is not searched';

/** Type, query, the parameter that is named, what is said about it. */
const refusals: readonly (readonly [type: string, query: string, name: string, problem: string])[] = [
  ['Patient', 'birthdate=14/01/2013', 'birthdate', dates],
  ['Patient', 'birthdate=23 May 2009', 'birthdate', dates],
  ['Patient', 'birthdate=2013-02-30', 'birthdate', dates],
  ['Patient', 'birthdate=2013-13', 'birthdate', dates],
  ['Patient', 'birthdate=2013-00', 'birthdate', dates],
  ['Patient', 'birthdate=2013-1-4', 'birthdate', dates],
  ['Patient', 'birthdate=2013-01-14T10', 'birthdate', dates],
  ['Patient', 'birthdate=2013-01-14T25:00', 'birthdate', dates],
  ['Patient', 'birthdate=2013-01-14T10:00+15:00', 'birthdate', dates],
  ['Patient', 'birthdate=0000', 'birthdate', dates],
  ['Patient', 'birthdate=after2013', 'birthdate', dates],
  ['Patient', 'birthdate=GT2013', 'birthdate', dates],
  ['Patient', 'birthdate=', 'birthdate', dates],
  ['Patient', 'birthdate=2013,', 'birthdate', dates],
  [
    'Patient',
    'birthdate=>=2013',
    'birthdate',
    'takes its comparison as letters before the value: eq, ne, gt, lt, ge, le, sa, eb, ap',
  ],
  ['Patient', '_lastUpdated=yesterday', '_lastUpdated', dates],
  ['RiskAssessment', 'probability=high', 'probability', numbers],
  ['RiskAssessment', 'probability=1,5x', 'probability', numbers],
  ['RiskAssessment', 'probability=1e999', 'probability', numbers],
  ['RiskAssessment', 'probability=ge', 'probability', numbers],
  ['Observation', 'value-quantity=5.4|mg', 'value-quantity', quantities],
  ['Observation', 'value-quantity=5.4|http://unitsofmeasure.org|', 'value-quantity', quantities],
  ['Observation', 'value-quantity=1|2|3|4', 'value-quantity', quantities],
  ['Observation', 'value-quantity=|http://unitsofmeasure.org|mg', 'value-quantity', numbers],
  ['Observation', 'code=', 'code', tokens],
  ['Observation', 'code=|', 'code', tokens],
  ['Observation', 'code=a,,b', 'code', tokens],
  ['Observation', 'code=a|b|c', 'code', 'takes code, system|code, |code or system|: write \\| for a | inside a code'],
  ['Observation', 'code=xx\\xx', 'code', escapes],
  ['Observation', 'code=xx\\', 'code', escapes],
  ['Patient', 'active=yes', 'active', 'takes true or false'],
  [
    'Patient',
    'active=|true',
    'active',
    'takes a plain value: its values have no system, so | is not used (write \\| for a | inside the value)',
  ],
  [
    'Patient',
    'phone=phone|555',
    'phone',
    'takes a plain value: its values have no system, so | is not used (write \\| for a | inside the value)',
  ],
  ['Patient', 'gender:missing=maybe', 'gender:missing', 'takes true or false'],
  [
    'Patient',
    'gender:text=m',
    'gender:text',
    'has a modifier that gender of Patient does not take; it takes :missing, :not, :above, :below, :in, :not-in',
  ],
  [
    'Patient',
    'gender:exact=male',
    'gender:exact',
    'has a modifier that gender of Patient does not take; it takes :missing, :not, :above, :below, :in, :not-in',
  ],
  [
    'Observation',
    'code:of-type=a|b|c',
    'code:of-type',
    'has a modifier that code of Observation does not take; it takes :missing, :not, :text, :above, :below, :in, :not-in',
  ],
  [
    'Patient',
    'identifier:below=urn:x|1',
    'identifier:below',
    'has a modifier that identifier of Patient does not take; it takes :missing, :not, :text, :of-type',
  ],
  [
    'Patient',
    'active:text=true',
    'active:text',
    'has a modifier that active of Patient does not take; it takes :missing, :not',
  ],
  ['Patient', 'identifier:of-type=MR|446053', 'identifier:of-type', typed],
  ['Patient', 'identifier:of-type=|MR|446053', 'identifier:of-type', typed],
  ['Patient', 'identifier:of-type=http://acme.org|MR|', 'identifier:of-type', typed],
  ['Patient', 'identifier:of-type=http://acme.org|MR|1|2', 'identifier:of-type', typed],
  ['Observation', 'code:text=...', 'code:text', letters],
  [
    'Patient',
    'family:text=x',
    'family:text',
    'has a modifier that family of Patient does not take; it takes :missing, :exact, :contains',
  ],
  [
    'Patient',
    '_text:missing=true',
    '_text:missing',
    'has a modifier that _text of Patient does not take; it takes none',
  ],
  ['Patient', '_content=(bone', '_content', 'opens a parenthesis that it does not close'],
  ['Patient', '_content=bone)', '_content', 'closes a parenthesis that it has not opened'],
  ['Patient', '_content=bone or', '_content', words],
  ['Patient', '_content=or', '_content', words],
  ['Patient', '_content=', '_content', words],
  ['Patient', '_content=...', '_content', 'needs words of letters or digits: punctuation is not searched'],
  ['Patient', '_content=not bone', '_content', 'needs a word that has to be there, beside those after NOT'],
  ['Patient', '_content=liver or not bone', '_content', 'needs a word that has to be there, beside those after NOT'],
  ['Patient', `_content=${'('.repeat(41)}`, '_content', 'has 41 words and parentheses; at most 40 are taken'],
  ['Patient', 'phonetic=...', 'phonetic', 'needs a name with at least one letter'],
  ['Patient', '_sort=phonetic', '_sort', 'names phonetic, whose values have no order to sort by'],
  ['Patient', '_sort=_text', '_sort', 'names _text, whose values have no order to sort by'],
  ['Location', '_sort=near', '_sort', 'names near, whose values have no order to sort by'],
  ['Patient', 'age=old', 'age', 'takes an age in whole years, after one of eq, ne, gt, lt, ge, le, sa, eb, ap or none'],
  ['Patient', 'age=1.5', 'age', 'takes an age in whole years, after one of eq, ne, gt, lt, ge, le, sa, eb, ap or none'],
  ['Location', 'near=42', 'near', places],
  ['Location', 'near=91|0|1|km', 'near', places],
  ['Location', 'near=0|181|1|km', 'near', places],
  ['Location', 'near=0|0|1|km|x', 'near', places],
  ['Location', 'near=0|0|-1|km', 'near', 'takes a distance of 0 or more'],
  ['Location', 'near=0|0|far', 'near', 'takes a distance of 0 or more'],
  ['Location', 'near=0|0|1|kg', 'near', 'takes a unit of length of UCUM after the distance, such as km, m or [mi_i]'],
  [
    'Patient',
    'family:not=x',
    'family:not',
    'has a modifier that family of Patient does not take; it takes :missing, :exact, :contains',
  ],
  [
    'Patient',
    'family:constructor=x',
    'family:constructor',
    'has a modifier that family of Patient does not take; it takes :missing, :exact, :contains',
  ],
  [
    'Patient',
    'birthdate:exact=2013',
    'birthdate:exact',
    'has a modifier that birthdate of Patient does not take; it takes :missing',
  ],
  [
    'Patient',
    'organization:Patient=1',
    'organization:Patient',
    'has a modifier that organization of Patient does not take; it takes :missing, :identifier, :above, :below, :Organization',
  ],
  [
    'Patient',
    'organization:Patient.name=x',
    'organization:Patient.name',
    'follows organization of Patient to Patient; it refers to Organization',
  ],
  [
    'Patient',
    'organization.hobby=x',
    'organization.hobby',
    'follows organization to hobby, which is no search parameter of what organization of Patient refers to',
  ],
  [
    'Patient',
    'family.name=x',
    'family.name',
    'follows family of Patient, which is not a reference: only references can be followed by a dot',
  ],
  [
    'Organization',
    'partof.partof.partof.partof.partof.partof.name=x',
    'partof.partof.partof.partof.partof.partof.name',
    'follows more than 5 references',
  ],
  [
    'Provenance',
    'target._id=x',
    'target._id',
    'leads to 145 types; name one, as in target:Account._id (at most 12 are followed at once)',
  ],
  [
    'Patient',
    '_has:Observation:patient=x',
    '_has:Observation:patient',
    'is written _has:Type:reference:parameter, for instance _has:Observation:patient:code',
  ],
  ['Patient', '_has:Visit:patient:code=x', '_has:Visit:patient:code', 'names no resource type of R4 after _has:'],
  [
    'Patient',
    '_has:Observation:device:code=x',
    '_has:Observation:device:code',
    'needs a reference parameter of Observation that can refer to Patient after _has:Observation:',
  ],
  [
    'Patient',
    '_has:Observation:patient:hobby=x',
    '_has:Observation:patient:hobby',
    'leads to hobby, which is not a search parameter of Observation',
  ],
  ['Patient', '_list=$current-allergies', '_list', 'takes the id of a List; the functional lists are not kept here'],
  [
    'Encounter',
    'patient.birthdate=1970-13',
    'patient.birthdate',
    'takes a date such as 2013, 2013-01, 2013-01-14 or 2013-01-14T10:00:00Z (also with an offset, +02:00), after one of eq, ne, gt, lt, ge, le, sa, eb, ap or none',
  ],
  ['Patient', 'family:=x', 'family:', 'ends in a colon: a modifier has to follow, or nothing'],
  ['Patient', 'family=...', 'family', letters],
  ['Patient', 'family=', 'family', letters],
  ['Patient', 'family:contains=-', 'family:contains', letters],
  ['Patient', 'family:exact=', 'family:exact', 'has no value'],
  ['Patient', 'organization=', 'organization', references],
  ['Patient', 'organization=a b', 'organization', references],
  ['Patient', 'organization=Organization/pay|1388', 'organization', references],
  ['Patient', 'organization=Organisation/1', 'organization', references],
  ['Patient', `organization=${'x'.repeat(65)}`, 'organization', references],
  [
    'Patient',
    'organization:Organization=Practitioner/1',
    'organization:Organization',
    'takes an id of Organization, not of Practitioner',
  ],
  [
    'Patient',
    'organization:Organization=http://other.example.com/Organization/1',
    'organization:Organization',
    'takes an id of Organization; a reference to another server is searched without :Organization',
  ],
  [
    'QuestionnaireResponse',
    'questionnaire:identifier=x',
    'questionnaire:identifier',
    'has a modifier that questionnaire of QuestionnaireResponse does not take; it takes :missing, :below, :Questionnaire',
  ],
  ['ValueSet', 'url=', 'url', 'has no value: it takes a whole URI'],
  [
    'ValueSet',
    'url:exact=http://acme.org',
    'url:exact',
    'has a modifier that url of ValueSet does not take; it takes :missing, :above, :below',
  ],
  ['ValueSet', 'url:below=urn:oid:1.2.3', 'url:below', urls],
  ['ValueSet', 'url:above=urn:oid:1.2.3', 'url:above', urls],
  ['ValueSet', 'url:below=acme.org/fhir', 'url:below', urls],
  ['ValueSet', `url:below=http://acme.org/${'x'.repeat(900)}`, 'url:below', 'takes a URL of fewer than 900 bytes'],
  [
    'QuestionnaireResponse',
    'questionnaire:below=http://acme.org/q|',
    'questionnaire:below',
    'takes a canonical URL, alone or with | and the beginning of a version',
  ],
  ['Patient', '_id=', '_id', 'has no value: it takes the id of a resource'],
  ['Patient', '_id:not=x', '_id:not', 'has a modifier that _id of Patient does not take; it takes :missing'],
  [
    'Patient',
    '_sort=height',
    '_sort',
    'names "height": it takes search parameters of Patient, separated by commas, each with - before it for descending order',
  ],
  [
    'Patient',
    '_sort=',
    '_sort',
    'names "": it takes search parameters of Patient, separated by commas, each with - before it for descending order',
  ],
  ['Patient', '_sort=birthdate,-birthdate', '_sort', 'names a key twice'],
  ['Patient', '_sort=_id,family,given,gender,name,active', '_sort', 'has 6 keys; at most 5 are taken'],
  ['Patient', '_sort:desc=birthdate', '_sort:desc', 'has a modifier, which _sort does not take'],
  ['Patient', '_count=-1', '_count', 'takes an integer from 0'],
  ['Patient', '_count=ten', '_count', 'takes an integer from 0'],
  ['Patient', '_count=99999999999', '_count', 'takes an integer from 0'],
  ['Patient', '_count=1&_count=2', '_count', 'is given twice with different values'],
  ['Patient', 'page=0', 'page', 'takes an integer from 1'],
  ['Patient', '_total=maybe', '_total', 'takes none, estimate, accurate'],
  ['Patient', '_summary=short', '_summary', 'takes true, text, data, count, false'],
  [
    'Patient',
    '_elements=name,hobby',
    '_elements',
    'names "hobby": it takes names of elements of Patient, separated by commas, such as id or meta',
  ],
  [
    'Patient',
    `gender=${Array.from({ length: 501 }, (_, index) => index).join()}`,
    'gender',
    'has 501 values; at most 500 are taken in one parameter',
  ],
  [
    'ValueSet',
    `url=${Array.from({ length: 501 }, (_, index) => `urn:${index}|1`).join()}`,
    'url',
    'has 501 values; at most 500 are taken in one parameter',
  ],
  ['ValueSet', 'url=urn:x|1|2', 'url', 'takes a URL, or a URL, one | and a version'],
  [
    'Patient',
    Array.from({ length: 51 }, () => 'gender=male').join('&'),
    'The search',
    'has 51 parameters; at most 50 are taken',
  ],
];

test('malformed values, unknown modifiers and impossible keys', async (t) => {
  for (const [type, query, name, problem] of refusals) {
    await t.test(`${type}?${query.slice(0, 80)}`, () => {
      assert.throws(
        () => parseSearch(type, parametersOfQuery(encodeQuery(query)), context),
        new PraxisError('search-invalid', { diagnostics: `${name} ${problem}`, expression: [name] }),
      );
    });
  }
});

test('a page number beyond the rows that may be skipped says what to do', () => {
  assert.throws(
    () => parseSearch('Patient', [['page', '201']], context),
    new PraxisError('page-too-deep', {
      diagnostics: 'page=201 begins beyond row 10000: follow the next links instead, which reach any depth',
      expression: ['page'],
    }),
  );
  assert.equal(parseSearch('Patient', [['page', '200']], context).offset, 9950);
});

test('parameters that the type does not have are told apart, and left out of what was applied', () => {
  const query = parseSearch(
    'Patient',
    [
      ['family', 'x'],
      ['hobby', 'chess'],
      ['subject.name', 'x'],
      ['_query', 'x'],
      ['_include', 'Patient:organization'],
      ['_format', 'json'],
      ['_count', '5'],
    ],
    context,
  );
  assert.deepEqual(query.unknown, ['hobby', 'subject.name', '_query']);
  assert.deepEqual(query.applied, [
    ['family', 'x'],
    ['_include', 'Patient:organization'],
    ['_format', 'json'],
    ['_count', '5'],
  ]);
  assert.deepEqual(
    query.usedParameters.map(({ code }) => code),
    ['family'],
  );
});

test('names of sort keys and elements are repeated as far as they are names, in a bounded length', () => {
  const long = 'name'.repeat(20);
  for (const name of ['_sort', '_elements']) {
    assert.throws(
      () => parseSearch('Patient', [[name, long]], context),
      (error) => error instanceof PraxisError && error.details.diagnostics.includes(`"${'name'.repeat(10)}…"`),
    );
  }
});

test('no value of a query is repeated in a refusal', () => {
  const secret = 'S3cr3tValue';
  for (const [type, name] of [
    ['Patient', 'birthdate'],
    ['RiskAssessment', 'probability'],
    ['Patient', '_total'],
    ['Patient', '_count'],
    ['Patient', 'gender:missing'],
    ['Patient', '_cursor'],
  ] as const) {
    assert.throws(
      () => parseSearch(type, [[name, secret]], context),
      (error) => error instanceof PraxisError && !error.details.diagnostics.includes(secret),
    );
  }
});
