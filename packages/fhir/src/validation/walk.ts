/**
 * The walk through a resource: structure, cardinality and types of every element, and the checks of their values.
 *
 * https://hl7.org/fhir/R4/json.html
 */
import type { BudgetedWork } from '../budget.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { reportCode } from './bindings.ts';
import { checkContained, checkContainedUse, useNarrativeLinks } from './contained.ts';
import { type Place, quoteText, type Run, report, stepInto } from './issue.ts';
import { explainUnknownType, isResourceType } from './resource-types.ts';
import { buildResourceScope, isObject, type ResourceScope, useFragment } from './scope.ts';
import { getShape, type Property, requireShape, type Shape } from './shape.ts';
import { checkSiblings, hasSibling } from './siblings.ts';
import { reportNotObject, reportUnknown } from './unknown.ts';

/** Checks a resource that stands alone, in a Bundle or in Parameters; references resolve within it. */
export function checkResource(run: Run, value: JsonValue, place: Place): void {
  const shape = resourceShape(run, value, place);
  if (shape === undefined || !isObject(value)) return;
  const outer = run.scope;
  const scope = buildResourceScope(value, outer);
  run.scope = scope;
  checkObject(run, value, shape, place);
  checkUses(run, value, scope, place);
  run.scope = outer;
}

/** The same in parts, so that others can go on in between: yields where many steps were made, never for a small resource. */
export function* checkResourceInParts(run: Run, value: JsonValue, place: Place): Generator<void, void> {
  const shape = resourceShape(run, value, place);
  if (shape === undefined || !isObject(value)) return;
  const outer = run.scope;
  const scope = buildResourceScope(value, outer);
  run.scope = scope;
  yield* checkObjectInParts(run, value, shape, place);
  checkUses(run, value, scope, place);
  run.scope = outer;
}

function checkUses(run: Run, resource: JsonObject, scope: ResourceScope, place: Place): void {
  if (!Array.isArray(resource.contained) || run.full) return;
  useNarrativeLinks(resource, scope);
  if (place.parent === undefined) run.onRead?.(scope);
  checkContainedUse(run, resource.contained, scope, place);
}

function checkContainedResource(run: Run, value: JsonValue, place: Place): void {
  const shape = resourceShape(run, value, place);
  if (shape === undefined || !isObject(value)) return;
  checkContained(run, value, place);
  if (run.scope.inside !== undefined) return; // a nested one: refused, so not looked into
  run.scope.inside = value;
  checkObject(run, value, shape, place);
  run.scope.inside = undefined;
}

/** The shape that resourceType names; reports when there is none. */
function resourceShape(run: Run, value: JsonValue, place: Place): Shape | undefined {
  if (!isObject(value)) {
    reportNotObject(run, value, place, 'a resource');
    return undefined;
  }
  const type = value.resourceType;
  if (typeof type === 'string' && isResourceType(type)) return requireShape(type);
  let problem = 'must be a resource: resourceType is missing';
  if (typeof type === 'string') problem = explainUnknownType(type);
  else if (type !== undefined) problem = 'must be a resource: resourceType is not a JSON string';
  report(run, 'resource-type', place, problem);
  return undefined;
}

export const validating: BudgetedWork = {
  what: 'Validating the resource',
  cheaper: 'send fewer elements, or several resources',
};

/** What is known of an object so far. */
interface Members {
  present: number;
  chosen: (Property | undefined)[] | undefined;
}

function checkObject(run: Run, object: JsonObject, shape: Shape, place: Place): void {
  const keys = Object.keys(object);
  run.meter?.spend(keys.length);
  const members: Members = { present: 0, chosen: undefined };
  for (const key of keys) {
    if (run.full) return;
    const property = takeMember(run, object, key, shape, place, members);
    if (property !== undefined) checkProperty(run, object, object[key] ?? null, property, place);
  }
  checkMembers(run, keys, shape, place, members);
}

/** Steps of a part: about a millisecond. */
const stepsPerPart = 4_096;

/** Entries between two looks at the steps. */
const entriesPerLook = 64;

function* checkObjectInParts(run: Run, object: JsonObject, shape: Shape, place: Place): Generator<void, void> {
  const keys = Object.keys(object);
  run.meter?.spend(keys.length);
  const members: Members = { present: 0, chosen: undefined };
  let yieldedAt = run.meter?.spent ?? 0;
  const isLong = (): boolean => {
    const spent = run.meter?.spent ?? 0;
    if (spent - yieldedAt < stepsPerPart) return false;
    yieldedAt = spent;
    return true;
  };
  for (const key of keys) {
    if (run.full) return;
    const property = takeMember(run, object, key, shape, place, members);
    if (property === undefined) continue;
    const value = object[key] ?? null;
    if (property.kind !== 'sibling' && property.repeats && Array.isArray(value) && value.length > entriesPerLook) {
      for (let from = 0; from < value.length; from += entriesPerLook) {
        checkEntries(run, object, value, property, place, from, Math.min(value.length, from + entriesPerLook));
        if (isLong()) yield;
      }
    } else checkProperty(run, object, value, property, place);
    if (isLong()) yield;
  }
  checkMembers(run, keys, shape, place, members);
}

