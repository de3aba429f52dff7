/**
 * search on AuditEvent: the audit ledger, newest first, then the AuditEvents of other systems that were imported, in the
 * order of any search. One result of two parts: a page may hold the end of the first and the beginning of the second.
 */
import { makeUuid } from '../../base/ids.ts';
import { planCount, type SearchTarget } from '../../search/sql/plan.ts';
import {
  isOfLedger,
  openLedgerCursor,
  sealLedgerCursor,
  selectLedgerCount,
  selectLedgerPage,
} from '../../storage/ledger-search.ts';
import type { PageRow } from '../../storage/store.ts';
import type { BundleEntry } from '../bundle-text.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from '../context.ts';
import { listResponse } from '../list-response.ts';
import { buildWarningOutcome } from '../outcome.ts';
import { matchEntries } from '../rights/disclosing.ts';
import { findRequestScope } from './compartment.ts';
import { buildIncludedEntries, requireIncludes } from './including.ts';
import { searchLinks } from './search-links.ts';
import { planSearch } from './searching.ts';
import { selectPage } from './select-page.ts';

interface LedgerPage {
  readonly ledger: readonly PageRow[];
  readonly stored: readonly PageRow[];
  /** The link to the next page. */
  readonly next: string | undefined;
  readonly page: number;
}

/**
 * A searchset Bundle, with `next` alone beside `self` and `first`.
 * @throws PraxisError `search-invalid`, `access-denied`, `cursor-invalid`, `page-too-deep`, `statement-timeout`
 */
export async function searchLedger(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const target = await planSearch(context, request.type, request.parameters, request.prefer, findRequestScope(request));
  const { query } = target;
  requireIncludes(context, query);
  if (query.countOnly) {
    const total = await countAll(context, target);
    return listResponse(context, {
      type: 'searchset',
      total,
      links: searchLinks(context, request, query),
      entries: [],
    });
  }
  const page = await pageOf(context, target);
  const included = await buildIncludedEntries(context, query, page.stored, request.parameters);
  const entries = [...(await matchEntries(context, request, [...page.ledger, ...page.stored])), ...included];
  if (query.includes.length > 0 && page.ledger.length > 0) entries.push(warning(notFollowed));
  if (!isOfLedger(target)) entries.push(warning(notAsked));
  const total = await totalOf(context, request, target, page);
  const next = page.next === undefined ? undefined : { cursor: page.next, page: page.page + 1 };
  const links = searchLinks(context, request, query, { previous: undefined, next });
  return listResponse(context, { type: 'searchset', total, links, entries });
}

async function pageOf(context: InteractionContext, target: SearchTarget): Promise<LedgerPage> {
  const { store, scope } = context;
  const { query } = target;
  if (!isOfLedger(target)) return await storedPage(context, target);
  const begin = query.cursor === undefined ? undefined : openLedgerCursor(target, query.cursor);
  if (query.cursor !== undefined && begin === undefined) return await storedPage(context, target);
  const { count, offset } = query;
  const stretch = { after: begin, offset, limit: count + 1 };
  const rows = await store.selectLedger(scope, selectLedgerPage(target, stretch));
  const ledger = rows.slice(0, count);
  const last = ledger.at(-1);
  const page = query.page ?? begin?.page ?? 1;
  if (rows.length > count && last !== undefined) {
    const next = sealLedgerCursor(target, { at: last.lastUpdatedMs, seq: last.rid }, page + 1);
    return { ledger, stored: [], next, page };
  }
  const beyond =
    ledger.length === 0 && offset > 0 ? offset - (await store.selectCount(scope, selectLedgerCount(target))) : 0;
  // A full page asks on for one row, which tells whether there is a next page.
  const room = Math.max(1, count - ledger.length);
  const rest = { ...query, cursor: undefined, page: undefined, count: room, offset: Math.max(0, beyond) };
  const found = await selectPage(context, { ...target, query: rest });
  if (ledger.length < count) return { ledger, stored: found.rows, next: found.next?.cursor, page };
  const next = found.rows.length > 0 && last !== undefined ? { at: last.lastUpdatedMs, seq: last.rid } : undefined;
  return { ledger, stored: [], next: next && sealLedgerCursor(target, next, page + 1), page };
}

async function storedPage(context: InteractionContext, target: SearchTarget): Promise<LedgerPage> {
  const { rows, next, page } = await selectPage(context, target);
  return { ledger: [], stored: rows, next: next?.cursor, page };
}

const notFollowed = 'The references of events of the ledger are not followed: read what they name';
const notAsked =
  'This search is asked of imported events alone: the ledger is not searched by chains, _has and _list, and sorted by date alone';

function warning(why: string): BundleEntry {
  return {
    fullUrl: `urn:uuid:${makeUuid()}`,
    resource: buildWarningOutcome('too-costly', why),
    search: { mode: 'outcome' },
  };
}

async function totalOf(
  context: InteractionContext,
  request: FhirRequest,
  target: SearchTarget,
  { ledger, stored, next }: LedgerPage,
): Promise<number | undefined> {
  const { query } = target;
  const rows = ledger.length + stored.length;
  const whole = query.cursor === undefined && next === undefined && query.offset === 0 ? rows : undefined;
  const exact = request.contentFlags?.has('Pagination_optimization_disabled');
  if (exact !== true && context.settings.totalOfPage) return rows;
  if (exact !== true && query.total === 'none') return undefined;
  if (whole !== undefined || (exact !== true && query.total === undefined)) return whole;
  return await countAll(context, target);
}

async function countAll({ store, scope }: InteractionContext, target: SearchTarget): Promise<number> {
  const ledger = isOfLedger(target) ? await store.selectCount(scope, selectLedgerCount(target)) : 0;
  return ledger + (await store.selectCount(scope, planCount(target)));
}
