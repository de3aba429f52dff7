/** A resource that is validated in slices has the issues that it has at once, and a large one lets others go on. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Budget, type JsonObject, validateInSlices, validateResource } from '../src/index.ts';
import { examples } from './examples.ts';
import { openTestBudget } from './test-budget.ts';

/** A budget, and how often a slice could have ended. */
function openCountingBudget(): { readonly budget: Budget; breaths(): number } {
  const inner = openTestBudget();
  let breaths = 0;
  const breathe: Budget['breathe'] = (work) => {
    breaths += 1;
    return inner.breathe(work);
  };
  return { budget: { ...inner, breathe }, breaths: () => breaths };
}

/** A resource that is wrong in many ways. */
function spoil(resource: JsonObject): JsonObject {
  const { resourceType = null, ...others } = resource;
  const doubled = Object.entries(others).map(([name, value]) => [
    name,
    Array.isArray(value) ? [...value, null, {}] : [value],
  ]);
  return { resourceType, ...Object.fromEntries(doubled), nonsense: 1 };
}

test('official examples, as they are and spoilt, have the same issues in the same order', async () => {
  let spoilt = 0;
  for (const { file, resource } of examples(30_000)) {
    for (const each of [resource, spoil(resource)]) {
      const issues = validateResource(each);
      assert.deepEqual(await validateInSlices(each, { budget: openTestBudget() }), issues, file);
      if (issues.length > 0) spoilt += 1;
    }
  }
  assert.ok(spoilt > 600, `${spoilt} with issues`);
});

test('another type than the expected one is one issue, and nothing is looked into', async () => {
  const resource = { resourceType: 'Patient', nonsense: 1 };
  const found = await validateInSlices(resource, { type: 'Observation', budget: openTestBudget() });
  assert.deepEqual(found, validateResource(resource, { type: 'Observation' }));
  assert.equal(found.length, 1);
});

test('a small resource is one slice, a large one is many', async () => {
  const observation = (components: number): JsonObject => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    component: Array.from({ length: components }, () => ({ code: { text: 'y' }, valueInteger: 1 })),
  });
  const small = openCountingBudget();
  assert.deepEqual(await validateInSlices(observation(10), { budget: small.budget }), []);
  assert.equal(small.breaths(), 0);
  const large = openCountingBudget();
  assert.deepEqual(await validateInSlices(observation(10_000), { budget: large.budget }), []);
  assert.ok(large.breaths() > 5, `${large.breaths()} breaths`);
});
