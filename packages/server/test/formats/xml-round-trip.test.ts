/**
 * A synthetic practice survives JSON → XML → JSON, digit by digit, as the official examples do
 * (packages/fhir/test/xml-round-trip.test.ts). https://hl7.org/fhir/R4/xml.html
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseJson, parseXml, toXml } from '@praxis/fhir';
import { generatePractice } from '../../src/synthetic/practice.ts';
import { startMs } from '../support/service.ts';

test('each resource of a synthetic practice survives JSON → XML → JSON', () => {
  const resources = [
    ...generatePractice({
      seed: 'formats',
      firm: 'maple',
      name: 'Maple',
      timeZone: 'America/New_York',
      patients: 20,
      todayMs: startMs,
    }),
  ];
  const types = new Set(resources.map(({ resourceType }) => resourceType));
  assert.ok(types.size > 10, [...types].join());
  for (const [index, resource] of resources.entries()) {
    const sent = parseJson(JSON.stringify(resource));
    const xml = toXml(resource, { pretty: index % 2 === 1 });
    assert.deepEqual(parseXml(xml), sent, `${resource.resourceType}/${resource.id}`);
  }
});
