// FHIRPath Patch: https://hl7.org/fhir/R4/fhirpatch.html. A Parameters resource with one `operation` parameter per change.
import type { StepBudget } from '../budget.ts';
import {
  buildJsonName,
  type ElementDefinition,
  findElementByJsonName,
  findTypeDefinition,
  type TypeDefinition,
} from '../definitions.ts';
import { type CompiledExpression, compileFhirPath } from '../fhirpath/compile.ts';
import { FhirPathError } from '../fhirpath/fhirpath-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Patch, PatchTouch } from './patch.ts';
import { copyJson, describePatchWork, isKeyOf, PatchError, requireFewOperations } from './patch.ts';

interface Operation {
  /** From 1. */
  readonly number: number;
  readonly kind: keyof typeof operations;
  readonly path: string;
  /** The path, for the type that it begins with. */
  readonly compiled: CompiledExpression | undefined;
  readonly name: string | undefined;
  readonly value: Value | undefined;
  readonly index: number | undefined;
  readonly source: number | undefined;
  readonly destination: number | undefined;
}

/** A value with the FHIR type that its parameter named; backbone elements come as parts and have none. */
interface Value {
  readonly type: string | undefined;
  readonly json: JsonValue;
}

/** Where an element lies: in `holder` under `key`, and at `index` where that is a list. */
interface Place {
  readonly holder: JsonObject;
  readonly key: string;
  readonly index: number | undefined;
  readonly element: ElementDefinition;
  /** What the place holds. */
  readonly type: TypeDefinition | undefined;
}

type Resource = JsonObject & { readonly resourceType: string };

/** What the operations of one patch work on. */
interface Target {
  readonly resource: Resource;
  readonly budget: StepBudget;
}

/** Characters of a path at most. */
const pathLengthMax = 1_000;

/** What a step of compiling costs, in steps of evaluation. */
const stepsPerCompiled = 20;

/** Type → what it does (fhirpatch.html#concept). */
const operations = {
  add(to: Target, each: Operation) {
    const { object, type } = targetOf(to, each);
    const { name = '' } = each;
    const element = type.elements.get(name) ?? findElementByJsonName(type, name)?.element;
    if (element === undefined)
      throw refuse(each, `adds ${each.name ?? 'an element without a name'}, which ${type.name} does not have`);
    const value = requireValue(each);
    const key = keyOf(element, value, each);
    const list = object[key];
    if (element.max === 1) object[key] = value.json;
    else if (Array.isArray(list)) list.push(value.json);
    else object[key] = [value.json];
  },
  insert(to: Target, each: Operation) {
    const list = listOf(to, each);
    const index = requireIndex(each, 'index', list.length);
    list.splice(index, 0, requireValue(each).json);
  },
  delete(to: Target, each: Operation) {
    const [place, ...others] = placesOf(to, each);
    if (others.length > 0) throw refuse(each, 'deletes several elements: its path must select one');
    if (place) removeAt(place);
  },
  replace(to: Target, each: Operation) {
    const place = onePlace(to, each);
    const value = requireValue(each);
    const { holder, key, index, element } = place;
    const list = holder[key];
    if (index !== undefined && Array.isArray(list)) {
      list[index] = value.json;
      return;
    }
    removeAt(place);
    holder[keyOf(element, value, each)] = value.json;
  },
  move(to: Target, each: Operation) {
    const list = listOf(to, each);
    const source = requireIndex(each, 'source', list.length - 1);
    const destination = requireIndex(each, 'destination', list.length - 1);
    const [moved] = list.splice(source, 1);
    if (moved !== undefined) list.splice(destination, 0, moved);
  },
} as const;

/**
 * The patch of a Parameters resource, whose structure has been validated.
 * Spends what it costs to compile its paths.
 * @throws PatchError `malformed` for anything that fhirpatch.html does not define, and what the budget throws
 */
export function readFhirPathPatch(parameters: JsonObject, budget: StepBudget): Patch {
  const list = Array.isArray(parameters.parameter) ? parameters.parameter : [];
  if (list.length === 0)
    throw new PatchError('malformed', 1, 'is missing: Parameters must have a parameter "operation" for each change');
  requireFewOperations(list);
  const parsed = list.map((item, index) => readOperation(item, index + 1, budget));
  return {
    touches: parsed.flatMap(touchesOf),
    apply(resource, budget) {
      const copy = copyJson(resource);
      if (!isResource(copy)) throw new PatchError('failed', 1, 'has no resource to work on');
      for (const each of parsed) {
        budget.spend(1, describePatchWork(each.number));
        operations[each.kind]({ resource: copy, budget }, each);
      }
      return copy;
    },
  };
}

