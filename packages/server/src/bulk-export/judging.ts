/**
 * Whether versions are in an export: by the rows that the caller may search, by the patients whose compartments are asked for
 * (https://hl7.org/fhir/R4/compartmentdefinition-patient.html), and by the searches of `_typeFilter`. All of it is judged by the
 * versions of the moment, whatever was written since.
 */
import type { BudgetedWork } from '@praxis/fhir';
import type { InteractionContext } from '../engine/context.ts';
import { matchResources } from '../engine/search/match-resources.ts';
import type { SearchTarget } from '../search/sql/plan.ts';
import type { StoredResource } from '../storage/resources.ts';
import type { VersionAt } from '../storage/versions-at.ts';
import type { BulkExport, ExportPart } from './bulk-export.ts';
import { findProvenance } from './provenance.ts';
import { compileOwnerTest, compileRightsTest, type RowTest } from './row-tests.ts';
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

/** A judge of the versions of a part. @throws PraxisError `search-invalid`, `access-denied` */
export async function openJudge(context: InteractionContext, begun: BulkExport, part: ExportPart): Promise<Judge> {
  const rightsTest = compileRightsTest(context, part.type);
  const ownerTest = compileOwnerTest(context, begun.asked, part);
  const filters: SearchTarget[] = [];
  for (const filter of begun.asked.filters?.[part.type] ?? [])
    filters.push(await planFilter(context, part.type, filter, begun.createdMs));
  if (rightsTest === undefined && ownerTest === undefined && filters.length === 0)
    return { needsContent: false, judge: judgeByDeletion };

  const findShown = async (resources: readonly StoredResource[]): Promise<ReadonlySet<StoredResource>> => {
    const [open, ofOthers] = await partition(context, resources, rightsTest, ownerTest);
    const ofPatients = part.type === 'Provenance' ? await findProvenance(context, begun, ofOthers) : [];
    return await findFiltered(context, filters, [...open, ...ofPatients]);
  };
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

/** Of those that are open to the caller, those that belong to the export, and the others. */
async function partition(
  context: InteractionContext,
  resources: readonly StoredResource[],
  rightsTest: RowTest | undefined,
  ownerTest: RowTest | undefined,
): Promise<readonly [open: readonly StoredResource[], ofOthers: readonly StoredResource[]]> {
  const open: StoredResource[] = [];
  const ofOthers: StoredResource[] = [];
  for (const resource of resources) {
    await context.budget.breathe(planningExport);
    if (rightsTest?.(resource) === false) continue;
    (ownerTest?.(resource) === false ? ofOthers : open).push(resource);
  }
  return [open, ofOthers];
}

/** Those that one of the filters finds; all where there is none. */
async function findFiltered(
  context: InteractionContext,
  filters: readonly SearchTarget[],
  open: readonly StoredResource[],
): Promise<ReadonlySet<StoredResource>> {
  if (filters.length === 0) return new Set(open);
  const shown = new Set<StoredResource>();
  for (const filter of filters) {
    const found = await matchResources(context, filter, open);
    for (const [place, resource] of open.entries()) if (found[place] === true) shown.add(resource);
  }
  return shown;
}

function isLive({ deleted }: StoredResource): boolean {
  return !deleted;
}

async function judgeByDeletion(versions: readonly VersionAt[]): Promise<readonly Inclusion[]> {
  return versions.map(({ resource }) => (resource.deleted ? 'gone' : 'shown'));
}
