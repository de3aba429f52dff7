/**
 * Reports of what stands where the definitions have nothing, in words that name the likely mistake.
 */
import { buildJsonName, type ElementDefinition } from '../definitions.ts';
import { isRawDecimal, type JsonObject, type JsonValue } from '../json.ts';
import { formatPathStep } from '../json-error.ts';
import { findNearestName, suggestName } from '../suggestion.ts';
import { type Place, type Run, report, stepInto } from './issue.ts';
import type { Shape } from './shape.ts';

/** Findings with a suggestion at most: to look for the nearest name costs more than all else. */
const suggestionsMax = 10;

/** Names of a choice that a diagnostic lists, at most. */
const namesListedMax = 12;

/** Reports a property that the type does not have. Returns the element that was meant, if that is certain. */
export function reportUnknown(
  run: Run,
  object: JsonObject,
  key: string,
  shape: Shape,
  parent: Place,
): ElementDefinition | undefined {
  if (isRawDecimal(object)) {
    reportNotObject(run, object, parent, shape.definition.name);
    return undefined;
  }
  const choice = shape.choices.find((element) => key === element.name || isWrongSuffix(key, element.name));
  if (choice !== undefined) {
    report(run, 'choice', stepInto(parent, choice.name), choiceProblem(key, choice));
    return choice;
  }
  const base = key.startsWith('_') ? shape.properties.get(key.slice(1)) : undefined;
  if (base === undefined || base.kind === 'resourceType') {
    const hint = run.issues.length < suggestionsMax ? suggestion(key, shape) : '';
    const place = stepInto(parent, formatPathStep(key));
    report(run, 'unknown-element', place, `unknown element of ${shape.definition.name}${hint}`);
  } else {
    const why =
      base.kind === 'object' ? `its id and extensions stand in ${base.jsonName} itself` : 'it can have no extensions';
    report(run, 'primitive-sibling', stepInto(parent, base.name), `_${base.jsonName} is not allowed: ${why}`);
  }
  return undefined;
}

/** Reports a null, an array or a primitive value in the place of one object. */
export function reportNotObject(run: Run, value: JsonValue, place: Place, expected: string): void {
  if (value === null) report(run, 'type', place, 'may not be null: leave the element out');
  else if (Array.isArray(value) && place.index < 0 && place.parent !== undefined) {
    report(run, 'cardinality-max', place, 'may not be an array: it has one value at most');
  } else report(run, 'type', place, `must be a JSON object (${expected})`);
}

function suggestion(key: string, shape: Shape): string {
  const names = shape.properties.keys().filter((name) => !name.startsWith('_'));
  return suggestName(key, names);
}

function isWrongSuffix(key: string, name: string): boolean {
  return key.startsWith(name) && /^[A-Z]/.test(key.slice(name.length));
}

function choiceProblem(key: string, choice: ElementDefinition): string {
  const problem = key === choice.name ? `${key} needs the suffix of its type` : `${key} has a type that is not allowed`;
  const names = choice.types.map((type) => buildJsonName(choice, type));
  if (names.length <= namesListedMax) return `${problem}: allowed is ${names.join(', ')}`;
  const nearest = key === choice.name ? undefined : findNearestName(key, names);
  return nearest === undefined
    ? `${problem}: ${names.length} are, ${names[0]} for instance`
    : `${problem}: did you mean ${nearest}?`;
}
