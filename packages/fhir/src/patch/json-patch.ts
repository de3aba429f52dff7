// JSON Patch: https://www.rfc-editor.org/rfc/rfc6902, pointers: https://www.rfc-editor.org/rfc/rfc6901
import type { BudgetedWork, StepBudget } from '../budget.ts';
import { findElementByJsonName, findTypeDefinition, listJsonElements } from '../definitions.ts';
import { formatDecimal, isJsonObject, isRawDecimal, type JsonObject, type JsonValue } from '../json.ts';
import { suggestName } from '../suggestion.ts';
import type { Patch, PatchTouch } from './patch.ts';
import { copyJson, describePatchWork, isKeyOf, PatchError, requireFewOperations } from './patch.ts';

/** Characters of JSON that the copies of one patch may add: a value that is copied into itself doubles each time. */
const copiedMax = 1_048_576;

interface Operation {
  /** From 1. */
  readonly number: number;
  readonly op: keyof typeof operations;
  readonly path: readonly string[];
  readonly from: readonly string[];
  readonly value: JsonValue;
}

/** A holder of the document, so that an operation may replace the document itself. */
interface Root {
  document: JsonValue;
  /** Characters that copies have added. */
  copied: number;
  readonly budget: StepBudget;
}

/** Op → what it does. RFC 6902 §4. */
const operations = {
  add: (root: Root, each: Operation) => add(root, each, each.path, copyJson(each.value)),
  remove: (root: Root, each: Operation) => void remove(root, each, each.path),
  replace(root: Root, each: Operation) {
    get(root, each, each.path);
    if (each.path.length > 0) remove(root, each, each.path);
    add(root, each, each.path, copyJson(each.value));
  },
  move(root: Root, each: Operation) {
    if (each.path.length > each.from.length && each.from.every((part, at) => part === each.path[at])) {
      throw new PatchError('malformed', each.number, 'moves a value into itself');
    }
    add(root, each, each.path, remove(root, each, each.from));
  },
  copy(root: Root, each: Operation) {
    const value = get(root, each, each.from);
    root.copied += JSON.stringify(value).length;
    if (root.copied > copiedMax) throw refuse(each, `copies more than ${copiedMax} characters in all`);
    add(root, each, each.path, copyJson(value));
  },
  test(root: Root, each: Operation) {
    if (!isEqual(get(root, each, each.path), each.value, root.budget, describePatchWork(each.number)))
      throw refuse(each, 'tests for another value than there is');
  },
} as const;

/**
 * The patch of a JSON Patch document.
 * @throws PatchError `malformed` for anything RFC 6902 does not define
 */
export function readJsonPatch(document: JsonValue): Patch {
  if (!Array.isArray(document))
    throw new PatchError('malformed', 1, 'is missing: a JSON Patch is an array of operations');
  requireFewOperations(document);
  const parsed = document.map((item, index) => readOperation(item, index + 1));
  return {
    touches: parsed.flatMap(touchesOf),
    apply(resource, budget) {
      const root: Root = { document: copyJson(resource), copied: 0, budget };
      for (const each of parsed) {
        budget.spend(1 + each.path.length + each.from.length, describePatchWork(each.number));
        operations[each.op](root, each);
      }
      return root.document;
    },
  };
}

function readOperation(item: JsonValue, number: number): Operation {
  if (!isJsonObject(item)) throw new PatchError('malformed', number, 'must be an object');
  const { op, path, from, value } = item;
  if (typeof op !== 'string' || !isKeyOf(operations, op))
    throw new PatchError('malformed', number, `must have op ${Object.keys(operations).join(', ')}`);
  const needsFrom = op === 'move' || op === 'copy';
  const needsValue = op === 'add' || op === 'replace' || op === 'test';
  if (needsValue && value === undefined) throw new PatchError('malformed', number, `(${op}) must have a value`);
  return {
    number,
    op,
    path: readPointer(path, 'path', number),
    from: needsFrom ? readPointer(from, 'from', number) : [],
    value: value ?? null,
  };
}

function readPointer(text: JsonValue | undefined, name: string, number: number): readonly string[] {
  if (typeof text !== 'string' || !/^(?:\/(?:[^~/]|~[01])*)*$/.test(text)) {
    throw new PatchError('malformed', number, `must have a JSON pointer such as /telecom/0 as its ${name}`);
  }
  const parts = text
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (parts.includes('__proto__')) throw new PatchError('malformed', number, `names __proto__ in its ${name}`);
  return parts;
}

