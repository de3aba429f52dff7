/**
 * The kinds of search parameters that are served, one file each. A new kind is a file and a line here.
 * https://hl7.org/fhir/R4/search.html#ptypes
 */
import type { SearchParameter, SearchParameterKind } from '@praxis/fhir';
import { age } from './age.ts';
import { composite } from './composite.ts';
import { date } from './date.ts';
import type { SearchKind } from './kind.ts';
import { near } from './near.ts';
import { number } from './number.ts';
import { phonetic } from './phonetic.ts';
import { quantity } from './quantity.ts';
import { reference } from './reference.ts';
import { lastUpdated, resourceId } from './resource-columns.ts';
import { string } from './string.ts';
import { token } from './token.ts';
import { uri } from './uri.ts';
import { content, narrative } from './words.ts';

const kinds: Partial<Record<SearchParameterKind, SearchKind>> = {
  string,
  token,
  date,
  reference,
  number,
  quantity,
  uri,
  composite,
};

/** Parameters whose values stand in the `resource` table itself. */
const columns: Readonly<Record<string, SearchKind>> = {
  _id: resourceId,
  _lastUpdated: lastUpdated,
};

/** Parameters of R4 that work in a way of their own: https://hl7.org/fhir/R4/search.html#text and #special. */
const ownKinds: Readonly<Record<string, SearchKind>> = {
  'string _content': content,
  'string _text': narrative,
  'string phonetic': phonetic,
  'special near': near,
};

/** The kind that serves the parameter; undefined when none does (special ones). */
export function findKind(definition: SearchParameter): SearchKind | undefined {
  const { code, type, expression } = definition;
  if (code === 'age' && expression === undefined) return age;
  return columns[code] ?? ownKinds[`${type} ${code}`] ?? kinds[type];
}

/** Every kind that is served, by a name. */
export const searchKinds: readonly { readonly name: string; readonly kind: SearchKind }[] = [
  ...Object.entries({ ...kinds, ...columns, ...ownKinds }).map(([name, kind]) => ({ name, kind })),
  { name: 'age', kind: age },
];
