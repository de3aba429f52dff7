/** Properties over the official R4 instances: whatever is broken in a valid one is noticed, and nothing throws. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import test from 'node:test';
import fc from 'fast-check';
import { isRawDecimal, type JsonObject, type JsonValue, parseJson } from '../src/json.ts';
import { type ValidationRule, validateResource } from '../src/validate.ts';

fc.configureGlobal({ seed: 20261121 });

const folder = new URL('../../../node_modules/hl7.fhir.r4.examples/', import.meta.url);
const bulkDefinition = /^(StructureDefinition|ValueSet|CodeSystem|ConceptMap|SearchParameter|OperationDefinition)-/;
const sizeMax = 40_000; // bytes
const placesPerExample = 12;

const examples = readdirSync(folder)
  .filter((name) => name.endsWith('.json') && name !== 'package.json' && !bulkDefinition.test(name))
  .filter((name) => statSync(new URL(name, folder)).size <= sizeMax)
  .map((name) => ({ name, resource: parseJson(readFileSync(new URL(name, folder), 'utf8')) }))
  .filter(({ resource }) => validateResource(resource).length === 0);

/** A property of an object somewhere in a resource. */
interface Slot {
  readonly owner: JsonObject;
  readonly key: string;
}

test('an unknown element is noticed in every object', () => {
  eachSlot(({ owner }, example) => {
    const rules = withProperty(owner, 'nonsense', 1, example);
    assert.deepEqual(rules, ['unknown-element'], example.name);
  });
});

test('a null, an array for a value, a value for an array and another JSON type are noticed everywhere', () => {
  eachSlot(({ owner, key }, example) => {
    const value = owner[key] ?? null;
    const other: JsonValue = typeof value === 'object' ? 'text' : { nonsense: 1 };
    const wrongs: JsonValue[] = [null, Array.isArray(value) ? (value[0] ?? null) : [value], [], {}, other];
    for (const wrong of wrongs) {
      const rules = withProperty(owner, key, wrong, example);
      assert.ok(rules.length > 0, `${example.name}: ${key} = ${JSON.stringify(wrong)}`);
    }
  });
});

test('property: any JSON anywhere in a resource gives issues or none, never an exception', () => {
  fc.assert(
    fc.property(
      fc.nat(examples.length - 1),
      fc.nat(1_000),
      fc.jsonValue({ maxDepth: 4 }),
      fc.constantFrom(undefined, 'resourceType', 'extension', 'contained', 'reference', '_id', 'value', 'coding'),
      (index, place, wrong, name) => {
        const example = examples[index];
        assert.ok(example !== undefined);
        const slots = slotsOf(example.resource);
        const slot = slots[place % slots.length];
        assert.ok(slot !== undefined);
        withProperty(
          slot.owner,
          name ?? slot.key,
          parseJson(JSON.stringify(wrong).replaceAll('__proto__', 'proto')),
          example,
        );
      },
    ),
    { numRuns: 2000 },
  );
});

test('validation changes nothing and answers the same again', () => {
  for (const { name, resource } of examples.slice(0, 100)) {
    const before = JSON.stringify(resource);
    const frozen = deepFrozen(parseJson(before));
    assert.deepEqual(validateResource(frozen), validateResource(resource), name);
    assert.equal(JSON.stringify(resource), before);
  }
});

/** The rules of the issues of an example while one property has another value. */
function withProperty(
  owner: JsonObject,
  key: string,
  value: JsonValue,
  example: { resource: JsonValue },
): ValidationRule[] {
  const had = Object.hasOwn(owner, key);
  const before = owner[key];
  owner[key] = value;
  const issues = validateResource(example.resource);
  if (had && before !== undefined) owner[key] = before;
  else delete owner[key];
  for (const { path, diagnostics } of issues) assert.ok(diagnostics.startsWith(`${path}: `));
  return issues.map(({ rule }) => rule);
}

/** Calls the check for some properties of every example, spread evenly over it. */
function eachSlot(check: (slot: Slot, example: { name: string; resource: JsonValue }) => void): void {
  assert.ok(examples.length > 600);
  for (const example of examples) {
    const slots = slotsOf(example.resource);
    const step = Math.max(1, Math.floor(slots.length / placesPerExample));
    for (let index = 0; index < slots.length; index += step) {
      const slot = slots[index];
      if (slot !== undefined) check(slot, example);
    }
  }
}

function slotsOf(value: JsonValue): Slot[] {
  if (Array.isArray(value)) return value.flatMap(slotsOf);
  if (typeof value !== 'object' || value === null || isRawDecimal(value)) return [];
  return Object.keys(value).flatMap((key) => [{ owner: value, key }, ...slotsOf(value[key] ?? null)]);
}

function deepFrozen(value: JsonValue): JsonValue {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    if (!isRawDecimal(value)) for (const inner of Object.values(value)) deepFrozen(inner);
  }
  return value;
}
