/**
 * Interactions that depend on what a search finds (https://hl7.org/fhir/R4/http.html#ccreate, #cond-update, #cdelete).
 * They need `s` beside their own letter, and run one after another where they ask the same: of many identical conditional
 * creates exactly one creates.
 */
import { fail } from '../../base/errors.ts';
import type { SearchParameters } from '../../search/query/query.ts';
import { refuseValue } from '../../search/query/search-values.ts';
import { planPage, type SearchTarget } from '../../search/sql/plan.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';
import { requireGrants } from '../rights/denials.ts';
import { planSearch, strictly } from '../search/searching.ts';

/** Two rows tell "one" from "many"; no more are looked at. */
const rowsMax = '2';

const resultParameters: ReadonlySet<string> = new Set([
  '_sort',
  '_count',
  '_total',
  '_summary',
  '_elements',
  'page',
  '_cursor',
  '_include',
  '_revinclude',
]);

/**
 * Runs `work` with the one resource of `type` that matches the criteria, or undefined when none does, inside a transaction
 * that no other conditional interaction with the same criteria enters meanwhile. `work` may run again after a deadlock.
 * @throws PraxisError `precondition-failed` when several match, `search-invalid` for missing or unknown criteria,
 *   `access-denied`
 */
export async function withMatch<T>(
  context: InteractionContext,
  type: string,
  criteria: SearchParameters,
  work: (context: InteractionContext, match: StoredResource | undefined) => Promise<T>,
): Promise<T> {
  const target = await planMatch(context, type, criteria);
  const statement = planPage(target, Number.POSITIVE_INFINITY).buildStatement(); // of two rows at most
  return await context.store.exclusively(context.scope, target.query.canonical, async (store) => {
    const [match, ...others] = await store.selectPage(context.scope, statement);
    if (others.length > 0) {
      fail('precondition-failed', {
        diagnostics: `Several ${type} resources match the criteria: narrow them until one at most does`,
      });
    }
    return await work({ ...context, store }, match);
  });
}

/**
 * The resources of `type` that match the criteria, two at most: enough to tell "one" from "many".
 * @throws PraxisError `search-invalid` for missing or unknown criteria, `access-denied`
 */
export async function findMatches(
  context: InteractionContext,
  type: string,
  criteria: SearchParameters,
): Promise<readonly StoredResource[]> {
  const page = planPage(await planMatch(context, type, criteria), Number.POSITIVE_INFINITY);
  return await context.store.selectPage(context.scope, page.buildStatement(), page.readsFew);
}

async function planMatch(context: InteractionContext, type: string, criteria: SearchParameters): Promise<SearchTarget> {
  requireGrants(context, type, 's');
  const parameters: SearchParameters = [...requireCriteria(criteria), ['_count', rowsMax]];
  return await planSearch(context, type, parameters, strictly);
}

/** The criteria without what only concerns answers; at least one must be left, else every resource would match. */
function requireCriteria(criteria: SearchParameters): SearchParameters {
  const conditions = criteria.filter(([name]) => name !== '_format' && name !== '_pretty');
  const result = conditions.find(([name]) => resultParameters.has(name.split(':')[0] ?? ''));
  if (result !== undefined) refuseValue(result[0], 'says how results are shown and is no criterion');
  if (conditions.length === 0)
    fail('search-invalid', { diagnostics: 'The criteria are missing: without any, every resource would match' });
  return conditions;
}
