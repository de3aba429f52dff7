/**
 * Places in a file that is imported, and what of it is still to be imported. A place is the resource of a line: of a Bundle that is
 * unpacked there are several.
 */

export interface FilePlace {
  /** Where the line begins; 0 in a file that is one document. */
  readonly byte: number;
  /** Which resource of the line, from 0. */
  readonly entry: number;
}

/** From a place up to another one that it does not hold. */
export interface FileStretch {
  readonly from: FilePlace;
  readonly to: FilePlace;
}

/** A stretch with the numbers of the lines at both ends. */
export interface Gap extends FileStretch {
  readonly fromLine: number;
}

/** A stretch that is imported. @property toLine number of the line at `to` */
export interface DoneFileStretch extends FileStretch {
  readonly toLine: number;
}

/** Below 0: `left` comes first. */
export function comparePlaces(left: FilePlace, right: FilePlace): number {
  return left.byte - right.byte || left.entry - right.entry;
}

/** What of a file of `bytes` is not done, in order. @param done stretches that do not overlap, in any order */
export function findGaps(done: readonly DoneFileStretch[], bytes: number): readonly Gap[] {
  const end: FilePlace = { byte: bytes, entry: 0 };
  const gaps: Gap[] = [];
  let at: FilePlace = { byte: 0, entry: 0 };
  let line = 1;
  for (const { from, to, toLine } of done.toSorted((left, right) => comparePlaces(left.from, right.from))) {
    if (comparePlaces(at, from) < 0) gaps.push({ from: at, fromLine: line, to: from });
    at = to;
    line = toLine;
  }
  if (comparePlaces(at, end) < 0) gaps.push({ from: at, fromLine: line, to: end });
  return gaps;
}
