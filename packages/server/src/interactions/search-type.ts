/**
 * search on one type (https://hl7.org/fhir/R4/http.html#search, https://hl7.org/fhir/R4/search.html).
 */
import type { SearchParameter } from '@praxis/fhir';
import { missingForParameter } from '../access/explain.ts';
import type { Grant } from '../access/policy.ts';
import { searchGrants } from '../access/policy.ts';
import { toInstant } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import { newUuid } from '../base/ids.ts';
import { planCount, planPage, type SearchPage } from '../search/plan.ts';
import { parseSearch, type SearchQuery } from '../search/query.ts';
import type { StoredResource } from '../storage/store.ts';
import { type BundleEntry, bundleText } from './bundle-text.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from './context.ts';
import { refuse, requireGrants } from './denials.ts';
import { discloseRow, requestedElements } from './disclosing.ts';
import { searchLinks } from './search-links.ts';

export const searchType: Interaction = {
  authorize: (context, request) => requireGrants(context, request.type, 's'),
  answer,
};

/**
 * A searchset Bundle. `total` is the number of all matches where it is known without counting or was asked for;
 * `next` continues exactly after the last row of this page.
 * @throws PraxisError `search-invalid`, `access-denied` (a parameter touches what may not be read), `cursor-invalid`,
 *   `page-too-deep`, `statement-timeout`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const query = parseSearch(request.type, request.parameters, {
    timeZone: context.scope.timeZone,
    baseUrl: context.baseUrl,
    nowMs: context.clock.now(),
    limits: context.limits,
  });
  refuseUnknown(context, request, query);
  const grants = requireUsable(context, request.type, query.usedParameters);
  const mandatory = grants.map((grant) => grant.criteria);
  const target = {
    scope: context.scope,
    query,
    mandatory,
    cursor: { secrets: context.secrets, policyFingerprint: context.policy.fingerprint },
  };
  if (query.countOnly)
    return countOnly(context, request, query, await context.store.selectCount(context.scope, planCount(target)));
  const page = planPage(target);
  const rows = await context.store.selectPage(context.scope, page.statement);
  const result = page.cut(rows);
  const total = await totalOf(context, query, result, () =>
    context.store.selectCount(context.scope, planCount(target)),
  );
  const body = bundleText({
    type: 'searchset',
    id: newUuid(),
    lastUpdated: toInstant(context.clock.now()),
    ...(total === undefined ? {} : { total }),
    links: searchLinks(context, request, query, result),
    entries: entries(context, request, result.rows),
  });
  return { status: 200, body };
}

/** Unknown parameters are refused unless the caller or the application's setting asks for lenience. */
function refuseUnknown(context: InteractionContext, request: FhirRequest, query: SearchQuery): void {
  const [first] = query.unknown;
  if (first === undefined) return;
  const lenient =
    request.prefer.handling === 'lenient' || (request.prefer.handling === undefined && context.settings.lenientSearch);
  if (lenient) return;
  fail('search-invalid', {
    diagnostics: `${first} is not a search parameter of ${request.type}; metadata lists those that are (Prefer: handling=lenient ignores unknown ones)`,
    expression: [first],
  });
}

/** The grants under which every used parameter is usable; at least one. */
function requireUsable(context: InteractionContext, type: string, used: readonly SearchParameter[]): readonly Grant[] {
  const grants = searchGrants(context.policy, type, used);
  if (grants.length > 0) return grants;
  const denied = used.find((parameter) => searchGrants(context.policy, type, [parameter]).length === 0) ?? used[0];
  const code = denied?.code ?? '';
  return refuse(
    `Searching ${type} by ${code}, which reads elements that the application may not read,`,
    missingForParameter(context.policy, type, code),
  );
}

async function totalOf(
  context: InteractionContext,
  query: SearchQuery,
  page: SearchPage,
  count: () => Promise<number>,
): Promise<number | undefined> {
  if (context.settings.totalOfPage) return page.rows.length;
  if (query.total === 'none') return undefined;
  if (page.total !== undefined) return page.total;
  return query.total === 'accurate' ? count() : undefined;
}

function entries(context: InteractionContext, request: FhirRequest, rows: readonly StoredResource[]): BundleEntry[] {
  const filter = requestedElements(request.parameters);
  return rows.flatMap((row) => {
    const resource = discloseRow(context, 's', row, filter);
    if (resource === undefined) return [];
    return [{ fullUrl: `${context.baseUrl}/${row.type}/${row.id}`, resource, search: { mode: 'match' as const } }];
  });
}

/** `_summary=count` and `_count=0`: the number of matches alone. */
function countOnly(context: InteractionContext, request: FhirRequest, query: SearchQuery, total: number): FhirResponse {
  const body = bundleText({
    type: 'searchset',
    id: newUuid(),
    lastUpdated: toInstant(context.clock.now()),
    total,
    links: searchLinks(context, request, query, undefined),
    entries: [],
  });
  return { status: 200, body };
}
