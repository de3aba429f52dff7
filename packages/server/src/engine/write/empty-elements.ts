/**
 * Bodies in which what is not known is sent as something empty: `""`, `[]`, `{}`, `null`. R4 forbids all of them
 * (https://hl7.org/fhir/R4/json.html#null), so they are left out for applications that keep the habit (docs/decisions/0339).
 */
import { type BudgetedWork, isJsonObject, type JsonObject, type JsonValue, type StepBudget } from '@praxis/fhir';

const leavingOut: BudgetedWork = { what: 'Leaving out empty elements', cheaper: 'send a smaller resource' };

/**
 * The resource without what is empty, and without what is empty then; the same object where nothing is. An array of primitives that
 * has extensions beside it (`_given`) stays as it is: its places count (https://hl7.org/fhir/R4/json.html#primitive).
 * @throws Error of the budget's host when the steps are used up
 */
export function leaveOutEmpty(resource: JsonObject, budget: StepBudget): JsonObject {
  return fill(resource, budget) ?? {};
}

/** The object without what is empty; undefined: nothing is left of it. */
function fill(object: JsonObject, budget: StepBudget): JsonObject | undefined {
  const names = Object.keys(object);
  budget.spend(names.length + 1, leavingOut);
  let isSame = true;
  const kept: [string, JsonValue][] = [];
  for (const name of names) {
    const value = object[name];
    const left = isPlaced(object, name) ? value : keep(value, budget);
    if (left !== value) isSame = false;
    if (left !== undefined) kept.push([name, left]);
  }
  if (kept.length === 0) return undefined;
  return isSame ? object : Object.fromEntries(kept);
}

/** Whether the member is one of two arrays that belong together place by place. */
function isPlaced(object: JsonObject, name: string): boolean {
  const other = name.startsWith('_') ? name.slice(1) : `_${name}`;
  return Array.isArray(object[name]) && Array.isArray(object[other]);
}

function keep(value: JsonValue | undefined, budget: StepBudget): JsonValue | undefined {
  if (value === null || value === '') return undefined;
  if (Array.isArray(value)) return keepItems(value, budget);
  return isJsonObject(value) ? fill(value, budget) : value;
}

function keepItems(items: JsonValue[], budget: StepBudget): JsonValue[] | undefined {
  budget.spend(items.length + 1, leavingOut);
  const kept = items.map((item) => keep(item, budget)).filter((item) => item !== undefined);
  if (kept.length === 0) return undefined;
  return kept.length === items.length && kept.every((item, at) => item === items[at]) ? items : kept;
}
