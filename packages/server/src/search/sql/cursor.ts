/**
 * Where another page begins, as a text in its link. It is sealed: only this server reads it, and only for the same
 * firm, application, access policy and search. It holds values of sort keys, which may be personal data.
 */
import { fail } from '../../base/errors.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { Direction, RowPlace } from './keyset.ts';

export interface Cursor {
  /** Forward: the page begins after the row; backward: it ends before it. */
  readonly direction: Direction;
  /** Absent: the beginning of the result, or backward its end. */
  readonly row: RowPlace | undefined;
  /** Number of the page. */
  readonly page: number;
  /** Rows of the page, where they are fewer than asked for: the last page holds what full ones before it leave over. */
  readonly rowsMax: number | undefined;
}

/** To whom and for what a cursor is given. */
export interface CursorBinding {
  readonly firm: number;
  readonly application: number;
  readonly policyFingerprint: string;
  /** `SearchQuery.canonical`. */
  readonly canonical: string;
  /** `SearchQuery.nowMs`: legible in the cursor, since values are read by it before the cursor can be opened. */
  readonly nowMs: number;
}

const cursorPattern = /^([0-9a-z]{1,9})\.([A-Za-z0-9_-]+)$/;
const base = 36;

/** Raised with the form of what is sealed, and when a search comes in another order: older links are refused, not misread. */
const cursorForm = 4;

/** Longest cursor that is looked at: keys are at most 1,000 bytes each. */
const cursorLengthMax = 12_000;

/** The sealed cursor, in characters that need no percent-encoding. */
export function sealCursor(secrets: Secrets, cursor: Cursor, binding: CursorBinding): string {
  const plain = Buffer.from(JSON.stringify(cursor));
  const sealed = secrets.sealText('page-link', plain, contextOf(binding));
  return `${binding.nowMs.toString(base)}.${sealed}`;
}

/**
 * The moment of the first page of the search.
 * @throws PraxisError `cursor-invalid` when the text is no cursor
 */
export function readCursorTime(text: string): number {
  return Number.parseInt(partsOf(text).time, base);
}

/**
 * What was sealed.
 * @throws PraxisError `cursor-invalid`: altered, or made for another caller, firm, policy or search
 */
export function openCursor(secrets: Secrets, text: string, binding: CursorBinding): Cursor {
  const plain = secrets.openText('page-link', partsOf(text).sealed, contextOf(binding));
  if (plain === undefined) return refuseCursor();
  const cursor: Cursor = JSON.parse(plain.toString());
  return { direction: cursor.direction, row: cursor.row, page: cursor.page, rowsMax: cursor.rowsMax };
}

function partsOf(text: string): { readonly time: string; readonly sealed: string } {
  const [, time, sealed] = text.length <= cursorLengthMax ? (cursorPattern.exec(text) ?? []) : [];
  return time === undefined || sealed === undefined ? refuseCursor() : { time, sealed };
}

function contextOf({ firm, application, policyFingerprint, canonical, nowMs }: CursorBinding): string {
  return JSON.stringify([cursorForm, firm, application, policyFingerprint, canonical, nowMs]);
}

function refuseCursor(): never {
  return fail('cursor-invalid', {
    diagnostics:
      '_cursor belongs to another search or caller, or was altered: follow page links as they are, or begin again without it',
    expression: ['_cursor'],
  });
}
