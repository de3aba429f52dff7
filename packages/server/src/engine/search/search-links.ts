/**
 * Links of a searchset (https://hl7.org/fhir/R4/search.html#selflink, http.html#paging): absolute, built from settings and
 * the parameters that were used. Links to other pages carry the sealed cursor, and `page=N` beside it for clients that take
 * only that.
 */
import type { SearchQuery } from '../../search/query/query.ts';
import type { BundleLink } from '../bundle-text.ts';
import type { FhirRequest, InteractionContext } from '../context.ts';

/** Where a page begins. */
export interface LinkedPage {
  readonly page: number;
  /** Absent: the number alone says it. */
  readonly cursor?: string;
}

/** The pages that links lead to. */
export interface LinkedPages {
  readonly previous: LinkedPage | undefined;
  readonly next: LinkedPage | undefined;
  readonly last?: LinkedPage | undefined;
}

/**
 * `self` echoes what was searched for, without parameters that were ignored; `previous` and `next` where there are rows
 * before and after, and `first` beside either.
 */
export function searchLinks(
  context: InteractionContext,
  request: FhirRequest,
  query: SearchQuery,
  pages?: LinkedPages,
): BundleLink[] {
  const position = query.cursor === undefined ? [] : [['_cursor', query.cursor] as const];
  const count = query.countOnly ? undefined : String(query.count); // the number of rows that is served
  const applied = query.applied.map(([name, value]) => [name, name === '_count' ? (count ?? value) : value] as const);
  const links: BundleLink[] = [{ relation: 'self', url: linkTo(context, request, [...applied, ...position]) }];
  const { previous, next, last } = pages ?? {};
  if (previous === undefined && next === undefined) return links;
  const rest = applied.filter(([name]) => name !== 'page');
  links.push({ relation: 'first', url: linkTo(context, request, rest) });
  const others = [['previous', previous] as const, ['next', next] as const, ['last', last] as const];
  for (const [relation, start] of others) {
    if (start === undefined) continue;
    const cursor = start.cursor === undefined ? [] : [['_cursor', start.cursor] as const];
    links.push({ relation, url: linkTo(context, request, [...rest, ['page', String(start.page)], ...cursor]) });
  }
  return links;
}

function linkTo(
  context: InteractionContext,
  request: FhirRequest,
  parameters: readonly (readonly [string, string])[],
): string {
  const query = encodeQuery(parameters);
  const { type, compartment } = request;
  const path = compartment === undefined ? type : `${compartment.type}/${compartment.id}/${type}`;
  return `${context.baseUrl}/${path}${query === '' ? '' : `?${query}`}`;
}

/** Parameters as the query of a URL. */
export function encodeQuery(parameters: readonly (readonly [string, string])[]): string {
  return parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
}

/** Percent-encoding that leaves `:`, `,` and `/` as people write them; all three are allowed in a query (RFC 3986 §3.4). */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%2F', '/');
}
