/**
 * search on one type (https://hl7.org/fhir/R4/http.html#search, https://hl7.org/fhir/R4/search.html).
 */

import { toInstant } from '../../base/clock.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildSearchRequest, makeMany } from '../../base/worst-case.ts';
import type { SearchQuery } from '../../search/query/query.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import { planCount, planPage, type SearchPage } from '../../search/sql/plan.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { BundleEntry } from '../bundle-text.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { findHook } from '../hooks.ts';
import { listResponse } from '../list-response.ts';
import { requireGrants } from '../rights/denials.ts';
import { discloseRows, parseElementFilter } from '../rights/disclosing.ts';
import { findRequestScope } from './compartment.ts';
import { addCompleteness } from './completeness.ts';
import { buildIncludedEntries, requireIncludes } from './including.ts';
import { searchLedger } from './search-ledger.ts';
import { type LinkedPages, searchLinks } from './search-links.ts';
import { computeTotal } from './search-total.ts';
import { searchUnits } from './search-units.ts';
import { planSearch } from './searching.ts';

export const searchType: Interaction = {
  worstCase: {
    because: 'comparisons that no index serves (F4)',
    request: () =>
      buildSearchRequest(
        'Patient',
        `_filter=${encodeURIComponent(makeMany(50, (n) => `name co "a${n}"`).join(' or '))}`,
      ),
  },
  rateUnits: searchUnits,
  authorize: (context, request) => requireGrants(context, request.type, 's'),
  answer: addCompleteness(answer),
};

/**
 * A searchset Bundle. `total` is the number of all matches where it is known without counting or was asked for;
 * `next` continues exactly after the last row of this page, `previous` ends exactly before the first.
 * @throws PraxisError `search-invalid`, `access-denied` (a parameter touches what may not be read), `cursor-invalid`,
 *   `page-too-deep`, `statement-timeout`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  if (ledgerTypes.has(request.type)) return await searchLedger(context, request);
  const computed = await findHook('computed', request.type)?.search(context, request);
  if (computed !== undefined) return computed;
  const target = await planSearch(context, request.type, request.parameters, request.prefer, findRequestScope(request));
  const { query } = target;
  requireIncludes(context, query);
  if (query.countOnly)
    return countOnly(context, request, query, await context.store.selectCount(context.scope, planCount(target)));
  const page = planPage(target);
  const rows = await context.store.selectPage(context.scope, page.statement);
  const result = page.cut(rows);
  const { total, pages, outcomes } = await computeTotal(context, request, target, page, result);
  return listResponse({
    type: 'searchset',
    id: makeUuid(),
    lastUpdated: toInstant(context.clock.now()),
    ...(total === undefined ? {} : { total }),
    links: searchLinks(context, request, query, linked(context, pages, result)),
    entries: [
      ...(await entries(context, request, result.rows)),
      ...(await buildIncludedEntries(context, query, result.rows, request.parameters)),
      ...outcomes,
    ],
  });
}

/** With a link `next` also where nothing follows, for an application that is set so. */
function linked(
  { settings }: InteractionContext,
  pages: LinkedPages,
  { after }: SearchPage<StoredResource>,
): LinkedPages {
  return settings.nextUntilEmpty && pages.next === undefined ? { ...pages, next: after() } : pages;
}

async function entries(
  context: InteractionContext,
  request: FhirRequest,
  rows: readonly StoredResource[],
): Promise<readonly BundleEntry[]> {
  const filter = parseElementFilter(request.parameters);
  const decorate = findHook('decorate', request.type)?.(context, request);
  const found: BundleEntry[] = [];
  for (const { row, resource: shown } of await discloseRows(context, 's', rows, filter)) {
    const resource = decorate === undefined ? shown : await decorate('s', row, shown, filter);
    found.push({ fullUrl: `${context.baseUrl}/${row.type}/${row.id}`, resource, search: { mode: 'match' } });
  }
  return found;
}

/** `_summary=count` and `_count=0`: the number of matches alone. */
function countOnly(context: InteractionContext, request: FhirRequest, query: SearchQuery, total: number): FhirResponse {
  return listResponse({
    type: 'searchset',
    id: makeUuid(),
    lastUpdated: toInstant(context.clock.now()),
    total,
    links: searchLinks(context, request, query, undefined),
    entries: [],
  });
}
