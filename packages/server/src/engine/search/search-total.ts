/**
 * `Bundle.total` of a searchset: https://hl7.org/fhir/R4/search.html#total.
 */
import {
  type PlannedPage,
  planCount,
  planEstimate,
  type SearchPage,
  type SearchTarget,
} from '../../search/sql/plan.ts';
import type { Estimate } from '../../storage/store.ts';
import type { BundleEntry } from '../bundle-text.ts';
import type { FhirRequest, InteractionContext } from '../context.ts';
import { buildEstimateOutcome } from '../outcome.ts';
import type { LinkedPages } from './search-links.ts';

export interface SearchTotal {
  /** Absent: neither asked for nor known without counting. */
  readonly total?: number;
  /** Pages that can be linked to. */
  readonly pages: LinkedPages;
  /** What there is to say about the total. */
  readonly outcomes: readonly BundleEntry[];
}

/**
 * The total of the pages' rows, or of this page's where the application's setting says so. With the Content-flag
 * `Pagination_optimization_disabled` all are counted, whatever else is asked, and the last page is known.
 * @throws PraxisError `statement-timeout`
 */
export async function computeTotal(
  context: InteractionContext,
  request: FhirRequest,
  target: SearchTarget,
  planned: PlannedPage,
  page: SearchPage,
): Promise<SearchTotal> {
  const count = async (): Promise<number> =>
    page.total ?? (await context.store.selectCount(context.scope, planCount(target)));
  if (request.contentFlags?.has('Pagination_optimization_disabled')) {
    const total = await count();
    return { total, pages: { ...page, last: planned.last(total) }, outcomes: [] };
  }
  const silent = { pages: page, outcomes: [] };
  if (context.settings.totalOfPage) return { ...silent, total: page.rows.length };
  const { total } = target.query;
  if (total === 'none' || (total === undefined && page.total === undefined)) return silent;
  if (total === 'estimate' && page.total === undefined) return await estimatedTotal(context, target, page);
  return { ...silent, total: await count() };
}

async function estimatedTotal(
  context: InteractionContext,
  target: SearchTarget,
  page: SearchPage,
): Promise<SearchTotal> {
  const found = await context.store.selectEstimate(context.scope, planEstimate(target));
  const how = howEstimated(found);
  if (how === undefined) return { total: found.total, pages: page, outcomes: [] };
  const seen = target.query.offset + page.rows.length + (page.next === undefined ? 0 : 1);
  return {
    total: Math.max(found.total, seen),
    pages: page,
    outcomes: [{ resource: buildEstimateOutcome(how), search: { mode: 'outcome' } }],
  };
}

function howEstimated({ sampled, bounded }: Estimate): string | undefined {
  if (bounded) return 'counting stopped at a limit, so there may be more matches';
  return sampled ? 'it was found from a sample of the resources that meet the most selective condition' : undefined;
}
