/**
 * "Did you mean": the known name that is nearest to an unknown one. Which names are known is for the caller to choose: published
 * ones alone, so that a suggestion tells nothing of what is stored (docs/decisions/0330).
 */

/** Longer names get no suggestion: the sender chooses the length, and the work grows with it. */
const nameLengthMax = 64;

/** More slips than these make another word. */
const editsMax = 3;

/** `: did you mean birthdate?`, to follow what says that a name is unknown; empty when no name is near, or it is known. */
export function suggestName(name: string, names: Iterable<string>): string {
  const nearest = findNearestName(name, names);
  return nearest === undefined || nearest === name ? '' : `: did you mean ${nearest}?`;
}

/**
 * The nearest of the names, the first of several; undefined when none is near: more than three letters, or more than a third of them,
 * would have to change. Upper and lower case are the same.
 */
export function findNearestName(name: string, names: Iterable<string>): string | undefined {
  if (name.length > nameLengthMax) return undefined;
  const wanted = name.toLowerCase();
  let nearest: string | undefined;
  let limit = Math.min(Math.floor(name.length / 3), editsMax) + 1;
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= limit) continue;
    const edits = countEdits(wanted, candidate.toLowerCase(), limit);
    if (edits >= limit) continue;
    limit = edits;
    nearest = candidate;
    if (edits === 0) break;
  }
  return nearest;
}

/** The last three rows of the table of edits: kept, since many names are compared one after another. */
const rows: readonly [Uint8Array, Uint8Array, Uint8Array] = [
  new Uint8Array(nameLengthMax + editsMax + 2),
  new Uint8Array(nameLengthMax + editsMax + 2),
  new Uint8Array(nameLengthMax + editsMax + 2),
];

/**
 * Insertions, deletions, replacements and swaps of neighbours that turn one text into the other, where they are fewer than
 * `limit`; otherwise `limit`. Places that lie further apart than it take more edits, so they are not looked at.
 */
function countEdits(from: string, to: string, limit: number): number {
  let [beforeLast, last, current] = rows;
  for (let column = 0; column <= Math.min(to.length, limit); column += 1) last[column] = column;
  for (let row = 1; row <= from.length; row += 1) {
    const first = Math.max(1, row - limit + 1);
    const end = Math.min(to.length, row + limit - 1);
    const letter = from.charCodeAt(row - 1);
    const before = from.charCodeAt(row - 2);
    let left = first === 1 ? Math.min(row, limit) : limit;
    let least = left;
    current[first - 1] = left;
    for (let column = first; column <= end; column += 1) {
      const replaced = at(last, column - 1) + (letter === to.charCodeAt(column - 1) ? 0 : 1);
      const isSwap = row > 1 && letter === to.charCodeAt(column - 2) && before === to.charCodeAt(column - 1);
      const swapped = isSwap ? at(beforeLast, column - 2) + 1 : limit;
      left = Math.min(replaced, left + 1, at(last, column) + 1, swapped, limit);
      current[column] = left;
      least = Math.min(least, left);
    }
    // The next row looks at one place more.
    current[end + 1] = limit;
    if (least >= limit) return limit;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return Math.min(at(last, to.length), limit);
}

function at(row: Uint8Array, column: number): number {
  return row[column] ?? 0;
}
