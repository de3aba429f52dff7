/**
 * Which files an export has. Planning is done by the requests that ask how far it is, a portion each: the caller spends its own
 * share, and where a process dies the next request goes on (docs/decisions/0306). Where a file ends depends on nothing but what
 * is shown in it.
 */
import { PraxisError } from '../base/errors.ts';
import type { InteractionContext } from '../engine/context.ts';
import { listTypesWithVersions, type VersionAt } from '../storage/versions-at.ts';
import {
  type BulkExport,
  type ExportFile,
  type ExportPart,
  findFirstPlace,
  isPlanned,
  listParts,
  type Planned,
} from './bulk-export.ts';
import { type Inclusion, planningExport } from './judging.ts';
import { openPageReader, type PageReader } from './page-reader.ts';
import { keepPlanned } from './store.ts';

/** Resources of a file, at most. */
const resourcesMax = 2_000;
/** Bytes of their stored contents, about. */
const bytesMax = 4 * 1024 * 1024;

/** How long one request plans, in ms, beside the page that it has begun. */
const planningMs = 1_000;

/**
 * Plans another portion and keeps it. True: it was kept, or there is nothing to plan; false: others plan at the same time, or the
 * export was removed.
 * @throws PraxisError `too-costly` where a single page costs more than a request may
 */
export async function planPortion(context: InteractionContext, begun: BulkExport): Promise<boolean> {
  if (isPlanned(begun)) return true;
  const untilMs = performance.now() + planningMs;
  const plan = openPlan(begun);
  const { typeIndex } = begun.planned;
  const types = listParts(begun.asked).slice(typeIndex);
  // Most types are rare: they need no page of their own to be found empty.
  const present = await listTypesWithVersions(context.store, context.scope, [
    ...new Set(types.map(({ type }) => type)),
  ]);
  const reader = openPageReader(context, begun, present);
  let isFirst = true;
  try {
    do {
      await planPage(context, begun, plan, present, reader);
      isFirst = false;
    } while (!isPlanned({ ...begun, planned: plan.read() }) && performance.now() < untilMs);
  } catch (error) {
    // What the pages before have found is kept: the next request goes on with a budget of its own.
    if (isFirst || !(error instanceof PraxisError) || error.code !== 'too-costly') throw error;
  } finally {
    await reader.close();
  }
  return await keepPlanned(context.store, context.scope, begun, plan.files, plan.read());
}

/** Adds a page to the plan, or nothing of it. @param present types of which there are versions */
async function planPage(
  context: InteractionContext,
  { asked }: BulkExport,
  plan: Plan,
  present: ReadonlySet<string>,
  reader: PageReader,
): Promise<void> {
  const { typeIndex, after } = plan.read();
  const part = listParts(asked)[typeIndex];
  if (part === undefined) throw new TypeError('all is planned');
  if (!present.has(part.type)) return plan.endType(part, findFirstPlace(asked));
  const judge = await reader.judgeOf(typeIndex);
  const page = await reader.take(typeIndex, after);
  const inclusions = await judge.judge(page.versions);
  await context.budget.breathe(planningExport);
  for (const [place, version] of page.versions.entries()) plan.add(part, version, inclusions[place]);
  if (page.hasMore) plan.moveTo(page.end);
  else plan.endType(part, findFirstPlace(asked));
}

type Plan = ReturnType<typeof openPlan>;

/** What is planned of an export, from where it stands. */
function openPlan({ planned }: BulkExport) {
  const files: ExportFile[] = [];
  let { files: count, typeIndex, after } = planned;
  let open = { keys: [...planned.open.keys], bytes: planned.open.bytes };
  let gone = [...planned.gone];
  const close = (part: ExportPart, content: ExportFile['content']): void => {
    count += 1;
    files.push({ number: count, ...part, content });
  };
  const closeOpen = (part: ExportPart): void => {
    if (open.keys.length > 0) close(part, { keys: open.keys });
    open = { keys: [], bytes: 0 };
  };
  const closeGone = (part: ExportPart): void => {
    if (gone.length > 0) close(part, { gone });
    gone = [];
  };
  return {
    /** Those that became complete. */
    files,
    read: (): Planned => ({ files: count, typeIndex, after, open, gone }),
    add(part: ExportPart, { resource: { id, versionId }, bytes }: VersionAt, inclusion: Inclusion): void {
      if (inclusion === 'shown') {
        open.keys.push({ id, versionId });
        open.bytes += bytes;
        if (open.keys.length === resourcesMax || open.bytes >= bytesMax) closeOpen(part);
      }
      if (inclusion === 'gone') {
        gone.push(id);
        if (gone.length === resourcesMax) closeGone(part);
      }
    },
    moveTo(place: Planned['after']): void {
      after = place;
    },
    endType(part: ExportPart, first: Planned['after']): void {
      closeOpen(part);
      closeGone(part);
      typeIndex += 1;
      after = first;
    },
  };
}
