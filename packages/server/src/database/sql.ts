/**
 * The only maker of SQL. A statement is a template whose values are always bound as parameters
 * (https://www.postgresql.org/docs/current/sql-prepare.html), so a value can never become SQL text, and whose text is the
 * same for the same shape, so prepared statements are reused. The text can be pasted into psql (`\bind` gives the values).
 *
 *     sql`SELECT content FROM resource WHERE firm = ${firm} AND ${sql.join(conditions, sql` AND `)}`
 */

declare const madeBySqlTemplate: unique symbol;

/** A statement or a fragment of one. Fragments are spliced into other templates; their parameters are renumbered. */
export interface Sql {
  readonly [madeBySqlTemplate]: true;
  /** The statement with `$1`, `$2`, … in place of the values. */
  readonly text: string;
  /** What `$1`, `$2`, … stand for, in order. */
  readonly values: readonly unknown[];
}

/** The pieces of text around the values: always one more than there are values. */
class Fragment {
  readonly #pieces: readonly string[];
  readonly values: readonly unknown[];
  #text: string | undefined;

  constructor(pieces: readonly string[], values: readonly unknown[], text?: string) {
    this.#pieces = pieces;
    this.values = values;
    this.#text = text;
  }

  get text(): string {
    this.#text ??= numbered(this.#pieces);
    return this.#text;
  }

  /** The pieces when `value` is a fragment made here, else undefined: an object that merely looks like one is bound. */
  static piecesOf(value: unknown): readonly string[] | undefined {
    return typeof value === 'object' && value !== null && #pieces in value ? value.#pieces : undefined;
  }
}

/** Texts of templates without nested fragments, by the template's own strings array: one per place in the source. */
const textsOfPlainTemplates = new WeakMap<TemplateStringsArray, string>();

/**
 * The statement of the template.
 * Values are bound; `Sql` values are spliced in. Arrays become PostgreSQL arrays, Buffers bytea; for JSON use `sql.json`.
 * @throws TypeError for `undefined`, which would silently become NULL
 */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  return branded(values.some(isFragment) ? spliced(strings, values) : plain(strings, values));
}

/** Nothing: splices to no text and no values. */
sql.empty = branded(new Fragment([''], [], ''));

/** The fragments one after another with `separator` between them, a comma by default; `sql.empty` for an empty list. */
sql.join = (fragments: readonly Sql[], separator: Sql = comma): Sql => {
  if (fragments.length === 0) return sql.empty;
  const pieces = [''];
  const values: unknown[] = [];
  fragments.forEach((fragment, index) => {
    if (index > 0) append(pieces, values, separator);
    append(pieces, values, fragment);
  });
  return branded(new Fragment(pieces, values));
};

/**
 * A table, column or role name, for statements that are made from data rows of our own.
 * @throws TypeError unless it is lower-case letters, digits and underscores: nothing that would need quoting
 */
sql.identifier = (name: string): Sql => {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name))
    throw new TypeError(`${JSON.stringify(name)} is not a plain SQL identifier`);
  return branded(new Fragment([`"${name}"`], []));
};

/** `ms` since 1970 as a timestamptz; NULL for null. */
sql.timestamp = (ms: number | null): Sql => sql`to_timestamp(${ms}::float8 / 1000)`;

/** `value` bound as JSON text, for json and jsonb columns (a bare array would be bound as a PostgreSQL array). */
sql.json = (value: unknown): Sql => branded(new Fragment(['', ''], [JSON.stringify(value)]));

function plain(strings: TemplateStringsArray, values: readonly unknown[]): Fragment {
  let text = textsOfPlainTemplates.get(strings);
  if (text === undefined) {
    text = numbered(strings);
    textsOfPlainTemplates.set(strings, text);
  }
  requireDefined(values);
  return new Fragment(strings, values, text);
}

function spliced(strings: TemplateStringsArray, given: readonly unknown[]): Fragment {
  const pieces = [strings[0] ?? ''];
  const values: unknown[] = [];
  given.forEach((value, index) => {
    append(pieces, values, value);
    addText(pieces, strings[index + 1] ?? '');
  });
  requireDefined(values);
  return new Fragment(pieces, values);
}

/** Adds a fragment's pieces and values, or one bound value. */
function append(pieces: string[], values: unknown[], value: unknown): void {
  const inner = Fragment.piecesOf(value);
  if (inner === undefined) {
    values.push(value);
    pieces.push('');
    return;
  }
  addText(pieces, inner[0] ?? '');
  for (let index = 1; index < inner.length; index++) pieces.push(inner[index] ?? '');
  values.push(...(value as Sql).values);
}

function addText(pieces: string[], text: string): void {
  pieces[pieces.length - 1] += text;
}

function numbered(pieces: readonly string[]): string {
  let text = pieces[0] ?? '';
  for (let index = 1; index < pieces.length; index++) text += `$${index}${pieces[index]}`;
  return text;
}

function isFragment(value: unknown): boolean {
  return Fragment.piecesOf(value) !== undefined;
}

function requireDefined(values: readonly unknown[]): void {
  const index = values.indexOf(undefined);
  if (index >= 0) throw new TypeError(`SQL value ${index + 1} is undefined; write null where NULL is meant`);
}

const comma = sql`, `;

/** The brand exists for the compiler only. */
function branded(fragment: Fragment): Sql {
  return fragment as unknown as Sql;
}
