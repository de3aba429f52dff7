/** Each official example, broken in every way that the definitions allow for: each break is reported at its element. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '../src/json.ts';
import { validateResource } from '../src/validate.ts';
import { examples } from './examples.ts';
import { type Mutation, operators, placesOf, whileMutated } from './mutations.ts';
import { rejectedExamples } from './rejected-examples.ts';

/** Mutations of one operator in one example, spread evenly over the places where it applies. */
const perOperator = 2;
/** Entries that a Bundle keeps: those of definitions have thousands. */
const entriesMax = 12;

test('every break of every valid example is reported with its path and rule', () => {
  const applied = new Map(Object.keys(operators).map((name) => [name, 0]));
  const missed: string[] = [];
  let broken = 0;
  for (const { file, resource } of examples()) {
    if (Object.hasOwn(rejectedExamples, file)) continue;
    shorten(resource);
    assert.deepEqual(validateResource(resource), [], file);
    broken += 1;
    const places = placesOf(resource);
    for (const [name, operator] of Object.entries(operators)) {
      const mutations = chosen(places.flatMap(operator));
      applied.set(name, (applied.get(name) ?? 0) + mutations.length);
      for (const mutation of mutations) {
        const problem = whileMutated(mutation, () => notReported(resource, mutation));
        if (problem !== undefined) missed.push(`${file}: ${name}: ${problem}`);
      }
    }
    assert.deepEqual(validateResource(resource), [], `${file} is as it was`);
  }
  assert.deepEqual(missed, []);
  assert.equal(broken, 735);
  for (const [name, count] of applied) assert.ok(count >= 200, `${name} was applied ${count} times only`);
});

/** Undefined: an issue of one of the rules stands at the path. */
function notReported(resource: JsonObject, { path, rules }: Mutation): string | undefined {
  const issues = validateResource(resource, { issuesMax: 1000 });
  if (issues.some((issue) => issue.path === path && rules.includes(issue.rule))) return undefined;
  const given = issues.slice(0, 3).map((issue) => `${issue.rule} at ${issue.path}`);
  return `${rules.join('|')} at ${path} expected, reported: ${given.join(', ') || 'nothing'}`;
}

function chosen(mutations: readonly Mutation[]): readonly Mutation[] {
  const step = Math.max(1, Math.ceil(mutations.length / perOperator));
  return mutations.filter((_, index) => index % step === 0);
}

function shorten(resource: JsonObject): void {
  const { resourceType, entry } = resource;
  if (resourceType === 'Bundle' && Array.isArray(entry)) resource['entry'] = entry.slice(0, entriesMax);
}
