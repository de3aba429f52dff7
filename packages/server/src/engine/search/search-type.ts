/**
 * search on one type (https://hl7.org/fhir/R4/http.html#search, https://hl7.org/fhir/R4/search.html).
 */

import { buildSearchRequest, makeMany } from '../../base/worst-case.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import { planCount, planPage } from '../../search/sql/plan.ts';
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
import { searchLinks } from './search-links.ts';
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
  if (query.countOnly) {
    const total = await context.store.selectCount(context.scope, planCount(target));
    return listResponse(context, {
      type: 'searchset',
      total,
      links: searchLinks(context, request, query),
      entries: [],
    });
  }
  const page = planPage(target);
  const result = await page.read((...planned) => context.store.selectPage(context.scope, ...planned));
  const { total, pages, outcomes } = await computeTotal(context, request, target, page, result);
  // With a link `next` also where nothing follows, for an application that is set so.
  const next = pages.next ?? (context.settings.nextUntilEmpty ? result.after() : undefined);
  return listResponse(context, {
    type: 'searchset',
    total,
    links: searchLinks(context, request, query, { ...pages, next }),
    entries: [
      ...(await entries(context, request, result.rows)),
      ...(await buildIncludedEntries(context, query, result.rows, request.parameters)),
      ...outcomes,
    ],
  });
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
