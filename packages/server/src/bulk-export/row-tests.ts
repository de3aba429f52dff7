/** Whether a version of the moment is in an export by its content alone: by the rows that are open to the caller, and by whose it is. */
import { coversRow } from '../access/mask.ts';
import type { InteractionContext } from '../engine/context.ts';
import { findBinaryOwner } from '../engine/read/binary-owner.ts';
import { compileCriterionTest } from '../engine/rights/disclosing.ts';
import { listCompartmentOwners } from '../engine/search/compartment.ts';
import type { StoredResource } from '../storage/resources.ts';
import type { AskedExport, ExportPart } from './bulk-export.ts';

export type RowTest = (resource: StoredResource) => boolean;

/** Whether the caller may find it by a search; undefined: whatever its content. */
export function compileRightsTest(context: InteractionContext, type: string): RowTest | undefined {
  if (context.policy.grants(type, 's').some(({ criteria }) => criteria.length === 0)) return undefined;
  return ({ content }) => coversRow(context.policy, 's', type, compileCriterionTest(context, type, content));
}

/** Whether it belongs to those whose records are exported; undefined: whatever its content. */
export function compileOwnerTest(
  context: InteractionContext,
  asked: AskedExport,
  { type, asDocuments }: ExportPart,
): RowTest | undefined {
  if (type === 'Binary') return (resource) => isOfBinaryPart(context, resource, asked, asDocuments);
  if (asked.level === 'system' || (type === 'Patient' && asked.patients === undefined)) return undefined;
  const patients = asked.patients === undefined ? undefined : new Set(asked.patients);
  return (resource) => isOfSome(listCompartmentOwners(context, resource, 'Patient'), type, patients);
}

/**
 * Whether a Binary is told as what it is, since it belongs to nobody, or as a document. Exports of patients have those alone that
 * belong to a patient, and not to another resource.
 */
function isOfBinaryPart(
  context: InteractionContext,
  resource: StoredResource,
  { level, patients }: AskedExport,
  asDocuments: boolean,
): boolean {
  const owner = findBinaryOwner(context, resource);
  if (!asDocuments || owner === undefined) return asDocuments === (owner !== undefined);
  if (level === 'system') return true;
  const [type, id = ''] = owner.split('/');
  return type === 'Patient' && (patients?.includes(id) ?? true);
}

/**
 * Whether a resource in the compartments of these patients is in an export of `patients`; absent: of all. What patients share
 * is; a Group is only with all of its patients, since it tells nothing but who they are.
 */
function isOfSome(owners: readonly string[], type: string, patients: ReadonlySet<string> | undefined): boolean {
  if (patients === undefined) return owners.length > 0;
  return owners.some((id) => patients.has(id)) && (type !== 'Group' || owners.every((id) => patients.has(id)));
}
