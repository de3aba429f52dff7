/**
 * Numbers in index tables: no two names share one, and none ever changes.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { getSearchParameters, resourceTypes } from '@praxis/fhir';
import {
  computeParameterNumber,
  computeSystemNumber,
  derivedSpaces,
  getTypeNumber,
  isResourceType,
} from '../../src/search/numbers.ts';

test('no two search parameters have the same number', () => {
  const names = new Map<number, string>();
  for (const type of resourceTypes) {
    for (const code of getSearchParameters(type).keys()) {
      for (const space of [undefined, ...derivedSpaces]) {
        const name = `${type}.${code}${space === undefined ? '' : `:${space}`}`;
        const number = computeParameterNumber(type, code, space);
        assert.equal(names.get(number), undefined, `${name} and ${names.get(number)}`);
        assert.ok(Number.isInteger(number) && number >= -(2 ** 31) && number < 2 ** 31);
        names.set(number, name);
      }
    }
  }
  assert.ok(names.size > 4000);
});

test('numbers of types, parameters and systems are what stored rows hold', () => {
  assert.deepEqual(['Account', 'Appointment', 'Patient', 'VisionPrescription'].map(getTypeNumber), [1, 5, 103, 146]);
  assert.equal(new Set(resourceTypes.map(getTypeNumber)).size, 146);
  assert.equal(computeParameterNumber('Patient', 'birthdate'), 2095818023);
  assert.equal(computeSystemNumber('http://loinc.org'), '-4546576224293134562');
  assert.equal(computeSystemNumber(''), '0');
});

test('systems of hl7.org have one number for http and https, others have two', () => {
  for (const rest of [
    'www.hl7.org/fhir/v2/0203/index.html#v2-0203-MR',
    'hl7.org/fhir/sid/us-ssn',
    'terminology.hl7.org/CodeSystem/v3-ActCode',
  ]) {
    assert.equal(computeSystemNumber(`https://${rest}`), computeSystemNumber(`http://${rest}`));
  }
  assert.equal(computeSystemNumber('https://WWW.HL7.org/x'), computeSystemNumber('http://www.hl7.org/x'));
  for (const rest of ['loinc.org', 'nothl7.org/x', 'hl7.org.example.com/x', 'www.hl7.organisation/x']) {
    assert.notEqual(computeSystemNumber(`https://${rest}`), computeSystemNumber(`http://${rest}`));
  }
  assert.notEqual(computeSystemNumber('PMS'), computeSystemNumber('pms'));
});

test('a name that is no R4 type has no number', () => {
  assert.throws(() => getTypeNumber('Unicorn'), new TypeError('Unicorn is not a resource type of R4'));
  assert.equal(isResourceType('Unicorn'), false);
  assert.equal(isResourceType('constructor'), false);
});
