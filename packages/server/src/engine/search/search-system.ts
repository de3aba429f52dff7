/**
 * search over several types at once (https://hl7.org/fhir/R4/http.html#vsearch): `GET /?_type=A,B&…`, `POST /_search`, and
 * inside a compartment, `GET /Patient/1/*?…` (docs/decisions/0138). Without `_sort` the types come one after another by
 * name, each in the order of its own search (docs/decisions/0107).
 */

import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { listSearchEntries } from '../../access/explain.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import { pageBytesMax } from '../../search/sql/page-bytes.ts';
import { planCount, planEstimate, type SearchTarget } from '../../search/sql/plan.ts';
import { countBytes, type PageRow } from '../../storage/store.ts';
import type { BundleEntry, BundleLink } from '../bundle-text.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { listResponse } from '../list-response.ts';
import { buildEstimateOutcome, buildWarningOutcome } from '../outcome.ts';
import { refuse } from '../rights/denials.ts';
import { matchEntries } from '../rights/disclosing.ts';
import { listCompartmentTypes } from './compartment.ts';
import { addCompleteness } from './completeness.ts';
import { buildIncludedEntries, requireIncludes } from './including.ts';
import { encodeQuery } from './search-links.ts';
import {
  openSystemPosition,
  readSystemCursorTime,
  type SystemPosition,
  sealSystemPosition,
} from './search-system-cursor.ts';
import { selectMergedPage } from './search-system-order.ts';
import { planSystemSearch, type SystemSearch } from './search-system-types.ts';
import { searchUnits } from './search-units.ts';
import { selectPage } from './select-page.ts';

const textTypes = 'Patient,Practitioner,Appointment,Encounter,Observation,Condition,Composition,DocumentReference';

export const searchSystem: Interaction = {
  worstCase: {
    because: 'many types, counted, with words that are everywhere',
    request: () => buildGetRequest(`?_type=${textTypes}&_content=the&_total=accurate&_count=1000`),
  },
  rateUnits: (asked) => 4 + searchUnits(asked),
  authorize({ policy }, { compartment }) {
    const types = compartment === undefined ? resourceTypesWithEndpoint : listCompartmentTypes(compartment.type);
    if (!types.some((type) => policy.allows(type, 's')))
      refuse({ policy }, 'Search of several types', listSearchEntries(types));
  },
  answer: addCompleteness(answer),
};

/** Rows of one page, in order, and where the next one begins. */
interface SystemPage {
  readonly rows: readonly PageRow[];
  readonly next: SystemPosition | undefined;
}

/**
 * A searchset Bundle; types that the caller may not search are left out, which an outcome and the self link tell.
 * @throws PraxisError `search-invalid`, `access-denied`, `cursor-invalid`, `statement-timeout`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const cursor = request.parameters.find(([name]) => name === '_cursor')?.[1];
  const startMs = cursor === undefined ? context.clock.now() : readSystemCursorTime(cursor);
  const search = await planSystemSearch(context, request, startMs);
  const { targets } = search;
  const [first] = targets;
  if (first === undefined) throw new TypeError('a search of several types has one at least');
  requireIncludes(context, first.query);
  if (targets.some(({ query }) => query.countOnly)) {
    const total = await countAll(context, targets);
    return listResponse(context, { type: 'searchset', total, links: links(context, search, undefined), entries: [] });
  }
  const start = search.cursor === undefined ? undefined : openSystemPosition(context, targets, startMs, search.cursor);
  const page =
    first.query.sort.length > 0 ? await inOneOrder(context, targets, start) : await walk(context, targets, start);
  const { total, outcomes } = await totalOf(context, request, search, page);
  const next = page.next && sealSystemPosition(context, targets, startMs, page.next);
  // Includes name the types that they lead from themselves, so those of one target are those of all.
  const included = await buildIncludedEntries(context, first.query, page.rows, request.parameters);
  const entries = [...(await matchEntries(context, request, page.rows)), ...included, ...outcomes, ...leftOut(search)];
  return listResponse(context, { type: 'searchset', total, links: links(context, search, next), entries });
}

/** One page of all types in the order of `_sort`; the position holds the last row. */
async function inOneOrder(
  context: InteractionContext,
  targets: readonly SearchTarget[],
  start: SystemPosition | undefined,
): Promise<SystemPage> {
  const from = start?.within === undefined ? undefined : { ...JSON.parse(start.within), type: start.type };
  const { rows, last } = await selectMergedPage(context, targets, from);
  if (last === undefined) return { rows, next: undefined };
  const { type, keys, rid } = last;
  return { rows, next: { type, within: JSON.stringify({ keys, rid }) } };
}

