/**
 * The number of the rules of index rows: it changes with everything that changes the rows of some resource.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { resourceTypes } from '@praxis/fhir';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { indexResource } from '../../src/search/index/index-rows.ts';
import { computeIndexRules, indexRulesVersion } from '../../src/search/index/index-rules.ts';
import { getStandardParameters } from '../../src/search/parameters.ts';
import { officialExamples } from './official-examples.ts';
import { baseUrl, timeZone } from './world.ts';

/** By `indexRulesVersion`: digest of the rows of all official examples, all search parameters, and the version of the units. */
const digests: Readonly<Record<number, string>> = {
  2: '3LQVY4s5opAJSFgpQy4GSZzTBx9Ebyy1zYq2YRRdei8',
};

test('whoever changes the rows of the official examples, or a search parameter, raises indexRulesVersion', async () => {
  const digest = createHash('sha256');
  const context = { timeZone, baseUrl, searchParameters: [], characters: 0 };
  for (const resource of officialExamples()) {
    const rows = await indexResource(String(resource['resourceType']), resource, context, openOperatorBudget());
    digest.update(JSON.stringify(rows));
  }
  for (const type of resourceTypes)
    digest.update(JSON.stringify([...getStandardParameters(type).values()].map(({ definition }) => definition)));
  const lock = JSON.parse(readFileSync(new URL('../../../../package-lock.json', import.meta.url), 'utf8'));
  digest.update(String(lock.packages['node_modules/@lhncbc/ucum-lhc'].version));
  const found = digest.digest('base64url');
  const advice = `raise indexRulesVersion, and add its row: ${indexRulesVersion + 1}: '${found}'`;
  assert.equal(found, digests[indexRulesVersion], advice);
});

test('the number tells time zones and base URLs apart, and is the same for the same', () => {
  const rules = [
    ['America/New_York', 'https://a.example/fhir'],
    ['America/Chicago', 'https://a.example/fhir'],
    ['America/New_York', 'https://b.example/fhir'],
  ].map(([zone = '', url = '']) => computeIndexRules({ timeZone: zone, baseUrl: url, searchParameters: [] }));
  assert.equal(new Set(rules).size, 3);
  for (const number of rules) assert.ok(Number.isInteger(number) && Number(number) >= 0 && Number(number) < 2 ** 31);
  assert.equal(
    computeIndexRules({ timeZone: 'America/New_York', baseUrl: 'https://a.example/fhir', searchParameters: [] }),
    rules[0],
  );
});

test('a firm with search parameters of its own has no number', () => {
  const own = { id: 1, url: 'http://example.org/p', complete: true, failed: false } as never;
  assert.equal(computeIndexRules({ timeZone, baseUrl, searchParameters: [own] }), undefined);
});
