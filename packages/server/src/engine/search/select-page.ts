/**
 * Pages of a planned search, read.
 */
import type { SearchParameters } from '../../search/query/query.ts';
import { planPage, type SearchPage, type SearchTarget } from '../../search/sql/plan.ts';
import type { PageRow } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';

type ReadingContext = Pick<InteractionContext, 'store' | 'scope'>;

/** The page of the search. @param bytesMax as of `planPage` @throws PraxisError `cursor-invalid`, `statement-timeout` */
export async function selectPage(
  { store, scope }: ReadingContext,
  target: SearchTarget,
  bytesMax?: number,
): Promise<SearchPage<PageRow>> {
  return await planPage(target, bytesMax).read((...page) => store.selectPage(scope, ...page));
}

/** The rows of all pages, page by page. @param plan plans the search with the parameters that tell where a page begins */
export async function* selectAllPages(
  context: ReadingContext,
  plan: (start: SearchParameters) => Promise<SearchTarget>,
  bytesMax?: number,
): AsyncGenerator<readonly PageRow[]> {
  let start: SearchParameters = [];
  do {
    const { rows, next } = await selectPage(context, await plan(start), bytesMax);
    yield rows;
    start = next === undefined ? [] : [['_cursor', next.cursor]];
  } while (start.length > 0);
}
