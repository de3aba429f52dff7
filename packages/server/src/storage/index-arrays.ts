/**
 * Index rows as array parameters of the write function: one array per column, those of all resources of a call one after
 * another, with the position of their resource in a first array; negative and in front, where the row is gone.
 * Array literals: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO. They are written here rather than by the
 * driver: a write carries 35 of them.
 */
import type { IndexRows } from '../search/index/index-rows.ts';

type Column = keyof IndexRows;

/** Columns per kind of value, in the order in which the write function takes them. */
const kinds = {
  token: ['tokenParam', 'tokenSystem', 'tokenCode'],
  reference: ['referenceParam', 'referenceTargetType', 'referenceTargetId'],
  date: ['dateParam', 'dateLo', 'dateHi'],
  string: ['stringParam', 'stringValue', 'stringOriginal'],
  number: ['numberParam', 'numberLo', 'numberHi', 'numberSystem', 'numberCode'],
} as const satisfies Record<string, readonly Column[]>;

/** Columns of text, which is quoted, and of measures, which are doubles; others hold numbers, and texts that are bigints. */
const texts = new Set<Column>(['tokenCode', 'referenceTargetId', 'stringValue', 'stringOriginal', 'numberCode']);
const doubles = new Set<Column>(['numberLo', 'numberHi']);

export type IndexKind = keyof typeof kinds;

/** Of one kind: the array literal of positions (from 1; below 0 of a row that is gone), then those of the columns. */
type KindArrays = readonly string[];

/** The rows of a resource; beside those of the version before only what differs is meant. */
export interface IndexedResource {
  readonly index: IndexRows;
  readonly indexBefore?: IndexRows | undefined;
}

/**
 * The array literals of `resources`, by kind. Rows of one resource that the database would hold equal appear once: the
 * write function inserts them without asking.
 */
export function indexArrays(resources: readonly IndexedResource[]): Readonly<Record<IndexKind, KindArrays>> {
  return {
    token: kindArrays(kinds.token, resources),
    reference: kindArrays(kinds.reference, resources),
    date: kindArrays(kinds.date, resources),
    string: kindArrays(kinds.string, resources),
    number: kindArrays(kinds.number, resources),
  };
}

/** The literal of an array of numbers, or of texts that are numbers. */
export function encodeIntegerArray(items: readonly (number | string)[]): string {
  return `{${items.join(',')}}`;
}

