/**
 * composite: several values that belong together, such as the code and the value of one component.
 * https://hl7.org/fhir/R4/search.html#composite
 *
 * Each tuple of a resource leaves rows in `index_token`, one for every combination of the rows that its parts would leave
 * in their own tables; the parts' columns stand one after another in the text of the key, the code of the first part
 * foremost. A query reads each part by the part's own kind, and its condition sees the columns of that part
 * (docs/decisions/0086).
 */

import { compileCompositeExtractor, type JsonObject, type JsonValue, type TypedValue } from '@praxis/fhir';
import { buildSearchRequest, makeManyValues } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { IndexRowBuilder, type IndexRows } from '../index/index-row-builder.ts';
import { noSystem } from '../numbers.ts';
import { refuseValue, splitUnescaped } from '../query/search-values.ts';
import {
  type IndexingContext,
  makeAll,
  type Parameter,
  type RowParts,
  type SearchKind,
  type Selectivity,
  selectivities,
  type Test,
  type ValueContext,
} from './kind.ts';
import { parseToken } from './token.ts';

/** Between columns in a key; control characters stand in no code (https://hl7.org/fhir/R4/datatypes.html#code). */
const separator = '\u001f';

/** No key sorts after its own beginning followed by this, the last character of Unicode. */
const lastCharacter = '\u{10ffff}';

/** Longest column of text in a key, in UTF-16 units: a key of all parts stays far below the limit of an index. */
const columnLengthMax = 120;

/** Rows that one tuple of a resource leaves, at most. */
const combinationsMax = 256;

/** The columns of a part's table, as they stand in a key, with their types. */
const columnsOf: Readonly<Record<Parameter['kind']['table'], readonly (readonly [name: Sql, type: Sql])[]>> = {
  token: [
    [sql`code`, sql`text`],
    [sql`system`, sql`bigint`],
  ],
  reference: [
    [sql`target_id`, sql`text`],
    [sql`target_rtype`, sql`smallint`],
  ],
  date: [
    [sql`lo`, sql`bigint`],
    [sql`hi`, sql`bigint`],
  ],
  string: [
    [sql`value`, sql`text`],
    [sql`original`, sql`text`],
  ],
  number: [
    [sql`lo`, sql`float8`],
    [sql`hi`, sql`float8`],
    [sql`system`, sql`bigint`],
    [sql`code`, sql`text`],
  ],
  resource: [],
};

export const composite: SearchKind = {
  worstCase: {
    because: 'as many pairs as one parameter takes, with units to convert',
    request: () =>
      buildSearchRequest(
        'Observation',
        makeManyValues('code-value-quantity', (n) => `c${n}$gt${n}|http://unitsofmeasure.org|mg/dL`),
      ),
  },
  table: 'token',
  sortable: false,
  modifiers: () => [],
  reading: (parameter, modifier) =>
    modifier === '' ? { table: 'token', number: parameter.number, parse: parseTuple } : undefined,
  index: (value, parameter, context, rows) => makeAll(indexTuples(value, parameter, context, rows)),
  indexInParts: indexTuples,
};

/**
 * The values of all parts, separated by `$`.
 * @throws PraxisError `search-invalid`
 */
function parseTuple(text: string, context: ValueContext): Test {
  const { name, parameter } = context;
  const { parts } = parameter;
  const values = splitUnescaped(text, '$');
  if (values.length !== parts.length || values.includes('')) {
    const form = parts.map(({ code }) => code).join('$');
    refuseValue(name, `takes ${parts.length} values separated by $: ${form} (write \\$ for a $ inside a value)`);
  }
  const tests = parts.map((part, place) => testOf(part, values[place] ?? '', context));
  const where = sql.join(
    tests.map(
      ({ where: condition }, place) => sql`(SELECT ${condition} FROM (SELECT ${columnsAt(parts, place)}) part)`,
    ),
    sql` AND `,
  );
  const begins = beginnings(parts[0], values[0] ?? '', name);
  const selectivity = tests.reduce<Selectivity>(
    (least, test) => (test.selectivity < least ? test.selectivity : least),
    selectivities.most,
  );
  const branches = begins?.map((begin) => sql`code >= ${begin} AND code < ${begin + lastCharacter} AND ${where}`);
  return { where, order: 'value', selectivity: selectivity, ...(branches === undefined ? {} : { branches }) };
}

