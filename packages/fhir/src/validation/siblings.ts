/**
 * The `_name` siblings of primitive elements: id and extensions, aligned with the values when the element repeats.
 *
 * https://hl7.org/fhir/R4/json.html#primitive
 */
import type { JsonObject, JsonValue } from '../json.ts';
import { type Place, type Run, report } from './issue.ts';
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
  const place = { parent, name: property.name, index: -1 };
  const values = object[property.jsonName];
  if (!property.repeats) {
    checkSibling(run, siblings, values, property, place, checkElement);
    return;
  }
  if (!Array.isArray(siblings)) {
    report(
      run,
      'primitive-sibling',
      place,
      `_${property.jsonName} must be a JSON array: ${property.jsonName} may repeat`,
    );
    return;
  }
  if (siblings.length === 0)
    report(run, 'empty', place, `_${property.jsonName} may not be an empty array: leave it out`);
  if (Array.isArray(values) && values.length !== siblings.length) {
    const problem = `_${property.jsonName} must have as many entries as ${property.jsonName}: ${siblings.length} is not ${values.length}`;
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
    report(run, 'primitive-sibling', place, `_${property.jsonName} must be a JSON object with id or extension`);
    return;
  }
  checkElement(run, sibling, place);
  const valueless = value === undefined || value === null;
  // One that is empty altogether has been reported as such.
  if (valueless && sibling.id !== undefined && sibling.extension === undefined) {
    report(run, 'primitive-sibling', place, bothMissing(property));
  }
}

function bothMissing(property: Property): string {
  return `must have a value in ${property.jsonName} or an extension in _${property.jsonName} (ele-1)`;
}
