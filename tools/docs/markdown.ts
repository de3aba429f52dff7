/** Markdown, as far as generated references need it. https://github.github.com/gfm/#tables-extension- */

/** A table; `|` in cells is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** A name as it is typed. */
export function code(name: string): string {
  return `\`${name}\``;
}