function testOf(part: Parameter, value: string, context: ValueContext): Test {
  const reading = part.kind.reading(part, '');
  if (reading === undefined) throw new TypeError(`${part.code} of ${part.type} cannot be read without a modifier`);
  return reading.parse(value, { ...context, parameter: part });
}

/** The columns of the part at a place, taken out of the key. */
function columnsAt(parts: readonly Parameter[], place: number): Sql {
  const before = parts.slice(0, place).reduce((sum, { kind }) => sum + columnsOf[kind.table].length, 0);
  const columns = columnsOf[parts[place]?.kind.table ?? 'token'];
  return sql.join(
    columns.map(
      ([name, type], index) => sql`split_part(code, ${separator}, ${before + index + 1})::${type} AS ${name}`,
    ),
    sql`, `,
  );
}

/** What keys begin with when the first part is a code; undefined when any code fits. */
function beginnings(first: Parameter | undefined, value: string, name: string): readonly string[] | undefined {
  if (first?.kind.table !== 'token') return undefined;
  return parseToken(value, name, first.facts).codes?.map((code) => `${code}${separator}`);
}

/** Adds the rows of all tuples of a resource, one tuple after another. */
function* indexTuples(
  { value }: TypedValue,
  parameter: Parameter,
  context: IndexingContext,
  rows: IndexRowBuilder,
): RowParts {
  const { parts } = parameter;
  const inside: IndexingContext = { ...context, isPart: true };
  for (const tuple of tuplesOf(parameter, value, context)) {
    let keys: readonly string[] = [''];
    parts.forEach((part, place) => {
      const columns = (tuple[place] ?? []).flatMap((selected) => rowsOfPart(part, selected, inside));
      // No more are made than are kept: the product of long lists would fill the memory.
      keys = keys
        .flatMap((key) =>
          columns.slice(0, combinationsMax).map((column) => (key === '' ? column : `${key}${separator}${column}`)),
        )
        .slice(0, combinationsMax);
    });
    for (const key of keys) rows.token(parameter.number, noSystem, key);
    yield 0;
  }
}

function tuplesOf(
  { type, definition }: Parameter,
  value: JsonValue,
  { budget, work }: IndexingContext,
): readonly (readonly (readonly TypedValue[])[])[] {
  return isObject(value) ? compileCompositeExtractor(type, definition)(value, budget, work) : [];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The rows that a part leaves for a value, each with its columns in the order of `columnsOf`. */
function rowsOfPart(part: Parameter, value: TypedValue, context: IndexingContext): readonly string[] {
  const builder = new IndexRowBuilder();
  part.kind.index(value, part, context, builder);
  return columnsIn(builder.rows, part)
    .filter((columns) => columns.every((column) => column.length <= columnLengthMax && !column.includes(separator)))
    .map((columns) => columns.join(separator));
}

function columnsIn(rows: IndexRows, { kind, number }: Parameter): readonly (readonly string[])[] {
  const own = (params: readonly number[]): readonly number[] =>
    params.flatMap((param, row) => (param === number ? [row] : []));
  const at = (column: readonly unknown[], row: number): string => String(column[row] ?? '');
  switch (kind.table) {
    case 'token':
      return own(rows.tokenParam).map((row) => [at(rows.tokenCode, row), at(rows.tokenSystem, row)]);
    case 'reference':
      return own(rows.referenceParam).map((row) => [
        at(rows.referenceTargetId, row),
        at(rows.referenceTargetType, row),
      ]);
    case 'date':
      return own(rows.dateParam).map((row) => [at(rows.dateLo, row), at(rows.dateHi, row)]);
    case 'string':
      return own(rows.stringParam).map((row) => [at(rows.stringValue, row), at(rows.stringOriginal, row)].map(cut));
    case 'number':
      return own(rows.numberParam).map((row) => [
        at(rows.numberLo, row),
        at(rows.numberHi, row),
        at(rows.numberSystem, row),
        at(rows.numberCode, row),
      ]);
    case 'resource':
      return [];
  }
}

/** Texts are found by their beginning, so the beginning of a long one is enough. */
function cut(text: string): string {
  return [...text.replaceAll(separator, ' ')].slice(0, columnLengthMax / 2).join('');
}
