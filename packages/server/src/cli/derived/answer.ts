/** What the command of an action prints: a table, lines, or the JSON that the administration API answers. */
import type { Action } from '../../actions/action.ts';
import type { Cell, Column, CommandValues, Printed, Table } from '../../actions/command-form.ts';
import type { Member, Shape } from '../../actions/schema.ts';

/** What it prints of a result for people. */
export function formatResult(action: Action, result: unknown, values: CommandValues): readonly Printed[] {
  const { command = {}, output } = action;
  const own = command.print?.(result, values);
  if (own !== undefined) return own;
  if (output.kind === 'nothing') return ['done'];
  if (output.kind === 'list') return [tableOfRows(action, output.shape, toRows(result))];
  return lineTexts(output.shape, membersOf(result));
}

/** Whether the result shows something that cannot be shown again. */
export function showsSecret({ output }: Action, result: unknown): boolean {
  if (output.kind !== 'one') return false;
  const given = membersOf(result);
  return Object.entries(output.shape).some(
    ([name, member]) => member.kind === 'text' && member.secret === true && given.get(name) !== undefined,
  );
}

/** The rows of a result. */
export function toRows(result: unknown): readonly unknown[] {
  return Array.isArray(result) ? result : [];
}

function tableOfRows({ command = {} }: Action, shape: Shape, rows: readonly unknown[]): Table {
  const names = Object.keys(shape).filter((name) => isSimple(shape[name]));
  const columns = (command.columns ?? names).map((column) =>
    typeof column === 'string' ? memberColumn(column, shape[column]) : (column as Column<unknown>),
  );
  return { columns, rows: rows.map((row) => columns.map(({ cell }) => cell(row))) };
}

function isSimple(member: Member | undefined): boolean {
  return !['list', 'object', 'document', 'flags'].includes(member?.kind ?? '');
}

/** @throws TypeError for a column that is no member of the shape */
function memberColumn(name: string, member: Member | undefined): Column<unknown> {
  if (member === undefined) throw new TypeError(`${name} is no member of the answer`);
  return {
    heading: (member.label ?? headingOf(name)).replaceAll('_', ' ').toUpperCase(),
    ...(member.none === undefined ? {} : { none: member.none }),
    ...(member.kind === 'time' ? { time: member.precision ?? 'minute' } : {}),
    cell: (row) => cellOf(name, member, membersOf(row)),
  };
}

/** `lastUsedAt` → `last used` */
function headingOf(name: string): string {
  return name.replace(/At$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function cellOf(name: string, member: Member, row: ReadonlyMap<string, unknown>): Cell {
  const value = row.get(member.kind === 'time' ? `${name}Ms` : name);
  if (value === undefined || value === null) return null;
  if (member.kind === 'flag') return (member.words ?? ['yes', 'no'])[value === true ? 0 : 1];
  if (typeof value === 'number') return value;
  return Array.isArray(value) ? value.join(' ') : String(value);
}

/** `name: value` lines; what has members of its own is JSON. */
function lineTexts(shape: Shape, given: ReadonlyMap<string, unknown>): string[] {
  return Object.entries(shape).flatMap(([name, member]) => {
    const isTime = member.kind === 'time';
    const value = given.get(isTime ? `${name}Ms` : name);
    if (value === undefined || value === null) return [];
    const cell = cellOf(name, member, given);
    const text = isSimple(member) ? (isTime ? new Date(Number(value)).toISOString() : cell) : JSON.stringify(value);
    return [`${member.label ?? name}: ${text}`];
  });
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(typeof value === 'object' && value !== null ? value : {}));
}
