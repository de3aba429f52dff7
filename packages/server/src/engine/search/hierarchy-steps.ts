/**
 * Steps of a hierarchy of resources (search/query/hierarchies.ts), each a search with the caller's rights: what the caller may not
 * search is no step.
 */
import type { HierarchySource } from '../../search/query/hierarchies.ts';
import type { InteractionContext } from '../context.ts';
import type { Plan } from './firm-terminology.ts';
import { selectAllPages } from './select-page.ts';

/** @param plan plans a search with the caller's rights: `planSearch`, which uses this in turn */
export function openHierarchySource(context: InteractionContext, plan: Plan): HierarchySource {
  return {
    async step({ type, code }, modifier, ids) {
      const names = ids.map((id) => (modifier === 'below' ? `${type}/${id}` : id));
      const name = modifier === 'below' ? code : `_has:${type}:${code}:_id`;
      const found: string[] = [];
      for (let from = 0; from < names.length; from += context.limits.searchValuesMax) {
        const asked = [name, names.slice(from, from + context.limits.searchValuesMax).join(',')] as const;
        const pages = selectAllPages(context, (start) => plan(type, [asked, ...start]), 0);
        for await (const rows of pages) found.push(...rows.map(({ id }) => id));
      }
      return found;
    },
  };
}
