/**
 * Parameters about the result: https://hl7.org/fhir/R4/search.html#return; page sizes by type, clamping instead of refusal.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseSearch } from '../../src/search/query/query.ts';
import { getPageRowsMax } from '../../src/search/resource-types.ts';
import { context, parametersOfQuery } from './world.ts';

const parse = (type: string, query: string) => parseSearch(type, parametersOfQuery(query), context);

test('_count is clamped to the maximum of the type, which is also its default', () => {
  const maxima: Readonly<Record<string, number>> = {
    Appointment: 50,
    ChargeItem: 50,
    Coverage: 100,
    DiagnosticReport: 50,
    DocumentReference: 10,
    Encounter: 50,
    FamilyMemberHistory: 50,
    InsurancePlan: 100,
    Location: 100,
    MedicationStatement: 50,
    Organization: 100,
    Patient: 50,
    Practitioner: 100,
    ServiceRequest: 50,
    Task: 50,
    Observation: 100,
    Slot: 100,
  };
  for (const [type, max] of Object.entries(maxima)) {
    assert.equal(getPageRowsMax(type), max);
    assert.equal(parse(type, '').count, max);
    assert.equal(parse(type, '_count=100000').count, max);
    assert.equal(parse(type, '_count=7').count, 7);
  }
});

test('_count=0 and _summary=count ask for the number alone', () => {
  assert.equal(parse('Patient', '_count=0').countOnly, true);
  assert.equal(parse('Patient', '_summary=count').countOnly, true);
  assert.equal(parse('Patient', '_summary=data').countOnly, false);
  assert.equal(parse('Patient', '').countOnly, false);
});

test('_summary, _total and _elements are returned as read', () => {
  for (const summary of ['true', 'text', 'data', 'count', 'false'])
    assert.equal(parse('Patient', `_summary=${summary}`).summary, summary);
  for (const total of ['none', 'estimate', 'accurate']) assert.equal(parse('Patient', `_total=${total}`).total, total);
  assert.deepEqual(parse('Patient', '_elements=id,name, birthDate').elements, ['id', 'name', 'birthDate']);
  assert.deepEqual(parse('Observation', '_elements=value,Observation.status').elements, ['value', 'status']);
  assert.deepEqual(parse('Patient', '_elements=resourceType,name').elements, ['resourceType', 'name']);
  assert.equal(parse('Patient', '').elements, undefined);
});

test('page numbers become rows to skip', () => {
  assert.deepEqual(
    [parse('Patient', 'page=1').offset, parse('Patient', 'page=3').offset, parse('Patient', 'page=3&_count=10').offset],
    [0, 100, 20],
  );
});

test('searches with the same conditions and order are the same search, whatever their page', () => {
  const canonical = parse('Patient', 'gender=male&family=x&_sort=-birthdate').canonical;
  assert.equal(
    parse('Patient', '_count=5&family=x&page=2&gender=male&_sort=-birthdate&_total=none').canonical,
    canonical,
  );
  assert.notEqual(parse('Patient', 'gender=female&family=x&_sort=-birthdate').canonical, canonical);
  assert.notEqual(parse('Patient', 'gender:not=male&family=x&_sort=-birthdate').canonical, canonical);
  assert.notEqual(parse('Patient', 'gender=male&family=x&_sort=birthdate').canonical, canonical);
  assert.notEqual(parse('Person', 'gender=male').canonical, parse('Patient', 'gender=male').canonical);
});

test('sort keys are among the parameters that access control is asked about', () => {
  const query = parse('Patient', 'gender=male&_sort=-birthdate,_lastUpdated');
  assert.deepEqual(
    query.usedParameters.map(({ code }) => code),
    ['gender', 'birthdate', '_lastUpdated'],
  );
});
