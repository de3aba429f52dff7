/**
 * Provenance of what belongs to patients: R4 has Provenance in the compartment of a patient only where the patient itself is the
 * target; exports of patients have that of all their records (https://hl7.org/fhir/uv/bulkdata/export.html#query-parameters).
 */
import type { InteractionContext } from '../engine/context.ts';
import { listCompartmentTypes, listTargets } from '../engine/search/compartment.ts';
import { findUsableScope, isSearchableBy } from '../engine/search/compartment-types.ts';
import type { StoredResource } from '../storage/resources.ts';
import { readLastAt } from '../storage/versions-at.ts';
import type { BulkExport } from './bulk-export.ts';
import { compileOwnerTest, compileRightsTest } from './row-tests.ts';

/** Targets that are read at once. */
const targetsAtOnce = 50;

/**
 * Those of which a target, as it was at the moment of the export, belongs to those whose records are exported. The caller may
 * search both by what links them: that they belong together must not be told otherwise.
 */
export async function findProvenance(
  context: InteractionContext,
  begun: BulkExport,
  provenance: readonly StoredResource[],
): Promise<readonly StoredResource[]> {
  if (provenance.length === 0 || !isSearchableBy(context, 'Provenance', ['target'])) return [];
  const targets = new Map(provenance.map((each) => [each, listTargets(context, each, 'target')]));
  const idsByType = new Map<string, Set<string>>();
  for (const { type, id } of [...targets.values()].flat())
    idsByType.set(type, (idsByType.get(type) ?? new Set()).add(id));
  const found = new Set<string>();
  for (const [type, ids] of idsByType) {
    if (!isOpen(context, type)) continue;
    for (const id of await findOwned(context, begun, type, [...ids])) found.add(`${type}/${id}`);
  }
  return provenance.filter((each) => targets.get(each)?.some(({ type, id }) => found.has(`${type}/${id}`)));
}

const inCompartment: ReadonlySet<string> = new Set(listCompartmentTypes('Patient'));

/** Of patients themselves the compartment tells. */
function isOpen(context: InteractionContext, type: string): boolean {
  if (type === 'Patient' || !inCompartment.has(type)) return false;
  return findUsableScope(context, { type: 'Patient', id: 'any' }, type) !== undefined;
}

/** Ids of those that belong to the patients of the export and that the caller may see. */
async function findOwned(
  context: InteractionContext,
  { asked, moment }: BulkExport,
  type: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rightsTest = compileRightsTest(context, type);
  const ownerTest = compileOwnerTest(context, asked, { type, asDocuments: false });
  const owned: string[] = [];
  for (let first = 0; first < ids.length; first += targetsAtOnce) {
    const some = ids.slice(first, first + targetsAtOnce);
    const rows = await readLastAt(context.store, context.scope, moment, type, some);
    const isOwned = (row: StoredResource): boolean => rightsTest?.(row) !== false && ownerTest?.(row) !== false;
    owned.push(...rows.filter(isOwned).map(({ id }) => id));
  }
  return owned;
}
