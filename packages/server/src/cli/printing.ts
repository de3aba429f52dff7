/**
 * Tables on standard output: aligned for people, tab-separated when piped into another program, or comma-separated
 * (https://www.rfc-editor.org/rfc/rfc4180).
 */
import { type Cell, formatToMinute, formatToSecond, type Printed, type Table } from '../actions/command-form.ts';
import { toInstant } from '../base/clock.ts';
import type { CommandContext } from './command.ts';

/** Prints lines and tables; as CSV the tables alone. */
export function printAll(context: CommandContext, printed: readonly Printed[], isCsv: boolean): void {
  for (const each of printed) {
    if (typeof each !== 'string') for (const line of linesOf(each, context.interactive, isCsv)) context.print(line);
    else if (!isCsv) context.print(each);
  }
}

/** Lines of a table with a heading; `aligned` pads the columns. */
export function formatTable(
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

function linesOf({ columns, rows }: Table, isAligned: boolean, isCsv: boolean): string[] {
  const heading = columns.map((column) => column.heading);
  const texts = rows.map((row) =>
    row.map((cell, index) => (isCsv ? csvText(cell, columns[index]) : textOf(cell, columns[index]))),
  );
  return isCsv ? [heading, ...texts].map((row) => row.map(csvCell).join(',')) : formatTable(heading, texts, isAligned);
}

type ColumnForm = Table['columns'][number] | undefined;

function textOf(cell: Cell, column: ColumnForm): string {
  if (cell === null) return column?.none ?? '';
  if (typeof cell === 'string' || column?.time === undefined) return String(cell);
  if (column.time === 'minute') return formatToMinute(cell);
  return column.time === 'second' ? formatToSecond(cell) : toInstant(cell);
}

/** For programs: nothing for null, instants for times. */
function csvText(cell: Cell, column: ColumnForm): string {
  if (cell === null) return '';
  return typeof cell === 'number' && column?.time !== undefined ? toInstant(cell) : String(cell);
}

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function csvCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