function isResource(value: JsonValue): value is Resource {
  return isJsonObject(value) && typeof value.resourceType === 'string';
}

function refuse({ number }: Operation, problem: string): PatchError {
  return new PatchError('failed', number, problem);
}

function readOperation(item: JsonValue, number: number, budget: StepBudget): Operation {
  if (!isJsonObject(item) || item.name !== 'operation')
    throw new PatchError('malformed', number, 'must be a parameter called operation');
  const parts = new Map<string, JsonObject>();
  for (const part of Array.isArray(item.part) ? item.part : []) {
    if (!isJsonObject(part) || typeof part.name !== 'string') continue;
    if (parts.has(part.name)) throw new PatchError('malformed', number, `has ${part.name} twice`);
    parts.set(part.name, part);
  }
  const text = (name: string): string | undefined => {
    const value = Object.entries(parts.get(name) ?? {}).find(([key]) => key.startsWith('value'))?.[1];
    return typeof value === 'string' ? value : undefined;
  };
  const integer = (name: string): number | undefined => {
    const value = parts.get(name)?.valueInteger;
    return typeof value === 'number' ? value : undefined;
  };
  const kind = text('type') ?? '';
  const path = text('path');
  if (!isKeyOf(operations, kind))
    throw new PatchError('malformed', number, `must have type ${Object.keys(operations).join(', ')}`);
  if (path === undefined) throw new PatchError('malformed', number, `(${kind}) must have a path`);
  const given = parts.get('value');
  return {
    number,
    kind,
    path,
    compiled: compiledPath(number, path, budget),
    name: text('name'),
    value: given === undefined ? undefined : givenValue(given),
    index: integer('index'),
    source: integer('source'),
    destination: integer('destination'),
  };
}

/** `value[x]`, or for backbone elements a list of parts, each an element by name (repeated names make a list). */
function givenValue(parameter: JsonObject): Value {
  for (const [key, json] of Object.entries(parameter)) {
    if (!key.startsWith('value')) continue;
    const suffix = key.slice('value'.length);
    const primitive = suffix.charAt(0).toLowerCase() + suffix.slice(1);
    return { type: findTypeDefinition(primitive)?.kind === 'primitive-type' ? primitive : suffix, json };
  }
  const object: JsonObject = {};
  for (const part of Array.isArray(parameter.part) ? parameter.part : []) {
    if (!isJsonObject(part) || typeof part.name !== 'string') continue;
    const { json } = givenValue(part);
    const there = Object.hasOwn(object, part.name) ? object[part.name] : undefined;
    if (there === undefined) object[part.name] = json;
    else if (Array.isArray(there)) there.push(json);
    else object[part.name] = [there, json];
  }
  return { type: undefined, json: object };
}

/**
 * Every top-level element that the path reads on its way, criteria of `where` included, and for an `add` to the resource
 * the element that it adds.
 */
function touchesOf({ compiled, kind, name }: Operation): PatchTouch[] {
  if (compiled === undefined) return [{ member: kind === 'add' ? name : undefined, blind: false }];
  const members = compiled.touched.map((element) => element.split('.')[1]);
  return [...new Set(members)].map((member) => ({ member: member?.replace('[x]', ''), blind: false }));
}

/** The path of an operation; undefined: it is the resource itself. */
function compiledPath(number: number, path: string, budget: StepBudget): CompiledExpression | undefined {
  if (path.length > pathLengthMax)
    throw new PatchError('malformed', number, `has a path of more than ${pathLengthMax} characters`);
  const type = typeOfPath(path);
  if (type === undefined || path.includes('%')) {
    const problem = 'must have a path that begins with the resource type and has no variables';
    throw new PatchError('malformed', number, problem);
  }
  return path.trim() === type ? undefined : compile(number, type, path, budget);
}

function typeOfPath(path: string): string | undefined {
  return /^\s*([A-Z][A-Za-z]*)/.exec(path)?.[1];
}

function compile(number: number, type: string, path: string, budget: StepBudget): CompiledExpression {
  try {
    const compiled = compileFhirPath(type, path);
    budget.spend(stepsPerCompiled * compiled.steps, describePatchWork(number));
    return compiled;
  } catch (error) {
    if (!(error instanceof FhirPathError)) throw error;
    throw new PatchError('malformed', number, `has a path that cannot be read: ${error.message}${error.suggest()}`);
  }
}