/** The literal of an array of texts; null becomes NULL. */
export function encodeTextArray(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : quoted(item))).join(',')}}`;
}

/** Characters from which the binary form of an array takes less time: nothing in it is escaped. */
const longCharacters = 16_384;

const textOid = 25;

/** The value of an array of texts that may be long: its literal, or its binary form (what array_send makes). */
export function encodeContentArray(items: readonly (string | null)[]): string | Buffer {
  if (items.reduce((sum, item) => sum + (item?.length ?? 0), 0) < longCharacters) return encodeTextArray(items);
  const hasNull = items.includes(null);
  const parts = [integers(1, Number(hasNull), textOid, items.length, 1)];
  for (const item of items) {
    const bytes = item === null ? undefined : Buffer.from(item);
    parts.push(integers(bytes?.length ?? -1));
    if (bytes !== undefined) parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** Of 32 bits, in network byte order. */
function integers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, index * 4);
  return bytes;
}

function kindArrays(columns: readonly Column[], resources: readonly IndexedResource[]): KindArrays {
  const gone = new PlacedRows(columns);
  const given = new PlacedRows(columns);
  for (const [at, { index, indexBefore }] of resources.entries()) {
    if (indexBefore === undefined && areDistinct(columns, index)) {
      given.addAll(at + 1, index);
      continue;
    }
    const rows = distinctRows(columns, index);
    if (indexBefore === undefined) {
      given.add(at + 1, rows.values());
      continue;
    }
    const before = distinctRows(columns, indexBefore);
    gone.add(-at - 1, listMissing(before, rows));
    given.add(at + 1, listMissing(rows, before));
  }
  return [
    encodeIntegerArray([...gone.positions, ...given.positions]),
    ...columns.map(
      (_, column) => `{${[...(gone.literals[column] ?? []), ...(given.literals[column] ?? [])].join(',')}}`,
    ),
  ];
}

/** Rows up to which comparing each with each other one is quicker than a set. */
const comparedMax = 24;

/** Whether the database holds no two rows equal, as far as a quick look tells. */
function areDistinct(columns: readonly Column[], index: IndexRows): boolean {
  const [first] = columns;
  const count = first === undefined ? 0 : index[first].length;
  if (count > comparedMax) return false;
  if (count > 1 && columns.some((name) => doubles.has(name) || (texts.has(name) && !areWellFormed(index[name]))))
    return false;
  for (let row = 1; row < count; row += 1)
    for (let other = 0; other < row; other += 1)
      if (columns.every((name) => index[name][row] === index[name][other])) return false;
  return true;
}

function areWellFormed(values: readonly (number | string)[]): boolean {
  return values.every((value) => String(value).isWellFormed());
}

/** The literals of a row's columns. */
type RowLiterals = readonly string[];

/** Rows, column by column. */
class PlacedRows {
  readonly positions: number[] = [];
  readonly literals: readonly string[][];
  readonly #columns: readonly Column[];

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
    this.literals = columns.map(() => []);
  }

  add(position: number, rows: Iterable<RowLiterals>): void {
    for (const row of rows) {
      this.positions.push(position);
      for (const [column, literal] of row.entries()) this.literals[column]?.push(literal);
    }
  }

  /** Adds the rows of a resource. @throws TypeError when its columns have different lengths */
  addAll(position: number, index: IndexRows): void {
    const [first] = this.#columns;
    const count = first === undefined ? 0 : index[first].length;
    for (let row = 0; row < count; row += 1) this.positions.push(position);
    for (const [column, name] of this.#columns.entries()) {
      const literals = this.literals[column];
      const values = index[name];
      const isText = texts.has(name);
      const isDouble = doubles.has(name);
      for (let row = 0; row < count; row += 1) literals?.push(writeLiteral(values[row], isText, isDouble));
    }
  }
}

/** The rows of one resource, by what makes them equal. */
function distinctRows(columns: readonly Column[], resource: IndexRows): ReadonlyMap<string, RowLiterals> {
  const rows = new Map<string, RowLiterals>();
  const count = columns[0] === undefined ? 0 : resource[columns[0]].length;
  for (let row = 0; row < count; row++) {
    const items = columns.map((name) => literalOf(resource[name][row], name));
    rows.set(items.join(), items);
  }
  return rows;
}

/** Those that `others` lacks. */
function listMissing(rows: ReadonlyMap<string, RowLiterals>, others: ReadonlyMap<string, RowLiterals>): RowLiterals[] {
  return [...rows].filter(([key]) => !others.has(key)).map(([, row]) => row);
}

function literalOf(value: number | string | undefined, column: Column): string {
  return writeLiteral(value, texts.has(column), doubles.has(column));
}

/** @throws TypeError when a column is shorter than the first of its kind */
function writeLiteral(value: number | string | undefined, isText: boolean, isDouble: boolean): string {
  if (value === undefined) throw new TypeError('index rows have columns of different lengths');
  if (isText) return quoted(String(value));
  // A decimal becomes the double that the column holds: what differs only beyond its precision is one row.
  return String(isDouble ? Number(value) : value);
}

/** What is not in a literal as it is: quotes, backslashes, control characters and surrogates. */
const specialCharacter = /["\\\u0000-\u001f\u007f-\u009f\ud800-\udfff]/;

/** Those of \p{Cc}, in less time. */
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Texts differ in the database as their UTF-8 forms do, where unpaired surrogates are all the same character. JSON escapes
 * quotes and backslashes as arrays do, in a quarter of the time, and control characters as they do not.
 */
function quoted(text: string): string {
  if (!specialCharacter.test(text)) return `"${text}"`;
  const sound = text.toWellFormed();
  return controlCharacter.test(sound) ? `"${sound.replace(/["\\]/g, '\\$&')}"` : JSON.stringify(sound);
}
