/** https://hl7.org/fhir/R4/search.html#ptypes: numbers, dates, strings, URIs, tokens. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import { type Clause, forClients, shall, shallNot, should } from '../clause.ts';
import { observation, tagged, tagSystem } from '../records.ts';
import type { World } from '../world.ts';
import { assertRefused, matches } from './asking.ts';

/** Ids of what a query finds among the resources of one tag. */
async function found({ get }: World, type: string, tag: string, query: string): Promise<string[]> {
  return matches(await get(`${type}?_tag=${tagSystem}|${tag}&${query}`)).sort();
}

export const values: readonly Clause[] = [
  shall('search-ptypes-1', 'ptypes', 'The value of a number parameter is a number', async (world) => {
    const tag = world.unique();
    const { id } = await world.create({
      resourceType: 'RiskAssessment',
      status: 'final',
      subject: { reference: 'Patient/one' },
      prediction: [{ probabilityDecimal: 0.8 }],
      ...tagged(tag),
    });
    for (const value of ['0.8', '8e-1', 'gt0.7', 'lt1']) {
      assert.deepEqual(await found(world, 'RiskAssessment', tag, `probability=${value}`), [id], value);
    }
    for (const value of ['high', '0.8.1', 'gt', '0,8x', '0x1']) {
      assertRefused(await world.get(`RiskAssessment?probability=${value}`), 'probability');
    }
  }),
  shall('search-date-1', 'date', 'A date is given from the left: no month without a year', async (world) => {
    const tag = world.unique();
    const { id } = await world.create({ ...patient('Stone'), birthDate: '2001-05-06', ...tagged(tag) });
    for (const value of ['2001', '2001-05', '2001-05-06']) {
      assert.deepEqual(await found(world, 'Patient', tag, `birthdate=${value}`), [id], value);
    }
    for (const value of ['05-06', '-05', 'T10:00', '05', '2001-06T10:00']) {
      assertRefused(await world.get(`Patient?birthdate=${value}`), 'birthdate');
    }
  }),
  shall('search-date-2', 'date', 'Who gives an hour gives the minutes', async (world) => {
    const tag = world.unique();
    const at = { effectiveDateTime: '2026-03-04T10:20:00Z' };
    const { id } = await world.create(observation('Patient/one', '1234-5', { ...at, ...tagged(tag) }));
    assert.deepEqual(await found(world, 'Observation', tag, 'date=2026-03-04T10:20Z'), [id]);
    assertRefused(await world.get('Observation?date=2026-03-04T10'), 'date');
    assertRefused(await world.get('Observation?date=2026-03-04T10Z'), 'date');
  }),
  should('search-date-3', 'date', 'Who gives a time gives a time zone', forClients),
  shall('search-date-4', 'date', 'Colons of times may be escaped', async (world) => {
    const tag = world.unique();
    const at = { effectiveDateTime: '2026-03-04T10:20:30+02:00' };
    const { id } = await world.create(observation('Patient/one', '1234-5', { ...at, ...tagged(tag) }));
    for (const value of ['2026-03-04T10%3A20%3A30%2B02%3A00', '2026-03-04T08%3a20:30Z']) {
      assert.deepEqual(await found(world, 'Observation', tag, `date=${value}`), [id], value);
    }
  }),
  should(
    'search-date-5',
    'date',
    'Time zones are corrected for; without any, that of the server counts',
    async (world) => {
      const tag = world.unique();
      const seen = (effectiveDateTime: string) =>
        world.create(observation('Patient/one', '1234-5', { effectiveDateTime, ...tagged(tag) }));
      const { id: evening } = await seen('2026-03-04T22:00:00-05:00');
      const { id: day } = await seen('2026-03-05');
      assert.deepEqual(await found(world, 'Observation', tag, 'date=2026-03-05T03:00:00Z'), [evening]);
      assert.deepEqual(await found(world, 'Observation', tag, 'date=2026-03-04'), [evening]); // the firm is in New York
      assert.deepEqual(await found(world, 'Observation', tag, 'date=2026-03-05'), [day]);
    },
  ),
  should(
    'search-string-1',
    'string',
    'Case, accents, punctuation and extra white space do not count',
    async (world) => {
      const tag = world.unique();
      const family = "Ó Súilleabháin-O'Neil";
      const { id } = await world.create({ ...patient(family), ...tagged(tag) });
      for (const value of ['ó súilleabháin', 'O SUILLEABHAIN-ONEIL', 'o  suilleabhain', "o suilleabhain o'neil"]) {
        assert.deepEqual(await found(world, 'Patient', tag, `family=${encodeURIComponent(value)}`), [id], value);
      }
    },
  ),
  should('search-string-2', 'string', 'Each part of a family name is found by itself', async (world) => {
    const tag = world.unique();
    const { id } = await world.create({ ...patient('Carreno Quinones'), ...tagged(tag) });
    for (const value of ['Carreno', 'Quinones', 'quin', 'Carreno Quinones']) {
      assert.deepEqual(await found(world, 'Patient', tag, `family=${encodeURIComponent(value)}`), [id], value);
    }
  }),
  should('search-uri-1', 'uri', 'Conformance resources are found by their canonical URL', async (world) => {
    const url = `http://example.org/fhir/ValueSet/${world.unique()}`;
    const { id } = await world.create({ resourceType: 'ValueSet', status: 'active', url, version: '2.0' });
    assert.deepEqual(matches(await world.get(`ValueSet?url=${url}`)), [id]);
    assert.deepEqual(matches(await world.get(`ValueSet?url=${url}x`)), []);
  }),
  should('search-uri-2', 'uri', '|version after a canonical URL asks for that version', async (world) => {
    const url = `http://example.org/fhir/ValueSet/${world.unique()}`;
    const make = (version: string) => world.create({ resourceType: 'ValueSet', status: 'active', url, version });
    const [one, two] = [await make('1.0'), await make('2.0')];
    assert.deepEqual(matches(await world.get(`ValueSet?url=${url}&version=2.0`)), [two.id]);
    assert.deepEqual(matches(await world.get(`ValueSet?url=${url}`)).sort(), [one.id, two.id].sort());
    assert.deepEqual(matches(await world.get(`ValueSet?url=${url}|2.0`)), [two.id]);
    assert.deepEqual(matches(await world.get(`ValueSet?url=${url}|3.0`)), []);
    assert.deepEqual(matches(await world.get(`ValueSet?url=${url}|3.0,${url}|1.0`)), [one.id]);
    assert.deepEqual(matches(await world.get(`ValueSet?url=${url}x|1.0`)), []);
  }),
  should('search-token-1', 'token', 'Tokens of which nothing is known match in any case', async (world) => {
    const tag = world.unique();
    const code = { coding: [{ system: 'urn:example:codes-of-ours', code: 'MiXed' }] };
    const { id } = await world.create({ ...observation('Patient/one', '1'), code, ...tagged(tag) });
    for (const value of ['MiXed', 'mixed', 'urn:example:codes-of-ours|MIXED']) {
      assert.deepEqual(await found(world, 'Observation', tag, `code=${value}`), [id], value);
    }
  }),
  should('search-token-2', 'token', 'Clients use the right case', forClients),
  shallNot('search-token-3', 'token', 'No | is used with ContactPoint, uri and boolean', async (world) => {
    const tag = world.unique();
    const telecom = [{ system: 'phone', value: '555-0100' }];
    const { id } = await world.create({ ...patient('Stone'), active: true, telecom, ...tagged(tag) });
    assert.deepEqual(await found(world, 'Patient', tag, 'active=true&telecom=555-0100'), [id]);
    for (const query of ['active=http://example.org|true', 'telecom=http://example.org|555-0100']) {
      const answer = await world.get(`Patient?_tag=${tagSystem}|${tag}&${query}`);
      if (answer.status !== 400) assert.deepEqual(matches(answer), [], query);
    }
  }),
];
