/**
 * Tables on standard output: aligned for people, tab-separated when piped into another program.
 */

/** Lines of a table with a heading; `aligned` pads the columns. */
export function tableLines(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  aligned: boolean,
): string[] {
  const all = [heading, ...rows];
  if (!aligned) return all.map((row) => row.join('\t'));
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
