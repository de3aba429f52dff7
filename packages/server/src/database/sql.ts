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

/** A template and what stands in it. Fragments inside are spliced in when the whole is sent, once, however deep they are. */
class Fragment {
  readonly #strings: readonly string[];
  readonly #given: readonly unknown[];
  #flat: Flat | undefined;
  #text: string | undefined;

  /**
   * @param strings one more than there are values
   * @param flat the same without fragments, where that is known
   */
  constructor(strings: readonly string[], given: readonly unknown[], flat?: Flat, text?: string) {
    this.#strings = strings;
    this.#given = given;
    this.#flat = flat;
    this.#text = text;
  }

  get text(): string {
    this.#text ??= numbered(this.#flatten().pieces);
    return this.#text;
  }

  get values(): readonly unknown[] {
    return this.#flatten().values;
  }

  /** An object that merely looks like one is bound. */
  static isOne(value: unknown): value is Fragment {
    return typeof value === 'object' && value !== null && #strings in value;
  }

  #flatten(): Flat {
    if (this.#flat !== undefined) return this.#flat;
    const pieces = [''];
    const values: unknown[] = [];
    this.#addTo(pieces, values);
    this.#flat = { pieces, values };
    return this.#flat;
  }

  #addTo(pieces: string[], values: unknown[]): void {
    const strings = this.#strings;
    const given = this.#given;
    addText(pieces, strings[0] ?? '');
    for (let index = 0; index < given.length; index++) {
      const value = given[index];
      const after = strings[index + 1] ?? '';
      if (Fragment.isOne(value)) {
        value.#addTo(pieces, values);
        addText(pieces, after);
      } else {
        values.push(value);
        pieces.push(after);
      }
    }
  }
}

/** The pieces of text around the values: always one more than there are values. */
interface Flat {
  readonly pieces: readonly string[];
  readonly values: readonly unknown[];
}

/** Texts of templates without nested fragments, by the template's own strings array: one per place in the source. */
const textsOfPlainTemplates = new WeakMap<TemplateStringsArray, string>();

/**
 * The statement of the template.
 * Values are bound; `Sql` values are spliced in. Arrays become PostgreSQL arrays, Buffers bytea; for JSON use `sql.json`.
 * @throws TypeError for `undefined`, which would silently become NULL
 */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  requireDefined(values);
  return branded(values.some(Fragment.isOne) ? new Fragment(strings, values) : plain(strings, values));
}

/** Nothing: splices to no text and no values. */
sql.empty = branded(new Fragment([''], [], { pieces: [''], values: [] }, ''));

/** The fragments one after another with `separator` between them, a comma by default; `sql.empty` for an empty list. */
sql.join = (fragments: readonly Sql[], separator: Sql = comma): Sql => {
  if (fragments.length === 0) return sql.empty;
  const given = fragments.flatMap((fragment, index) => (index === 0 ? [fragment] : [separator, fragment]));
  return branded(new Fragment(noTexts, given));
};

/** Between fragments that follow each other. */
const noTexts: readonly string[] = [];

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
  return new Fragment(strings, values, { pieces: strings, values }, text);
}

function addText(pieces: string[], text: string): void {
  pieces[pieces.length - 1] += text;
}

function numbered(pieces: readonly string[]): string {
  let text = pieces[0] ?? '';
  for (let index = 1; index < pieces.length; index++) text += `$${index}${pieces[index]}`;
  return text;
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
