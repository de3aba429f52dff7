// R4's code systems and value sets: https://hl7.org/fhir/R4/terminologies-systems.html
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadTerminology } from '../src/index.ts';

const terminology = await loadTerminology();

test('a code system has its concepts in order, with depth, display and properties', () => {
  const nullFlavor = terminology.codeSystem('http://terminology.hl7.org/CodeSystem/v3-NullFlavor');
  assert.equal(nullFlavor?.content, 'complete');
  assert.equal(nullFlavor.hierarchyMeaning, 'is-a');
  assert.equal(nullFlavor.version, '2018-08-12');
  assert.deepEqual(nullFlavor.concepts.slice(0, 3), [
    { code: 'NI', display: 'NoInformation', depth: 0, properties: [] },
    { code: 'INV', display: 'invalid', depth: 1, properties: [] },
    { code: 'DER', display: 'derived', depth: 2, properties: [] },
  ]);
  assert.deepEqual(nullFlavor.concepts.find(({ code }) => code === 'NAVU')?.properties, [['child', 'NAV']]);
});

test('a value set has its definition, with displays where they are its own', () => {
  assert.deepEqual(terminology.valueSet('http://hl7.org/fhir/ValueSet/administrative-gender'), {
    url: 'http://hl7.org/fhir/ValueSet/administrative-gender',
    version: '4.0.1',
    name: 'AdministrativeGender',
    status: 'active',
    compose: { include: [{ system: 'http://hl7.org/fhir/administrative-gender' }] },
  });
});

test('systems that R4 includes and does not define are fragments', () => {
  const currencies = terminology.codeSystem('urn:iso:std:iso:4217');
  assert.equal(currencies?.content, 'fragment');
  assert.equal(currencies.concepts.find(({ code }) => code === 'USD')?.display, 'United States dollar');
});

test('what R4 does not publish, and names of object members, are unknown', () => {
  for (const url of ['http://snomed.info/sct', 'constructor', '__proto__', '']) {
    assert.equal(terminology.codeSystem(url), undefined);
    assert.equal(terminology.valueSet(url), undefined);
  }
  assert.equal(terminology.codeSystemUrls.length, 1062);
  assert.equal(terminology.valueSetUrls.length, 1312);
});
