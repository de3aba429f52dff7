/**
 * Whether versions are in an export: by the rows that the caller may search, by the patients whose compartments are asked for
 * (https://hl7.org/fhir/R4/compartmentdefinition-patient.html), and by the searches of `_typeFilter`. All of it is judged by the
 * versions of the moment, whatever was written since.
 */
import type { BudgetedWork } from '@praxis/fhir';
import { coversRow } from '../access/mask.ts';
import type { InteractionContext } from '../engine/context.ts';
import { compileCriterionTest } from '../engine/rights/disclosing.ts';
import { listCompartmentOwners } from '../engine/search/compartment.ts';
import { matchResources } from '../engine/search/match-resources.ts';
import type { SearchTarget } from '../search/sql/plan.ts';
import type { StoredResource } from '../storage/resources.ts';
import type { VersionAt } from '../storage/versions-at.ts';
import type { BulkExport } from './bulk-export.ts';
import { planFilter } from './type-filter.ts';

export const planningExport: BudgetedWork = {
  what: 'The planning of the export',
  cheaper: 'export fewer types at once (_type)',
};

/** Whether a version is in the files: it is, it no longer is, or neither. */
export type Inclusion = 'shown' | 'gone' | undefined;

/** Judges versions of one type. */
export interface Judge {
  /** Whether their contents decide. */
  readonly needsContent: boolean;
  /** The inclusion of each, in their order. @throws PraxisError `too-costly`, `stale-access` */
  readonly judge: (versions: readonly VersionAt[]) => Promise<readonly Inclusion[]>;
}

/** A judge of the versions of `type`. @throws PraxisError `search-invalid`, `access-denied` */
export async function openJudge(context: InteractionContext, begun: BulkExport, type: string): Promise<Judge> {
  const { asked } = begun;
  const hasCriteria = context.policy.grants(type, 's').every(({ criteria }) => criteria.length > 0);
  const isOfPatients = asked.level !== 'system' && (type !== 'Patient' || asked.patients !== undefined);
  const filters: SearchTarget[] = [];
  for (const filter of asked.filters?.[type] ?? [])
    filters.push(await planFilter(context, type, filter, begun.createdMs));
  const patients = asked.patients === undefined ? undefined : new Set(asked.patients);

  const isOpen = (resource: StoredResource): boolean => {
    if (isOfPatients && !isOfSome(listCompartmentOwners(context, resource, 'Patient'), type, patients)) return false;
    return !hasCriteria || coversRow(context.policy, 's', type, compileCriterionTest(context, type, resource.content));
  };
  const findShown = async (resources: readonly StoredResource[]): Promise<ReadonlySet<StoredResource>> => {
    const open: StoredResource[] = [];
    for (const resource of resources) {
      await context.budget.breathe(planningExport);
      if (isOpen(resource)) open.push(resource);
    }
    if (filters.length === 0) return new Set(open);
    const shown = new Set<StoredResource>();
    for (const filter of filters) {
      const found = await matchResources(context, filter, open);
      for (const [place, resource] of open.entries()) if (found[place] === true) shown.add(resource);
    }
    return shown;
  };
  if (!isOfPatients && !hasCriteria && filters.length === 0) return { needsContent: false, judge: judgeByDeletion };
  return {
    needsContent: true,
    judge: async (versions) => {
      const live = versions.flatMap(({ resource, before = resource }) => [resource, before]).filter(isLive);
      const shown = await findShown([...new Set(live)]);
      return versions.map(({ resource, before }) => {
        if (shown.has(resource)) return 'shown';
        return before !== undefined && shown.has(before) ? 'gone' : undefined;
      });
    },
  };
}

/**
 * Whether a resource in the compartments of these patients is in an export of `patients`; absent: of all. What patients share
 * is; a Group is only with all of its patients, since it tells nothing but who they are.
 */
function isOfSome(owners: readonly string[], type: string, patients: ReadonlySet<string> | undefined): boolean {
  if (patients === undefined) return owners.length > 0;
  return owners.some((id) => patients.has(id)) && (type !== 'Group' || owners.every((id) => patients.has(id)));
}

function isLive({ deleted }: StoredResource): boolean {
  return !deleted;
}

async function judgeByDeletion(versions: readonly VersionAt[]): Promise<readonly Inclusion[]> {
  return versions.map(({ resource }) => (resource.deleted ? 'gone' : 'shown'));
}
