/**
 * Which search parameters a grant may use. A search answers whether some row has a value, so a parameter is usable only
 * if every element that its expression touches is readable: hidden elements cannot be found by bisecting a search.
 */
import { listParameterElements, type SearchParameter } from '@praxis/fhir';
import { memoize } from './memoize.ts';
import { type Elements, elementsInclude } from './rights.ts';

/** Elements that every grant on a type reads. */
export const alwaysReadable: readonly string[] = ['resourceType', 'id', 'meta'];

const touched = new WeakMap<SearchParameter, Map<string, Elements>>();

/**
 * The top-level elements (`Patient.name`) that a parameter reads on a type, without those that everybody reads.
 * `all` for parameters that may read anything, having no expression: `_text`, `_content`, `_query`, `_filter`.
 */
export function findReadElements(type: string, parameter: SearchParameter): Elements {
  const byType = memoize(touched, parameter, () => new Map<string, Elements>());
  return memoize(byType, type, () => topLevelElements(type, parameter));
}

function topLevelElements(type: string, parameter: SearchParameter): Elements {
  const names = listParameterElements(type, parameter).map((path) => path.split('.')[1]?.replace('[x]', ''));
  // No expression, or one that reads the resource as such: its reach is not known.
  if (names.length === 0 || names.includes(undefined)) return 'all';
  return new Set(
    names.filter((name) => name !== undefined && !alwaysReadable.includes(name)).map((name) => `${type}.${name}`),
  );
}

/** Whether a search parameter may be used by someone who reads `readable`. */
export function isUsable(readable: Elements, type: string, parameter: SearchParameter): boolean {
  return readable === 'all' || elementsInclude(readable, findReadElements(type, parameter));
}
