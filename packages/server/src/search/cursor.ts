/**
 * Where the next page begins, as a text in its link. It is sealed: only this server reads it, and only for the same
 * firm, application, access policy and search. It holds values of sort keys, which may be personal data.
 */
import { fail } from '../base/errors.ts';
import type { Secrets } from '../base/secrets.ts';

/** The last row of the page before. */
export interface Cursor {
  /** Its values in the columns of the order, as text; null where it has none. */
  readonly keys: readonly (string | null)[];
  /** Number of its resource. */
  readonly rid: number;
  /** Number of the page that begins after it. */
  readonly page: number;
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

/** Longest cursor that is looked at: keys are at most 1,000 bytes each. */
const cursorLengthMax = 12_000;

/** The sealed cursor, in characters that need no percent-encoding. */
export function sealCursor(secrets: Secrets, cursor: Cursor, binding: CursorBinding): string {
  const plain = Buffer.from(JSON.stringify([cursor.keys, cursor.rid, cursor.page]));
  const sealed = secrets.seal('page-link', plain, contextOf(binding));
  return `${binding.nowMs.toString(base)}.${sealed.toString('base64url')}`;
}

/**
 * The moment of the first page of the search.
 * @throws PraxisError `cursor-invalid` when the text is no cursor
 */
export function cursorTime(text: string): number {
  return Number.parseInt(partsOf(text).time, base);
}

/**
 * What was sealed.
 * @throws PraxisError `cursor-invalid`: altered, or made for another caller, firm, policy or search
 */
export function openCursor(secrets: Secrets, text: string, binding: CursorBinding): Cursor {
  const plain = secrets.open('page-link', Buffer.from(partsOf(text).sealed, 'base64url'), contextOf(binding));
  if (plain === undefined) return refuseCursor();
  const [keys, rid, page]: [(string | null)[], number, number] = JSON.parse(plain.toString());
  return { keys, rid, page };
}

function partsOf(text: string): { readonly time: string; readonly sealed: string } {
  const [, time, sealed] = text.length <= cursorLengthMax ? (cursorPattern.exec(text) ?? []) : [];
  return time === undefined || sealed === undefined ? refuseCursor() : { time, sealed };
}

function contextOf({ firm, application, policyFingerprint, canonical, nowMs }: CursorBinding): string {
  return JSON.stringify([firm, application, policyFingerprint, canonical, nowMs]);
}

function refuseCursor(): never {
  return fail('cursor-invalid', {
    diagnostics:
      '_cursor belongs to another search or caller, or was altered: follow next links as they are, or begin again without it',
    expression: ['_cursor'],
  });
}
