/** Which resources of a batch the database refuses. */
import type { ResourceWrite } from '../../storage/store.ts';
import { type Loader, withRights } from './loader.ts';
import { getResourceName, type ImportItem, type PlannedItem } from './plan-batch.ts';
import { describeProblem, type ImportProblem } from './problem.ts';
import { isConflict, isRefusedValue } from './refusals.ts';

interface Refused {
  readonly item: ImportItem;
  readonly problem: ImportProblem;
}

/** Nothing that was tried is to stay. */
class Undone extends Error {}

/** Those whose values the database refuses, searched out by halving. Nothing is stored. */
export async function findRefused(loader: Loader, items: readonly PlannedItem[]): Promise<readonly Refused[]> {
  const bases = new Map<string, number>();
  for (const { item, write } of items) {
    const name = getResourceName(item);
    if (!bases.has(name)) bases.set(name, write.expectedVersion);
  }
  return await search(loader, items, bases);
}

/** @param bases the version that is there, of each resource */
async function search(
  loader: Loader,
  items: readonly PlannedItem[],
  bases: ReadonlyMap<string, number>,
): Promise<readonly Refused[]> {
  try {
    await withRights(loader, ({ scope }) =>
      loader.platform.store.transaction(scope, async (inside) => {
        if (items.length > 0) await inside.writeMany(scope, renumber(items, bases));
        throw new Undone();
      }),
    );
  } catch (error) {
    if (error instanceof Undone || isConflict(error)) return [];
    if (!isRefusedValue(error) || !(error instanceof Error)) throw error;
    const [only] = items;
    if (only !== undefined && items.length === 1)
      return [{ item: only.item, problem: describeProblem(only.item.origin, 'resource-invalid', error.message) }];
  }
  const middle = items.length >> 1;
  const first = await search(loader, items.slice(0, middle), bases);
  return [...first, ...(await search(loader, items.slice(middle), bases))];
}

/** Each on top of that before it in the list, since those that are left out are not there. */
function renumber(items: readonly PlannedItem[], bases: ReadonlyMap<string, number>): readonly ResourceWrite[] {
  const next = new Map(bases);
  return items.map(({ item, write }) => {
    const name = getResourceName(item);
    const expectedVersion = next.get(name) ?? write.expectedVersion;
    next.set(name, expectedVersion + 1);
    return { ...write, expectedVersion };
  });
}
