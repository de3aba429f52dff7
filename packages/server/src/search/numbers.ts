/**
 * Numbers that stand for names in the index tables. They are computed, not assigned, so every process and every
 * installation agrees on them without a table to look up; a test proves that no two search parameters share one.
 * Types: https://hl7.org/fhir/R4/resourcelist.html. Parameters: https://hl7.org/fhir/R4/searchparameter-registry.html
 */
import { hash } from 'node:crypto';
import { getSearchParameters, resourceTypes } from '@praxis/fhir';
import { LRUCache } from 'lru-cache';
import { boundEntries } from '../base/bounded-entries.ts';
import { normalizeSystem } from './kinds/code-systems.ts';

/** The number of "no system", and of systems in rows that have none. */
export const noSystem = '0';

/**
 * Names of value spaces beside a parameter's own: `subject:identifier` holds the identifiers of `subject`, `code:text` the
 * texts beside its codes, `identifier:of-type` the identifiers with their types.
 */
export type DerivedSpace = (typeof derivedSpaces)[number];
export const derivedSpaces = ['identifier', 'text', 'of-type'] as const;

/** Systems whose numbers are remembered; practices use a few hundred. */
const systemsMax = 10_000;

const typeNumbers: ReadonlyMap<string, number> = new Map(resourceTypes.map((type, index) => [type, index + 1]));
const parameterNumbers = new Map<string, number>();
const systemNumbers = new LRUCache<string, string>(boundEntries(systemsMax));

/**
 * 1 to 146: the position of the type in R4's alphabetical list, which is frozen with R4.
 * @throws TypeError for a name that is no concrete R4 type
 */
export function getTypeNumber(type: string): number {
  const number = typeNumbers.get(type);
  if (number === undefined) throw new TypeError(`${type} is not a resource type of R4`);
  return number;
}

/** Whether `type` is a concrete resource type of R4. */
export function isResourceType(type: string): boolean {
  return typeNumbers.has(type);
}

/** A signed 32-bit number for a search parameter of a type: the first four bytes of SHA-256 of `Patient.birthdate`. */
export function computeParameterNumber(type: string, code: string, space?: DerivedSpace): number {
  const name = space === undefined ? `${type}.${code}` : `${type}.${code}:${space}`;
  const known = parameterNumbers.get(name);
  if (known !== undefined) return known;
  const number = numberOfName(name);
  parameterNumbers.set(name, number);
  return number;
}

/**
 * The same for a parameter that a firm has defined, by its number in the installation. The chance that it meets another
 * one is one in millions; whoever admits the parameter makes sure that it does not.
 */
export function computeFirmParameterNumber(type: string, id: number, space?: DerivedSpace): number {
  return numberOfName(space === undefined ? `${type}#${id}` : `${type}#${id}:${space}`);
}

let standardNumbers: ReadonlySet<number> | undefined;

/** Whether rows of a standard parameter can lie under the number. */
export function isStandardNumber(number: number): boolean {
  standardNumbers ??= new Set(
    resourceTypes.flatMap((type) =>
      [...getSearchParameters(type).keys()].flatMap((code) =>
        [undefined, ...derivedSpaces].map((space) => computeParameterNumber(type, code, space)),
      ),
    ),
  );
  return standardNumbers.has(number);
}

function numberOfName(name: string): number {
  return hash('sha256', name, 'buffer').readInt32BE(0);
}

/**
 * A signed 64-bit number, as decimal text, for a code or identifier system: the first eight bytes of SHA-256 of its
 * URI in canonical form; `0` for none.
 */
export function computeSystemNumber(system: string): string {
  if (system === '') return noSystem;
  const known = systemNumbers.get(system);
  if (known !== undefined) return known;
  const digest = hash('sha256', normalizeSystem(system), 'buffer');
  const number = digest.readBigInt64BE(0).toString();
  systemNumbers.set(system, number);
  return number;
}
