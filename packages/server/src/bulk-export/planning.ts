/**
 * Which files an export has. Planning is done by the requests that ask how far it is, a portion each: the caller spends its own
 * share, and where a process dies the next request goes on (docs/decisions/0306). Where a file ends depends on nothing but what
 * is shown in it.
 */
import type { BudgetedWork } from '@praxis/fhir';
import { coversRow } from '../access/mask.ts';
import type { InteractionContext } from '../engine/context.ts';
import { compileCriterionTest } from '../engine/rights/disclosing.ts';
import { isInAnyCompartment } from '../engine/search/compartment.ts';
import type { StoredResource } from '../storage/resources.ts';
import { readVersionsAt, type VersionAt } from '../storage/versions-at.ts';
import {
  type AskedExport,
  type BulkExport,
  type ExportFile,
  findFirstPlace,
  isPlanned,
  type Planned,
} from './bulk-export.ts';
import { keepPlanned } from './store.ts';

type ExportContext = Pick<InteractionContext, 'store' | 'scope' | 'policy' | 'budget' | 'baseUrl'>;

/** Resources of a file, at most. */
const resourcesMax = 2_000;
/** Bytes of their stored contents, about. */
const bytesMax = 4 * 1024 * 1024;

/** How long one request plans, in ms, beside the page that it has begun. */
const planningMs = 1_000;

const planningExport: BudgetedWork = {
  what: 'The planning of the export',
  cheaper: 'export fewer types at once (_type)',
};

/** Whether a version is in the files: it is, it no longer is, or neither. */
type Judgement = 'shown' | 'gone' | undefined;

interface TypeRights {
  /** Whether that depends on the content. */
  readonly dependsOnContent: boolean;
  readonly isShown: (resource: StoredResource) => boolean;
}

function findTypeRights(context: ExportContext, { level }: AskedExport, type: string): TypeRights {
  const hasCriteria = context.policy.grants(type, 's').every(({ criteria }) => criteria.length > 0);
  const isOfPatients = level === 'patient' && type !== 'Patient';
  return {
    dependsOnContent: hasCriteria || isOfPatients,
    isShown(resource) {
      if (isOfPatients && !isInAnyCompartment(context, resource, 'Patient')) return false;
      return (
        !hasCriteria || coversRow(context.policy, 's', type, compileCriterionTest(context, type, resource.content))
      );
    },
  };
}

/** With `_since`, what was shown before and no longer is has gone. */
function judge({ dependsOnContent, isShown }: TypeRights, { resource, before }: VersionAt): Judgement {
  if (!dependsOnContent) return resource.deleted ? 'gone' : 'shown';
  if (!resource.deleted && isShown(resource)) return 'shown';
  return before !== undefined && isShown(before) ? 'gone' : undefined;
}

/**
 * Plans another portion and keeps it. True: it was kept, or there is nothing to plan; false: others plan at the same time, or the
 * export was removed.
 * @throws PraxisError `too-costly`
 */
export async function planPortion(context: ExportContext, begun: BulkExport): Promise<boolean> {
  if (isPlanned(begun)) return true;
  const untilMs = performance.now() + planningMs;
  const plan = openPlan(begun);
  do await planPage(context, begun, plan);
  while (!isPlanned({ ...begun, planned: plan.read() }) && performance.now() < untilMs);
  return await keepPlanned(context.store, context.scope, begun, plan.files, plan.read());
}

async function planPage(context: ExportContext, { asked, moment }: BulkExport, plan: Plan): Promise<void> {
  const { typeIndex, after } = plan.read();
  const type = asked.types[typeIndex] ?? '';
  const rights = findTypeRights(context, asked, type);
  const { sinceMs } = asked;
  const wanted = { type, moment, after, sinceMs, hasContent: rights.dependsOnContent };
  const page = await readVersionsAt(context.store, context.scope, wanted);
  for (const version of page.versions) {
    if (rights.dependsOnContent) await context.budget.breathe(planningExport);
    plan.add(type, version, judge(rights, version));
  }
  await context.budget.breathe(planningExport);
  if (page.hasMore) plan.moveTo(page.end);
  else plan.endType(type, findFirstPlace(asked));
}

type Plan = ReturnType<typeof openPlan>;

/** What is planned of an export, from where it stands. */
function openPlan({ planned }: BulkExport) {
  const files: ExportFile[] = [];
  let { files: count, typeIndex, after } = planned;
  let open = { keys: [...planned.open.keys], bytes: planned.open.bytes };
  let gone = [...planned.gone];
  const close = (type: string, content: ExportFile['content']): void => {
    count += 1;
    files.push({ number: count, type, content });
  };
  const closeOpen = (type: string): void => {
    if (open.keys.length > 0) close(type, { keys: open.keys });
    open = { keys: [], bytes: 0 };
  };
  const closeGone = (type: string): void => {
    if (gone.length > 0) close(type, { gone });
    gone = [];
  };
  return {
    /** Those that became complete. */
    files,
    read: (): Planned => ({ files: count, typeIndex, after, open, gone }),
    add(type: string, { resource: { id, versionId }, bytes }: VersionAt, judgement: Judgement): void {
      if (judgement === 'shown') {
        open.keys.push({ id, versionId });
        open.bytes += bytes;
        if (open.keys.length === resourcesMax || open.bytes >= bytesMax) closeOpen(type);
      }
      if (judgement === 'gone') {
        gone.push(id);
        if (gone.length === resourcesMax) closeGone(type);
      }
    },
    moveTo(place: Planned['after']): void {
      after = place;
    },
    endType(type: string, first: Planned['after']): void {
      closeOpen(type);
      closeGone(type);
      typeIndex += 1;
      after = first;
    },
  };
}
