/**
 * Which files an export has. Planning is done by the requests that ask how far it is, a portion each: the caller spends its own
 * share, and where a process dies the next request goes on (docs/decisions/0306). Where a file ends depends on nothing but what
 * is shown in it.
 */
import { PraxisError } from '../base/errors.ts';
import type { InteractionContext } from '../engine/context.ts';
import {
  listTypesWithVersions,
  type MomentPage,
  readVersionsAt,
  type VersionAt,
  type VersionPlace,
} from '../storage/versions-at.ts';
import {
  type BulkExport,
  type ExportFile,
  type ExportPart,
  findFirstPlace,
  isPlanned,
  listParts,
  type Planned,
} from './bulk-export.ts';
import { type Inclusion, type Judge, openJudge, planningExport } from './judging.ts';
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
  const reading: Reading = { judges: new Map(), present, ahead: undefined };
  let isFirst = true;
  do {
    try {
      await planPage(context, begun, plan, reading);
    } catch (error) {
      await reading.ahead?.page.catch(() => undefined);
      // What the pages before have found is kept: the next request goes on with a budget of its own.
      if (isFirst || !(error instanceof PraxisError) || error.code !== 'too-costly') throw error;
      break;
    }
    isFirst = false;
  } while (!isPlanned({ ...begun, planned: plan.read() }) && performance.now() < untilMs);
  await reading.ahead?.page.catch(() => undefined);
  return await keepPlanned(context.store, context.scope, begun, plan.files, plan.read());
}

/** What pages of one request share. */
interface Reading {
  /** Types of which there are versions. */
  readonly present: ReadonlySet<string>;
  readonly judges: Map<number, Judge>;
  /** The page that comes next, which the database reads while that before is judged. */
  ahead: { readonly after: VersionPlace; readonly page: Promise<MomentPage> } | undefined;
}

/** Adds a page to the plan, or nothing of it. */
async function planPage(context: InteractionContext, begun: BulkExport, plan: Plan, reading: Reading): Promise<void> {
  const { asked, moment } = begun;
  const { judges, present, ahead } = reading;
  const { typeIndex, after } = plan.read();
  const part = listParts(asked)[typeIndex];
  if (part === undefined) throw new TypeError('all is planned');
  if (!present.has(part.type)) return plan.endType(part, findFirstPlace(asked));
  const judge = judges.get(typeIndex) ?? (await openJudge(context, begun, part));
  judges.set(typeIndex, judge);
  const wanted = { type: part.type, moment, after, sinceMs: asked.sinceMs, hasContent: judge.needsContent };
  const page = await (ahead?.after === after ? ahead.page : readVersionsAt(context.store, context.scope, wanted));
  reading.ahead = undefined;
  if (page.hasMore) {
    const next = readVersionsAt(context.store, context.scope, { ...wanted, after: page.end });
    next.catch(() => undefined); // told where it is awaited
    reading.ahead = { after: page.end, page: next };
  }
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
