/**
 * Steps of a hierarchy of resources (search/query/hierarchies.ts), each a search with the caller's rights: what the caller may not
 * search is no step.
 */
import type { HierarchySource } from '../../search/query/hierarchies.ts';
import { planPage } from '../../search/sql/plan.ts';
import type { InteractionContext } from '../context.ts';
import type { Plan } from './firm-terminology.ts';

/**
 * @param plan plans a search with the caller's rights: `planSearch`, which uses this in turn
 */
export function openHierarchySource(context: InteractionContext, plan: Plan): HierarchySource {
  const idsOf = async (type: string, criterion: readonly [string, string]): Promise<string[]> => {
    const ids: string[] = [];
    let start: readonly (readonly [string, string])[] = [];
    do {
      const planned = planPage(await plan(type, [criterion, ...start]), 0);
      const { rows, next } = planned.cut(await context.store.selectPage(context.scope, planned.statement));
      ids.push(...rows.map(({ id }) => id));
      start = next === undefined ? [] : [['_cursor', next.cursor]];
    } while (start.length > 0);
    return ids;
  };
  return {
    async step({ type, code }, modifier, ids) {
      const names = ids.map((id) => (modifier === 'below' ? `${type}/${id}` : id));
      const name = modifier === 'below' ? code : `_has:${type}:${code}:_id`;
      const found: string[] = [];
      for (let from = 0; from < names.length; from += context.limits.searchValuesMax) {
        const asked = names.slice(from, from + context.limits.searchValuesMax).join(',');
        found.push(...(await idsOf(type, [name, asked])));
      }
      return found;
    },
  };
}
