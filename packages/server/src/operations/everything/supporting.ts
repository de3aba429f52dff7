/**
 * What supports the rows of a page: the practitioners, organizations, locations, medications and so on that they refer to.
 */

import type { InteractionContext } from '../../engine/context.ts';
import { findNamed, listLocalReferences } from '../../engine/read/linked-resources.ts';
import { discloseRows, pauseBetweenRows, type ShownRow } from '../../engine/rights/disclosing.ts';
import { findCompartmentScope, isInCompartment } from '../../engine/search/compartment.ts';
import { isSearchableBy } from '../../engine/search/compartment-types.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { EverythingParameters } from './parameters.ts';

/** References followed from a row, one after another: a role, its practitioner. */
const depthMax = 2;

/** Supporting resources of a page, at most. */
const supportingMax = 500;

/**
 * The resources that the shown rows refer to, and those that these refer to. What is in one of the compartments that the
 * page shows is left to its own place in the walk; what was not changed after `_since`, or is of a type that was not asked
 * for, is left out.
 */
export async function findSupportingRows(
  context: InteractionContext,
  asked: EverythingParameters,
  shown: readonly ShownRow[],
  compartments: readonly string[],
): Promise<readonly ShownRow[]> {
  const seen = new Set(shown.map(({ row }) => `${row.type}/${row.id}`));
  const supporting: ShownRow[] = [];
  let from = shown;
  for (let depth = 0; depth < depthMax && from.length > 0; depth += 1) {
    const names = new Set<string>();
    for (const { resource } of from) {
      await pauseBetweenRows(context);
      for (const name of listLocalReferences(context, resource)) if (!seen.has(name)) names.add(name);
    }
    const wanted = [...names].filter((name) => mayBeWanted(asked, name)).slice(0, supportingMax - supporting.length);
    for (const name of wanted) seen.add(name);
    const rows = (await findNamed(context, wanted)).filter((row) => !isInside(context, asked, row, compartments));
    from = await discloseRows(context, 's', rows, {});
    supporting.push(...from);
  }
  return supporting.filter(({ row }) => asked.types?.has(row.type) !== false && isNew(asked, row));
}

/** Other resources that have such compartments, other patients, come with their own record only. */
function mayBeWanted({ type }: EverythingParameters, name: string): boolean {
  return !(type === 'Patient' && name.startsWith('Patient/'));
}

function isNew({ since }: EverythingParameters, row: StoredResource): boolean {
  return since === undefined || row.lastUpdatedMs > Date.parse(since);
}

function isInside(
  context: InteractionContext,
  { type }: EverythingParameters,
  row: StoredResource,
  ids: readonly string[],
): boolean {
  const scope = findCompartmentScope(type, '', row.type);
  if (scope === undefined || !isSearchableBy(context, row.type, scope.codes)) return false;
  return ids.some((id) => isInCompartment(context, row, { ...scope, id }));
}