/** The property of a member that is present, whose value is to be checked; undefined: it was reported, or there is none. */
function takeMember(
  run: Run,
  object: JsonObject,
  key: string,
  shape: Shape,
  place: Place,
  members: Members,
): Property | undefined {
  const property = shape.properties.get(key);
  if (object[key] === undefined) return undefined;
  if (property === undefined) {
    const meant = reportUnknown(run, object, key, shape, place);
    if (meant !== undefined && meant.min > 0) members.present |= 1 << shape.required.indexOf(meant);
    return undefined;
  }
  members.present |= property.bit;
  if (property.choice >= 0) {
    members.chosen ??= [];
    const other = members.chosen[property.choice];
    if (other !== undefined && other.jsonName !== property.jsonName) reportChoice(run, other, property, place);
    members.chosen[property.choice] = property;
  }
  return property;
}

function checkMembers(run: Run, keys: readonly string[], shape: Shape, place: Place, { present }: Members): void {
  if ((present & shape.requiredMask) !== shape.requiredMask) reportMissing(run, shape, present, place);
  if (keys.length === 0) report(run, 'empty', place, 'may not be an empty object: leave the element out');
}

function checkProperty(run: Run, object: JsonObject, value: JsonValue, property: Property, parent: Place): void {
  if (property.kind === 'sibling') {
    checkSiblings(run, object, value, property, parent, checkElement);
  } else if (!property.repeats) {
    checkValue(run, value, property, parent, -1);
  } else if (!Array.isArray(value)) {
    const problem = value === null ? nullProblem : `must be a JSON array: ${property.jsonName} may repeat`;
    report(run, 'type', stepInto(parent, property.name), problem);
  } else if (value.length === 0) {
    report(run, 'empty', stepInto(parent, property.name), 'may not be an empty array: leave the element out');
  } else checkEntries(run, object, value, property, parent, 0, value.length);
}

/** Checks the entries from one index up to another. */
function checkEntries(
  run: Run,
  object: JsonObject,
  values: JsonValue[],
  property: Property,
  parent: Place,
  from: number,
  to: number,
): void {
  run.meter?.spend(to - from);
  for (let index = from; index < to; index++) {
    if (run.full) return;
    const value = values[index] ?? null;
    if (value !== null) checkValue(run, value, property, parent, index);
    else if (property.kind !== 'primitive') report(run, 'type', stepInto(parent, property.name, index), nullProblem);
    else if (!hasSibling(object, property, index)) {
      const problem = `may be null only where _${property.jsonName} has an extension at the same place`;
      report(run, 'primitive-sibling', stepInto(parent, property.name, index), problem);
    }
  }
}

const nullProblem = 'may not be null: leave the element out';

function checkValue(run: Run, value: JsonValue, property: Property, parent: Place, index: number): void {
  if (property.kind === 'primitive') return checkPrimitive(run, value, property, parent, index);
  const place = stepInto(parent, property.name, index);
  if (property.kind === 'object') checkObjectValue(run, value, property, place);
  else if (property.kind === 'resource' && property.name === 'contained') checkContainedResource(run, value, place);
  else if (property.kind === 'resource') checkResource(run, value, place);
}

function checkObjectValue(run: Run, value: JsonValue, property: Property, place: Place): void {
  const { definition } = property;
  if (definition === undefined) return;
  if (!isObject(value)) return reportNotObject(run, value, place, definition.name);
  checkObject(run, value, getShape(definition), place);
  if (value.id !== undefined && Object.keys(value).length === 1)
    report(run, 'empty', place, 'may not have an id only (ele-1)');
  property.rule?.(run, value, place);
}

/** Characters of a text that are checked in the time of one step. */
const charactersPerStep = 16;

function checkPrimitive(run: Run, value: JsonValue, property: Property, parent: Place, index: number): void {
  if (typeof value === 'string' && value.length >= charactersPerStep)
    run.meter?.spend(Math.trunc(value.length / charactersPerStep));
  const problem = property.check?.(value);
  if (problem !== undefined) {
    const place = stepInto(parent, property.name, index);
    if (value === null || (Array.isArray(value) && !property.repeats)) reportNotObject(run, value, place, '');
    else if (typeof value === 'string' && problem.rule === 'format')
      report(run, problem.rule, place, `${quoteText(value)} ${problem.text}`);
    else report(run, problem.rule, place, problem.text);
  } else if (typeof value === 'string') {
    if (property.codes !== undefined && !property.codes.has(value)) {
      reportCode(run, value, property.valueSet, stepInto(parent, property.name, index));
    } else if (property.linking && value.charCodeAt(0) === 0x23 /* # */) useFragment(run.scope, value.slice(1));
  }
}

/** Checks id and extensions of a primitive element. */
function checkElement(run: Run, value: JsonObject, place: Place): void {
  checkObject(run, value, requireShape('Element'), place);
}

function reportMissing(run: Run, shape: Shape, present: number, place: Place): void {
  shape.required.forEach((element, bit) => {
    if ((present & (1 << bit)) !== 0) return;
    const name = element.choice ? `${element.name}[x]` : element.name;
    const max = element.max === Number.POSITIVE_INFINITY ? '*' : element.max;
    const problem = `${name} is required (cardinality ${element.min}..${max})`;
    report(run, 'cardinality-min', stepInto(place, element.name), problem);
  });
}

function reportChoice(run: Run, first: Property, second: Property, place: Place): void {
  const problem = `may have one type only: ${first.jsonName} and ${second.jsonName} are both present`;
  report(run, 'choice', stepInto(place, second.name), problem);
}
