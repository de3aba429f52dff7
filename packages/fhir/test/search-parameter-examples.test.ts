// Every search parameter over every official example: what it selects stands where it says, and how many find anything.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  compileExtractor,
  getSearchParameters,
  isRawDecimal,
  type JsonObject,
  type JsonValue,
  resourceTypes,
  type TypedValue,
} from '../src/index.ts';
import { isJsonObject } from '../src/json.ts';
import { examples } from './examples.ts';
import { freeSteps, testWork } from './free-steps.ts';

const parameters = new Map(
  resourceTypes.map((type) => [
    type,
    [...getSearchParameters(type).values()].flatMap(({ code, type: kind, expression }) =>
      kind === 'composite' || expression === undefined ? [] : [{ code, extract: compileExtractor(type, expression) }],
    ),
  ]),
);

test('the examples are searched by all parameters of their types', (context) => {
  const matching = new Set<string>();
  const types = new Set<string>();
  let resources = 0;
  let values = 0;
  for (const { file, type, resource } of examples()) {
    resources += 1;
    types.add(type);
    for (const { code, extract } of parameters.get(type) ?? []) {
      const found = extract(resource, freeSteps, testWork);
      if (found.length > 0) matching.add(`${type}.${code}`);
      for (const value of found) assertAtPath(resource, value, `${file} ${code}`);
      values += found.length;
    }
  }
  const all = [...parameters.values()].reduce((sum, list) => sum + list.length, 0);
  context.diagnostic(
    `${resources} examples of ${types.size} types: ${matching.size} of ${all} non-composite parameters with an ` +
      `expression select something, ${values} values in total`,
  );
  assert.deepEqual([resources, types.size, matching.size, values], [746, 134, 1401, 8536]);
});

/** The value at a path of a TypedValue is the value. Computed values have the path of the resource. */
function assertAtPath(resource: JsonObject, found: TypedValue, message: string): void {
  const [, ...steps] = found.path.split('.');
  if (steps.length === 0) return;
  let value: JsonValue | undefined = resource;
  for (const step of steps) {
    const [, name = '', index] = /^(\w+)(?:\[(\d+)\])?$/.exec(step) ?? [];
    const holder: JsonValue | undefined = value;
    assert.ok(isJsonObject(holder), `${message}: ${found.path}`);
    // A choice element is called by its name alone.
    const key: string | undefined =
      name in holder ? name : Object.keys(holder).find((candidate) => isChoice(candidate, name));
    const child: JsonValue | undefined = holder[key ?? name];
    value = index === undefined ? child : Array.isArray(child) ? child[Number(index)] : undefined;
  }
  const same = isRawDecimal(value) && isRawDecimal(found.value) ? value.rawJSON === found.value.rawJSON : false;
  assert.ok(same || value === found.value, `${message}: ${found.path}`);
}

function isChoice(key: string, name: string): boolean {
  return key.startsWith(name) && /^[A-Z]/.test(key.slice(name.length));
}