function placesOf({ resource, budget }: Target, { number, path, compiled }: Operation): Place[] {
  const type = resource.resourceType;
  const expression =
    compiled !== undefined && typeOfPath(path) === type ? compiled : compile(number, type, path, budget);
  const work = describePatchWork(number);
  const found = expression.select(resource, resource, type, budget, work);
  const spend = (members: number) => budget.spend(members, work);
  return found.flatMap((each) => locate(resource, each.path, spend) ?? []);
}

/**
 * From a concrete path such as `Patient.name[0].given[1]` to the place in the JSON.
 * @param spend told how many members are looked through at each step
 */
function locate(resource: Resource, path: string, spend: (members: number) => void): Place | undefined {
  let type = findTypeDefinition(resource.resourceType);
  let value: JsonValue = resource;
  let place: Place | undefined;
  for (const step of path.split('.').slice(1)) {
    const [, name = '', index] = /^([A-Za-z]+)(?:\[(\d+)\])?$/.exec(step) ?? [];
    if (!type || !isJsonObject(value)) return undefined;
    const holder: JsonObject = value;
    const within: TypeDefinition = type;
    const members = Object.keys(holder);
    spend(1 + members.length);
    const key = members.find((candidate) => findElementByJsonName(within, candidate)?.element.name === name);
    const known = findElementByJsonName(within, key ?? '');
    if (key === undefined || known === undefined) return undefined;
    const inner: JsonValue | undefined = holder[key];
    type = known.definition;
    place = { holder, key, index: index === undefined ? undefined : Number(index), element: known.element, type };
    value = (Array.isArray(inner) ? inner[Number(index ?? 0)] : inner) ?? null;
  }
  return place;
}

function onePlace(to: Target, each: Operation): Place {
  const [place, ...others] = placesOf(to, each);
  if (place !== undefined && others.length === 0) return place;
  const selected = place === undefined ? 'none' : 'several';
  throw refuse(each, `(${each.kind}) must select one element: ${each.path} selects ${selected}`);
}

/** The object that an `add` adds to: the resource, or the one element of the path. */
function targetOf(to: Target, each: Operation): { object: JsonObject; type: TypeDefinition } {
  const { resource } = to;
  const own = findTypeDefinition(resource.resourceType);
  if (each.path.trim() === resource.resourceType && own) return { object: resource, type: own };
  const { holder, key, index, type } = onePlace(to, each);
  const inner = holder[key];
  const object = Array.isArray(inner) ? inner[index ?? 0] : inner;
  if (!isJsonObject(object) || type === undefined) throw refuse(each, 'adds to an element that has no elements');
  return { object, type };
}

/** The list that the path selects, of which it may name elements. */
function listOf(to: Target, each: Operation): JsonValue[] {
  const [place] = placesOf(to, each);
  const list = place?.holder[place.key];
  if (!Array.isArray(list)) throw refuse(each, `(${each.kind}) must select a list: ${each.path} selects none`);
  return list;
}

function removeAt({ holder, key, index }: Place): void {
  const list = holder[key];
  if (index === undefined || !Array.isArray(list)) {
    delete holder[key];
    delete holder[`_${key}`];
    return;
  }
  list.splice(index, 1);
  const siblings = holder[`_${key}`];
  if (Array.isArray(siblings)) siblings.splice(index, 1);
  if (list.length === 0) delete holder[key];
}

function requireValue(each: Operation): Value {
  if (each.value === undefined) throw new PatchError('malformed', each.number, `(${each.kind}) must have a value`);
  return each.value;
}

function requireIndex(each: Operation, name: 'index' | 'source' | 'destination', max: number): number {
  const index = each[name];
  if (index === undefined || index < 0)
    throw new PatchError('malformed', each.number, `(${each.kind}) must have a ${name} from 0`);
  if (index > max) throw refuse(each, `(${each.kind}) has ${name} ${index}, beyond the end of the list`);
  return index;
}

/** The JSON name of the element for a value: with the type's suffix for a choice. */
function keyOf(element: ElementDefinition, { type }: Value, each: Operation): string {
  if (!element.choice) return element.name;
  const match = element.types.find(({ code }) => code === type);
  if (match === undefined) throw refuse(each, `gives ${element.path} a ${type ?? 'structure'}, which it cannot be`);
  return buildJsonName(element, match);
}
