/**
 * The `_name` siblings of primitive elements: id and extensions, aligned with the values when the element repeats.
 *
 * https://hl7.org/fhir/R4/json.html#primitive
 */
import type { JsonObject, JsonValue } from '../json.ts';
import { type Place, type Run, report, stepInto } from './issue.ts';
import { isObject } from './scope.ts';
import type { Property } from './shape.ts';

type ElementCheck = (run: Run, value: JsonObject, place: Place) => void;

/** Checks the sibling of a primitive element; a sibling of an absent value must have an extension. */
export function checkSiblings(
  run: Run,
  object: JsonObject,
  siblings: JsonValue,
  property: Property,
  parent: Place,
  checkElement: ElementCheck,
): void {
  const { name, jsonName } = property;
  const place = stepInto(parent, name);
  const values = object[jsonName];
  if (!property.repeats) return checkSibling(run, siblings, values, property, place, checkElement);
  if (!Array.isArray(siblings))
    return report(run, 'primitive-sibling', place, `_${jsonName} must be a JSON array: ${jsonName} may repeat`);
  if (siblings.length === 0) report(run, 'empty', place, `_${jsonName} may not be an empty array: leave it out`);
  if (Array.isArray(values) && values.length !== siblings.length) {
    const problem = `_${jsonName} must have as many entries as ${jsonName}: ${siblings.length} is not ${values.length}`;
    report(run, 'primitive-sibling', place, problem);
  }
  siblings.forEach((sibling, index) => {
    if (run.full) return;
    const value = Array.isArray(values) ? values[index] : undefined;
    // An entry that is null on both sides is reported with the values.
    if (sibling !== null) checkSibling(run, sibling, value, property, { ...place, index }, checkElement);
    else if (value === undefined) report(run, 'primitive-sibling', { ...place, index }, bothMissing(property));
  });
}

/** Whether a null among the values is made good by an object at the same place of the sibling. */
export function hasSibling(object: JsonObject, property: Property, index: number): boolean {
  const siblings = object[`_${property.jsonName}`];
  return Array.isArray(siblings) && isObject(siblings[index]);
}

function checkSibling(
  run: Run,
  sibling: JsonValue,
  value: JsonValue | undefined,
  property: Property,
  place: Place,
  checkElement: ElementCheck,
): void {
  if (!isObject(sibling)) {
    const problem = `_${property.jsonName} must be a JSON object with id or extension`;
    return report(run, 'primitive-sibling', place, problem);
  }
  checkElement(run, sibling, place);
  // One that is empty altogether has been reported as such.
  if ((value ?? null) === null && sibling.id !== undefined && sibling.extension === undefined)
    report(run, 'primitive-sibling', place, bothMissing(property));
}

function bothMissing(property: Property): string {
  return `must have a value in ${property.jsonName} or an extension in _${property.jsonName} (ele-1)`;
}
