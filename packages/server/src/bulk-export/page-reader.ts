/**
 * Reads the pages of one portion of planning, some of them ahead: the next one of the type that is planned, and the first ones of the
 * type behind it. So the database is asked for two pages at a time, and not for all of one type before those of the next.
 */
import type { InteractionContext } from '../engine/context.ts';
import { type MomentPage, readVersionsAt, type VersionPlace } from '../storage/versions-at.ts';
import { type BulkExport, findFirstPlace, listParts } from './bulk-export.ts';
import { type Judge, openJudge } from './judging.ts';

/** Pages of the type behind that are read ahead, at most: without contents, or with. */
const aheadMax = { withContent: 1, without: 4 };

export interface PageReader {
  /** The judge of a part, by its position in `listParts`. @throws PraxisError as `openJudge` */
  judgeOf(part: number): Promise<Judge>;
  /** The page of a part behind a place; each once. @throws PraxisError `stale-access`, `too-costly` */
  take(part: number, after: VersionPlace): Promise<MomentPage>;
  /** Resolves when nothing is read any more. */
  close(): Promise<void>;
}

/** @param present types of which there are versions */
export function openPageReader(
  context: InteractionContext,
  begun: BulkExport,
  present: ReadonlySet<string>,
): PageReader {
  const { asked, moment } = begun;
  const parts = listParts(asked);
  const judges = new Map<number, Promise<Judge>>();
  const started = new Set<string>();
  const ahead = new Map<string, Promise<MomentPage>>();
  const lanes = new Map<number, Promise<void>>();
  let isClosed = false;

  const judgeOf = (number: number): Promise<Judge> => {
    const known = judges.get(number);
    if (known !== undefined) return known;
    const part = parts[number];
    if (part === undefined) throw new TypeError(`there is no part ${number}`);
    const judge = openJudge(context, begun, part);
    judge.catch(() => undefined); // told where it is awaited
    judges.set(number, judge);
    return judge;
  };
  const read = async (number: number, after: VersionPlace): Promise<MomentPage> => {
    const { needsContent: hasContent } = await judgeOf(number);
    const type = parts[number]?.type ?? '';
    return await readVersionsAt(context.store, context.scope, {
      type,
      moment,
      after,
      sinceMs: asked.sinceMs,
      hasContent,
    });
  };
  /** The page, which is read from now on; undefined: it was taken. */
  const start = (number: number, after: VersionPlace): Promise<MomentPage> | undefined => {
    const key = keyOf(number, after);
    if (started.has(key)) return ahead.get(key);
    started.add(key);
    const page = read(number, after);
    page.catch(() => undefined); // told where it is taken
    ahead.set(key, page);
    return page;
  };
  const readFirst = async (number: number): Promise<void> => {
    const { needsContent } = await judgeOf(number);
    let after = findFirstPlace(asked);
    for (let pages = needsContent ? aheadMax.withContent : aheadMax.without; pages > 0 && !isClosed; pages -= 1) {
      const page = await start(number, after);
      if (page?.hasMore !== true) return;
      after = page.end;
    }
  };
  const readBehind = (number: number): void => {
    const next = parts.findIndex(({ type }, at) => at > number && present.has(type));
    if (next < 0 || lanes.has(next)) return;
    lanes.set(
      next,
      readFirst(next).catch(() => undefined), // told where the page is taken
    );
  };
  return {
    judgeOf,
    async take(number, after) {
      const taken = start(number, after);
      if (taken === undefined) throw new TypeError('a page is taken once');
      readBehind(number);
      const page = await taken;
      ahead.delete(keyOf(number, after));
      if (page.hasMore) void start(number, page.end);
      return page;
    },
    async close() {
      isClosed = true;
      await Promise.allSettled([...lanes.values(), ...ahead.values()]);
    },
  };
}

function keyOf(number: number, { lastUpdatedMs, seq }: VersionPlace): string {
  return `${number} ${lastUpdatedMs} ${seq}`;
}