function touchesOf({ op, path, from, value }: Operation): PatchTouch[] {
  const blind = op === 'add' && path.length === 1 && standsAlone(path[0] ?? '', value);
  const touch = { member: path[0], blind };
  return op === 'move' || op === 'copy' ? [touch, { member: from[0], blind: false }] : [touch];
}

/**
 * Whether a member can be set without anything else of the resource being asked: extensions of a primitive go with its value, and
 * references to contained resources with these (https://hl7.org/fhir/R4/references.html#contained).
 */
function standsAlone(member: string, value: JsonValue): boolean {
  return !member.startsWith('_') && member !== 'contained' && !/["'\\]#/.test(JSON.stringify(value));
}

function get(root: Root, each: Operation, path: readonly string[]): JsonValue {
  let value: JsonValue = root.document;
  for (const part of path) {
    const inner: JsonValue | undefined = Array.isArray(value)
      ? value[indexOf(value, each, part, value.length - 1)]
      : isJsonObject(value) && Object.hasOwn(value, part)
        ? value[part]
        : undefined;
    if (inner === undefined) throw notThere(root, each, path);
    value = inner;
  }
  return value;
}

function add(root: Root, each: Operation, path: readonly string[], value: JsonValue): void {
  const last = path.at(-1);
  if (last === undefined) {
    root.document = value;
    return;
  }
  const parent = get(root, each, path.slice(0, -1));
  if (Array.isArray(parent))
    parent.splice(last === '-' ? parent.length : indexOf(parent, each, last, parent.length), 0, value);
  else if (isJsonObject(parent)) parent[last] = value;
  else throw notThere(root, each, path);
}

function remove(root: Root, each: Operation, path: readonly string[]): JsonValue {
  const last = path.at(-1);
  const value = get(root, each, path);
  if (last === undefined) throw new PatchError('malformed', each.number, 'removes the whole resource');
  const parent = get(root, each, path.slice(0, -1));
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (isJsonObject(parent)) delete parent[last];
  return value;
}

/** RFC 6901 §4: digits without leading zeros; `-` stands for the end and names nothing. */
function isIndex(part: string): boolean {
  return /^(?:0|[1-9]\d{0,8})$/.test(part);
}

function indexOf(list: readonly JsonValue[], each: Operation, part: string, max: number): number {
  if (!isIndex(part)) throw refuse(each, `names a list by ${JSON.stringify(part)} where an index from 0 is needed`);
  const index = Number(part);
  if (index > max) throw refuse(each, `goes beyond the end of a list of ${list.length}`);
  return index;
}

function notThere(root: Root, each: Operation, path: readonly string[]): PatchError {
  return refuse(each, `(${each.op}) finds nothing at /${path.join('/')}${suggestElement(root, path)}`);
}

/** What the first name of the path that R4 does not have was meant to be: of the definitions, never of what the resource holds. */
function suggestElement({ document }: Root, path: readonly string[]): string {
  const type = isJsonObject(document) ? document.resourceType : undefined;
  let within = typeof type === 'string' ? findTypeDefinition(type) : undefined;
  for (const part of path) {
    if (within === undefined) return '';
    if (isIndex(part)) continue;
    const known = findElementByJsonName(within, part.replace(/^_/, ''));
    if (known === undefined) {
      const names = listJsonElements(within).map(({ jsonName }) => jsonName);
      return suggestName(part, names);
    }
    within = known.definition;
  }
  return '';
}

function refuse({ number }: Operation, problem: string): PatchError {
  return new PatchError('failed', number, problem);
}

/** RFC 6902 §4.6: numbers by value, objects whatever the order of their members. */
function isEqual(a: JsonValue, b: JsonValue, budget: StepBudget, work: BudgetedWork): boolean {
  budget.spend(1, work);
  if (isNumber(a) || isNumber(b))
    return isNumber(a) && isNumber(b) && Number(formatDecimal(a)) === Number(formatDecimal(b));
  if (Array.isArray(a))
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, at) => isEqual(item, b[at] ?? null, budget, work))
    );
  if (!isJsonObject(a)) return a === b;
  if (!isJsonObject(b)) return false;
  const names = Object.keys(a);
  budget.spend(names.length, work); // to list them costs as much as to compare them
  const other: JsonObject = b;
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(a[name] ?? null, other[name] ?? null, budget, work))
  );
}

function isNumber(value: JsonValue): value is number | { readonly rawJSON: string } {
  return typeof value === 'number' || isRawDecimal(value);
}
