/**
 * Values that a profile prescribes: fixed[x] is the whole value, pattern[x] the part that has to be there; and the least
 * and greatest value.
 *
 * https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.fixed_x_
 * https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.pattern_x_
 */
import { isPlainObject, type Plain } from './element-node.ts';

/** Whether a value is the fixed one: the same members with the same values, lists in the same order. */
export function equalsFixed(value: Plain | undefined, fixed: Plain): boolean {
  if (Array.isArray(fixed)) {
    if (!Array.isArray(value) || value.length !== fixed.length) return false;
    return fixed.every((each: Plain, index) => equalsFixed(value[index], each));
  }
  if (!isPlainObject(fixed)) return value === fixed;
  if (!isPlainObject(value)) return false;
  const names = Object.keys(fixed);
  if (Object.keys(value).length !== names.length) return false;
  return names.every((name) => equalsFixed(value[name], fixed[name] ?? null));
}

/** Whether a value has all that the pattern has; each entry of a list in the pattern fits some entry of the value's. */
export function matchesPattern(value: Plain | undefined, pattern: Plain): boolean {
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value)) return false;
    return pattern.every((each: Plain) => value.some((candidate: Plain) => matchesPattern(candidate, each)));
  }
  if (!isPlainObject(pattern)) return value === pattern;
  if (!isPlainObject(value)) return false;
  return Object.entries(pattern).every(([name, each]) => matchesPattern(value[name], each ?? null));
}

/**
 * Less than 0 when `a` is less than `b`; undefined when they cannot be compared. Numbers, dates and times up to the
 * precision that both have, Quantities of one unit. Zones are not looked at.
 */
export function comparePlain(a: Plain, b: Plain): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') {
    const length = Math.min(a.length, b.length);
    const [left, right] = [a.slice(0, length), b.slice(0, length)];
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (!isPlainObject(a) || !isPlainObject(b) || a.code !== b.code || a.system !== b.system) return undefined;
  return comparePlain(a.value ?? null, b.value ?? null);
}
