/**
 * Required bindings: the code must be one of the value set.
 *
 * https://hl7.org/fhir/R4/terminologies.html#required
 */
import { findValueSetCodes, findValueSetCodings } from '../definitions.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { findNearestName } from '../suggestion.ts';
import { type Place, quoteText, type Run, report } from './issue.ts';
import { isObject } from './scope.ts';

/** Codes named in a diagnostic, at most. */
const codesNamedMax = 12;

/** Reports a code that is not in the value set. */
export function reportCode(run: Run, code: string, valueSet: string, place: Place): void {
  const codes = [...(findValueSetCodes(valueSet) ?? [])];
  const problem = `${quoteText(code)} is not in the required value set ${valueSet}: ${hint(code, codes)}`;
  report(run, 'required-binding', place, problem);
}

function hint(code: string, codes: readonly string[]): string {
  if (codes.length <= codesNamedMax) return `allowed is ${codes.join(', ')}`;
  const nearest = findNearestName(code, codes);
  return nearest === undefined ? `it has ${codes.length} other codes` : `did you mean ${nearest}?`;
}

/** Checks a CodeableConcept: at least one coding must be in the value set, text alone is not enough. */
export function checkConceptBinding(run: Run, value: JsonObject, place: Place, valueSet: string): void {
  const codings = Array.isArray(value.coding) ? value.coding.filter(isObject) : [];
  if (!codings.some((coding) => isCodingIn(coding, valueSet))) reportCodings(run, codings, place, valueSet);
}

/** Checks a Coding or Quantity by its system and code. */
export function checkCodingBinding(run: Run, value: JsonObject, place: Place, valueSet: string): void {
  if (!isCodingIn(value, valueSet)) reportCodings(run, [value], place, valueSet);
}

function isCodingIn(coding: JsonObject, valueSet: string): boolean {
  const codings = findValueSetCodings(valueSet);
  const { system, code } = coding;
  return (
    codings === undefined ||
    (typeof system === 'string' && typeof code === 'string' && codings.get(system)?.has(code) === true)
  );
}

function reportCodings(run: Run, codings: readonly JsonObject[], place: Place, valueSet: string): void {
  const given = codings.map(({ system, code }) => quoteText(`${textOf(system)}|${textOf(code)}`));
  let problem = given.length === 0 ? 'must have a coding of' : `none of ${given.join(', ')} is in`;
  if (given.length === 1) problem = `${given[0]} is not in`;
  report(run, 'required-binding', place, `${problem} the required value set ${valueSet}${allowedCodings(valueSet)}`);
}

function allowedCodings(valueSet: string): string {
  const systems = [...(findValueSetCodings(valueSet) ?? [])];
  if (systems.reduce((sum, [, codes]) => sum + codes.size, 0) > codesNamedMax) return '';
  return `: allowed is ${systems.map(([system, codes]) => `${[...codes].join(', ')} of ${system}`).join('; ')}`;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
