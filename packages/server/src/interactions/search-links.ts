/**
 * Links of a searchset (https://hl7.org/fhir/R4/search.html#selflink, http.html#paging): absolute, built from settings and
 * the parameters that were used. `next` carries the sealed cursor, and `page=N` beside it for clients that take only that.
 */
import type { SearchPage } from '../search/plan.ts';
import type { SearchQuery } from '../search/query.ts';
import type { BundleLink } from './bundle-text.ts';
import type { FhirRequest, InteractionContext } from './context.ts';

/** `self` echoes what was searched for, without parameters that were ignored; `next` where there are more rows. */
export function searchLinks(
  context: InteractionContext,
  request: FhirRequest,
  query: SearchQuery,
  page: SearchPage | undefined,
): BundleLink[] {
  const position = query.cursor === undefined ? [] : [['_cursor', query.cursor] as const];
  const applied = query.applied.map(([name, value]) =>
    name === '_count' ? ([name, countOf(query, value)] as const) : ([name, value] as const),
  );
  const links: BundleLink[] = [{ relation: 'self', url: linkTo(context, request, [...applied, ...position]) }];
  if (page?.next === undefined) return links;
  const rest = applied.filter(([name]) => name !== 'page');
  const next = [...rest, ['page', String(page.next.page)] as const, ['_cursor', page.next.cursor] as const];
  return [...links, { relation: 'next', url: linkTo(context, request, next) }];
}

/** The number of rows that is served: at most the type's maximum. */
function countOf(query: SearchQuery, asked: string): string {
  return query.countOnly ? asked : String(query.count);
}

function linkTo(
  context: InteractionContext,
  request: FhirRequest,
  parameters: readonly (readonly [string, string])[],
): string {
  const query = parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  const base = `${context.baseUrl}/${request.type}`;
  return query === '' ? base : `${base}?${query}`;
}

/** Percent-encoding that leaves `:`, `,` and `/` as people write them; all three are allowed in a query (RFC 3986 §3.4). */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%2F', '/');
}
