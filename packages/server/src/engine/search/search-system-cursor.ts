/**
 * Where the next page of a search over several types begins, as a text in its link: the type, and the cursor of the search
 * inside it. Sealed and bound like other cursors (search/sql/cursor.ts).
 */
import { fail } from '../../base/errors.ts';
import type { SearchTarget } from '../../search/sql/plan.ts';
import type { InteractionContext } from '../context.ts';

export interface SystemPosition {
  readonly type: string;
  /** The cursor inside the type, absent: its first row; with `_sort`, keys and number of the last row, which is of the type. */
  readonly within: string | undefined;
}

const cursorPattern = /^([0-9a-z]{1,9})\.([A-Za-z0-9_-]+)$/;
const base = 36;

/** Longest cursor that is looked at: it holds one of a type's search, which is at most 12,000 characters long. */
const cursorLengthMax = 17_000;

/** The sealed position, behind the moment of the first page. */
export function sealSystemPosition(
  context: InteractionContext,
  targets: readonly SearchTarget[],
  startMs: number,
  position: SystemPosition,
): string {
  const plain = Buffer.from(JSON.stringify([position.type, position.within ?? null]));
  const sealed = context.secrets.sealText('page-link', plain, bindingOf(context, targets, startMs));
  return `${startMs.toString(base)}.${sealed}`;
}

/**
 * The moment of the first page, which says what "now" means in the search.
 * @throws PraxisError `cursor-invalid` when the text is no cursor
 */
export function readSystemCursorTime(cursor: string): number {
  return Number.parseInt(partsOf(cursor).time, base);
}

/**
 * What was sealed.
 * @throws PraxisError `cursor-invalid`: altered, or made for another caller, firm, policy or search
 */
export function openSystemPosition(
  context: InteractionContext,
  targets: readonly SearchTarget[],
  startMs: number,
  cursor: string,
): SystemPosition {
  const { sealed } = partsOf(cursor);
  const plain = context.secrets.openText('page-link', sealed, bindingOf(context, targets, startMs));
  if (plain === undefined) return refuseCursor();
  const [type, within]: [string, string | null] = JSON.parse(plain.toString());
  return { type, within: within ?? undefined };
}

function partsOf(cursor: string): { readonly time: string; readonly sealed: string } {
  const [, time, sealed] = cursor.length <= cursorLengthMax ? (cursorPattern.exec(cursor) ?? []) : [];
  return time === undefined || sealed === undefined ? refuseCursor() : { time, sealed };
}

function bindingOf({ scope, policy }: InteractionContext, targets: readonly SearchTarget[], startMs: number): string {
  const canonical = targets.map(({ query }) => query.canonical);
  return JSON.stringify(['system', scope.firm, scope.application, policy.fingerprint, canonical, startMs]);
}

function refuseCursor(): never {
  return fail('cursor-invalid', {
    diagnostics:
      '_cursor belongs to another search or caller, or was altered: follow next links as they are, or begin again without it',
    expression: ['_cursor'],
  });
}
