/**
 * Where a caller sees some rows of a type whole and of the others a few elements, a reference is followed, in either
 * direction, on those rows alone on which it is shown.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { unwrapDisclosed } from '../../../src/access/disclosure.ts';
import { compilePolicy } from '../../../src/access/policy.ts';
import { makeFixedClock } from '../../../src/base/clock.ts';
import type { InteractionContext } from '../../../src/engine/context.ts';
import { buildIncludedEntries } from '../../../src/engine/search/including.ts';
import { planSearch } from '../../../src/engine/search/searching.ts';
import { openOperatorBudget } from '../../../src/limits/budgets.ts';
import { planPage } from '../../../src/search/sql/plan.ts';
import { readSettings } from '../../../src/tenancy/application-settings.ts';
import { openValidator } from '../../../src/validation/validator.ts';
import { baseUrl, limits, nowMs, openSearchWorld, parametersOfQuery, secrets } from '../../search/world.ts';

const world = await openSearchWorld({ after });
const validator = openValidator();
after(() => validator.close());

const task = (id: string, code: string, patient: string) => ({
  resourceType: 'Task',
  id,
  status: 'requested',
  intent: 'order',
  code: { coding: [{ code }] },
  for: { reference: `Patient/${patient}` },
});
await world.load([
  { resourceType: 'Patient', id: 'anna' },
  { resourceType: 'Patient', id: 'bert' },
  task('recall', 'PMRECALL', 'anna'),
  task('other', 'OTHER', 'bert'),
]);

/** Recalls whole, and the status of every task. */
const rows = new Map([['m_t', { type: 'Task', letters: 's', elements: ['status'] }]]);
const context: InteractionContext = {
  scope: world.scope,
  policy: compilePolicy(['acl/tsk_pmrecall_s', 'acl/m_t', 'acl/pat_s'], ['acl/*'], { operatorRows: rows }),
  caller: { flow: 'client', tokenId: 'token', subject: 'subject', requestId: 'request' },
  settings: readSettings({}),
  store: world.store,
  clock: makeFixedClock(nowMs),
  secrets,
  validator,
  limits,
  budget: openOperatorBudget(),
  baseUrl,
  trail: [],
};

/** Ids of the matches, sorted, and those of what is included with them. */
async function search(type: string, query: string): Promise<[matches: string[], included: string[]]> {
  const parameters = parametersOfQuery(query);
  const target = await planSearch(context, type, parameters, { return: undefined, handling: 'strict' });
  const { rows: matches } = await planPage(target).read((statement) => world.store.selectPage(world.scope, statement));
  const entries = await buildIncludedEntries(context, target.query, matches, parameters);
  const ids = entries.map(({ resource }) => String(resource && JSON.parse(unwrapDisclosed(resource)).id));
  return [matches.map(({ id }) => id).toSorted(), ids];
}

test('forwards', async () => {
  for (const include of ['Task:subject', 'Task:patient:Patient', 'Task:*', '*']) {
    assert.deepEqual(await search('Task', `_include=${include}`), [['other', 'recall'], ['anna']], include);
  }
  assert.deepEqual(await search('Task', '_id=other&_include=*'), [['other'], []]);
});

test('backwards', async () => {
  for (const include of ['Task:subject', 'Task:patient:Patient', 'Task:*', '*']) {
    assert.deepEqual(await search('Patient', `_revinclude=${include}`), [['anna', 'bert'], ['recall']], include);
  }
  assert.deepEqual(await search('Patient', '_id=bert&_revinclude:iterate=*'), [['bert'], []]);
});
