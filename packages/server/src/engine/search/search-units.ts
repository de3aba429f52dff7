/**
 * What a search counts against the rate limits for what it wants to be told beside a page (docs/decisions/0168, 0209).
 */
import { getPageRowsMax } from '../../search/resource-types.ts';
import type { RatedRequest } from '../context.ts';
import { listHooks } from '../hooks.ts';

/** Rows before the page that `page=N` asks for that cost a unit: the database passes over them. */
const passedRowsPerUnit = 500;

/** What passing over rows costs at most; where the limit of `page=N` is higher, it is by the will of the operator. */
const passedUnitsMax = 20;

/** Rate units of a search, beside the one that every request counts. */
export function searchUnits(asked: RatedRequest): number {
  const { type, parameters, contentFlags } = asked;
  const given = new Map(parameters);
  const isCounted =
    given.get('_total') === 'accurate' ||
    given.get('_summary') === 'count' ||
    Number(given.get('_count')) === 0 ||
    contentFlags?.has('Pagination_optimization_disabled') === true;
  const added = listHooks('decorateUnits', type).reduce((sum, hook) => sum + hook(asked), 0);
  return Number(isCounted) + added + unitsOfPassing(type, given);
}

/** With a cursor beside it, the number of a page is not what it is found by. */
function unitsOfPassing(type: string, given: ReadonlyMap<string, string>): number {
  const page = Number(given.get('page') ?? 1);
  if (given.has('_cursor') || !(page > 1)) return 0;
  const rowsMax = getPageRowsMax(type);
  const rows = Math.min(Number(given.get('_count') ?? rowsMax) || rowsMax, rowsMax);
  return Math.min(Math.floor(((page - 1) * rows) / passedRowsPerUnit), passedUnitsMax);
}
