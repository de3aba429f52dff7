/** Pages of a search as something to iterate over. https://hl7.org/fhir/R4/http.html#paging */

import type { Issue } from './errors.ts';
import type { Bundle } from './generated/resources.ts';
import { findLink } from './links.ts';
import type { SearchableType } from './query.ts';
import type { Saved } from './resource.ts';

/** One page of a search. */
export interface SearchPage<T extends SearchableType> {
  /** What matches the search. */
  readonly matches: readonly Saved<T>[];
  /** What `_include` and `_revinclude` bring. */
  readonly included: readonly Saved[];
  /** Where it was asked for. It may be an estimate; `notes` says so. */
  readonly total: number | undefined;
  /** What the service says about the page, such as that resources were left out. */
  readonly notes: readonly Issue[];
  /** No more changes from before this instant will appear; where the query has `_lastUpdated`. */
  readonly completeUntil: string | undefined;
}

/** Resources on pages, each asked for when it is needed. Every iteration begins with the first page. */
export interface Pages<T extends SearchableType> extends AsyncIterable<Saved<T>> {
  /** Page by page, with totals and what is included. */
  pages(): AsyncGenerator<SearchPage<T>, void, undefined>;
  /** The first match; undefined where there is none. */
  first(): Promise<Saved<T> | undefined>;
  /** The first `max` matches, or fewer. */
  take(max: number): Promise<Saved<T>[]>;
}

/** A search: nothing is sent before it is iterated over, or one of its functions is called. */
export interface Search<T extends SearchableType> extends Pages<T> {
  /** How many match, counted exactly. Counts as one more request. */
  count(): Promise<number>;
}

/** A page as it came. */
export interface FetchedPage {
  readonly bundle: Bundle;
  readonly completeUntil: string | undefined;
}

/** How pages are fetched. */
export interface PageSource {
  first(): Promise<FetchedPage>;
  next(link: string): Promise<FetchedPage>;
}

/** The resources on the pages of `source`. */
export function makePages<T extends SearchableType>(source: PageSource): Pages<T> {
  async function* pages(): AsyncGenerator<SearchPage<T>, void, undefined> {
    for (let page = await source.first(); ; ) {
      yield readPage(page);
      const link = findLink(page.bundle, 'next');
      if (link === undefined) return;
      page = await source.next(link);
    }
  }
  async function* matches(): AsyncGenerator<Saved<T>, void, undefined> {
    for await (const page of pages()) yield* page.matches;
  }
  async function take(max: number): Promise<Saved<T>[]> {
    const taken: Saved<T>[] = [];
    if (max < 1) return taken;
    for await (const match of matches()) if (taken.push(match) >= max) break;
    return taken;
  }
  return {
    [Symbol.asyncIterator]: matches,
    pages,
    take,
    first: async () => (await take(1))[0],
  };
}

function readPage<T extends SearchableType>({ bundle, completeUntil }: FetchedPage): SearchPage<T> {
  const matches: Saved<T>[] = [];
  const included: Saved[] = [];
  const notes: Issue[] = [];
  for (const { resource, search } of bundle.entry ?? []) {
    if (search?.mode === 'outcome' && resource?.resourceType === 'OperationOutcome') notes.push(...resource.issue);
    else if (search?.mode === 'include') included.push(resource as Saved);
    else if (resource !== undefined) matches.push(resource as Saved<T>);
  }
  return { matches, included, notes, total: bundle.total, completeUntil };
}
