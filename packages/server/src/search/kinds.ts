/**
 * The kinds of search parameters that are served, one file each. A new kind is a file and a line here.
 * https://hl7.org/fhir/R4/search.html#ptypes
 */
import type { SearchParameter, SearchParameterKind } from '@praxis/fhir';
import type { SearchKind } from './kind.ts';
import { date } from './types/date.ts';
import { number } from './types/number.ts';
import { quantity } from './types/quantity.ts';
import { reference } from './types/reference.ts';
import { lastUpdated, resourceId } from './types/resource-columns.ts';
import { string } from './types/string.ts';
import { token } from './types/token.ts';
import { uri } from './types/uri.ts';

const kinds: Partial<Record<SearchParameterKind, SearchKind>> = {
  string,
  token,
  date,
  reference,
  number,
  quantity,
  uri,
};

/** Parameters whose values stand in the `resource` table itself. */
const columns: Readonly<Record<string, SearchKind>> = {
  _id: resourceId,
  _lastUpdated: lastUpdated,
};

/** The kind that serves the parameter; undefined when none does (composite, special). */
export function kindOf(definition: SearchParameter): SearchKind | undefined {
  return columns[definition.code] ?? kinds[definition.type];
}