/** One page: what the types hold from the position on, until it is full. */
async function walk(
  context: InteractionContext,
  targets: readonly SearchTarget[],
  start: SystemPosition | undefined,
): Promise<SystemPage> {
  const rowsMax = Math.max(...targets.map(({ query }) => query.count));
  const rows: PageRow[] = [];
  let bytesLeft = pageBytesMax;
  let within = start?.within;
  for (const target of targets.filter(({ query }) => start === undefined || query.type >= start.type)) {
    const { query } = target;
    const room = bytesLeft > 0 ? rowsMax - rows.length : 0;
    // A full page asks on for one row, without its content, which tells whether there is a next one.
    const count = Math.min(query.count, Math.max(1, room));
    const asked = { ...target, query: { ...query, count, cursor: within } };
    const page = await selectPage(context, asked, room > 0 ? bytesLeft : 0);
    if (room > 0) rows.push(...page.rows);
    else if (page.rows.length > 0) return { rows, next: { type: query.type, within } };
    bytesLeft = Math.max(0, bytesLeft - countBytes(page.rows));
    if (page.next !== undefined) return { rows, next: { type: query.type, within: page.next.cursor } };
    within = undefined;
  }
  return { rows, next: undefined };
}

/** Said once, where the search begins. */
function leftOut({ leftOut: text, cursor }: SystemSearch): BundleEntry[] {
  if (text === undefined || cursor !== undefined) return [];
  return [{ resource: buildWarningOutcome('suppressed', text), search: { mode: 'outcome' } }];
}

interface Total {
  readonly total: number | undefined;
  readonly outcomes: readonly BundleEntry[];
}

/** As of the search of one type (search-total.ts), summed up. */
async function totalOf(
  context: InteractionContext,
  request: FhirRequest,
  { targets, cursor }: SystemSearch,
  page: SystemPage,
): Promise<Total> {
  const whole = cursor === undefined && page.next === undefined ? page.rows.length : undefined;
  const exact = async (): Promise<Total> => ({ total: whole ?? (await countAll(context, targets)), outcomes: [] });
  if (request.contentFlags?.has('Pagination_optimization_disabled')) return await exact();
  if (context.settings.totalOfPage) return { total: page.rows.length, outcomes: [] };
  const wish = targets[0]?.query.total;
  if (wish === 'none') return { total: undefined, outcomes: [] };
  if (wish === 'accurate') return await exact();
  if (wish === 'estimate' && whole === undefined) return await estimateAll(context, targets);
  return { total: whole, outcomes: [] };
}

async function countAll(context: InteractionContext, targets: readonly SearchTarget[]): Promise<number> {
  let total = 0;
  for (const target of targets) total += await context.store.selectCount(context.scope, planCount(target));
  return total;
}

async function estimateAll(context: InteractionContext, targets: readonly SearchTarget[]): Promise<Total> {
  let total = 0;
  let isExact = true;
  for (const target of targets) {
    const found = await context.store.selectEstimate(context.scope, planEstimate(target));
    total += found.total;
    isExact &&= !found.sampled && !found.bounded;
  }
  const how = 'it is the sum of what was estimated for each type';
  return { total, outcomes: isExact ? [] : [{ resource: buildEstimateOutcome(how), search: { mode: 'outcome' } }] };
}

/** @param next the sealed cursor of the next page */
function links(
  context: InteractionContext,
  { applied, path, cursor }: SystemSearch,
  next: string | undefined,
): BundleLink[] {
  const base = path === '' ? context.baseUrl : `${context.baseUrl}/${path}`;
  const linkTo = (position: string | undefined): string => {
    const query = encodeQuery(position === undefined ? applied : [...applied, ['_cursor', position]]);
    return `${base}${query === '' ? '' : `?${query}`}`;
  };
  const found: BundleLink[] = [{ relation: 'self', url: linkTo(cursor) }];
  if (cursor !== undefined || next !== undefined) found.push({ relation: 'first', url: linkTo(undefined) });
  if (next !== undefined) found.push({ relation: 'next', url: linkTo(next) });
  return found;
}
