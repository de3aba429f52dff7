/** What the command line cannot derive from an action: its order of arguments, and what it prints for people. */
import type { BodyOf, Fields, SegmentNames, TimePrecision } from './schema.ts';

export interface CommandForm<P extends string = string, F extends Fields = Fields, R = unknown> {
  /** Segments and fields that are given without a name, in order. Otherwise all segments but environment and realm. */
  readonly arguments?: readonly (SegmentNames<P> | (keyof F & string))[];
  /** What is known of segments. One with a standard is an option. */
  readonly segments?: { readonly [N in SegmentNames<P>]?: SegmentForm };
  /** Options that the command line alone has. */
  readonly options?: Fields;
  /** Options of which exactly one is given, by name. */
  readonly oneOf?: readonly string[];
  /** The firm is an option; without it the command is for every firm of the environment. */
  readonly isForEveryFirm?: true;
  /** Columns of the table of a list: members of its shape, or cells of its own. Otherwise all members. */
  readonly columns?: readonly (string | Column<RowOf<R>>)[];
  /** Lines and tables; undefined: the table of a list, or `name: value` lines. */
  readonly print?: (result: R, input: CommandValues<P, F>) => readonly Printed[] | undefined;
  /** Other names that do the same; no help shows them. */
  readonly aliases?: readonly string[];
}

export interface SegmentForm {
  readonly description?: string;
  readonly standard?: string;
  readonly values?: readonly string[];
}

type RowOf<R> = R extends readonly (infer Row)[] ? Row : never;

/** What was given. */
export interface CommandValues<P extends string = string, F extends Fields = Fields> {
  readonly path: { readonly [N in SegmentNames<P>]: string };
  readonly body: BodyOf<F>;
  /** Values of the command line's own options. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface Column<Row> {
  readonly heading: string;
  /** What it shows of null. */
  readonly none?: string;
  /** The cell is a time, in ms since 1970. */
  readonly time?: TimePrecision;
  readonly cell: (row: Row) => Cell;
}

export type Cell = string | number | null;

export interface Table {
  readonly columns: readonly Omit<Column<never>, 'cell'>[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A line of text, or a table. */
export type Printed = string | Table;

/** A table of `rows` by columns that all make their cells themselves. */
export function buildTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Table {
  return { columns, rows: rows.map((row) => columns.map(({ cell }) => cell(row))) };
}

/** `2027-01-31 09:30`, in UTC */
export function formatToMinute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

/** `2027-01-31T09:30:00Z` */
export function formatToSecond(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
