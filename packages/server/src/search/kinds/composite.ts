/**
 * composite: several values that belong together, such as the code and the value of one component.
 * https://hl7.org/fhir/R4/search.html#composite
 *
 * Each tuple of a resource leaves rows in `index_token`, one for every combination of the rows that its parts would leave
 * in their own tables; the parts' columns stand one after another in the text of the key, the code of the first part
 * foremost. A query reads each part by the part's own kind, and its condition sees the columns of that part
 * (docs/decisions/0086).
 */

import { compileCompositeExtractor, isJsonObject, type TypedValue } from '@praxis/fhir';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { IndexRowBuilder, type IndexRows } from '../index/index-row-builder.ts';
import { noSystem } from '../numbers.ts';
import { refuseValue, splitUnescaped } from '../query/search-values.ts';
import {
  type IndexingContext,
  makeAll,
  type Parameter,
  type RowParts,
  readBy,
  type SearchKind,
  type SearchTable,
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

/** The columns of a part's table, as they stand in a key, with their types and where they are in the rows of a resource. */
const columnsOf: Readonly<Record<SearchTable, readonly (readonly [name: Sql, type: Sql, rows: keyof IndexRows])[]>> = {
  token: [
    [sql`code`, sql`text`, 'tokenCode'],
    [sql`system`, sql`bigint`, 'tokenSystem'],
  ],
  reference: [
    [sql`target_id`, sql`text`, 'referenceTargetId'],
    [sql`target_rtype`, sql`smallint`, 'referenceTargetType'],
  ],
  date: [
    [sql`lo`, sql`bigint`, 'dateLo'],
    [sql`hi`, sql`bigint`, 'dateHi'],
  ],
  string: [
    [sql`value`, sql`text`, 'stringValue'],
    [sql`original`, sql`text`, 'stringOriginal'],
  ],
  number: [
    [sql`lo`, sql`float8`, 'numberLo'],
    [sql`hi`, sql`float8`, 'numberHi'],
    [sql`system`, sql`bigint`, 'numberSystem'],
    [sql`code`, sql`text`, 'numberCode'],
  ],
  resource: [],
};

export const composite: SearchKind = {
  worstCase: {
    because: 'as many pairs as one parameter takes, with units to convert',
    request: () =>
      buildManyValuesSearch(
        'Observation',
        'code-value-quantity',
        (n) => `c${n}$gt${n}|http://unitsofmeasure.org|mg/dL`,
      ),
  },
  ...readBy('token', { '': parseTuple }),
  sortable: false,
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
  const met = tests.map((test, place) => sql`(SELECT ${test.where} FROM (SELECT ${columnsAt(parts, place)}) part)`);
  const where = sql.join(met, sql` AND `);
  const begins = beginnings(parts[0], values[0] ?? '', name);
  const branches = begins?.map((begin) => sql`code >= ${begin} AND code < ${begin + lastCharacter} AND ${where}`);
  const [selectivity = selectivities.most] = tests.map((test) => test.selectivity).toSorted((a, b) => a - b);
  return { where, order: 'value', selectivity, ...(branches && { branches }) };
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
  const taken = columns.map(
    ([name, type], index) => sql`split_part(code, ${separator}, ${before + index + 1})::${type} AS ${name}`,
  );
  return sql.join(taken);
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
  if (!isJsonObject(value)) return;
  const { type, definition, parts } = parameter;
  const inside: IndexingContext = { ...context, isPart: true };
  for (const tuple of compileCompositeExtractor(type, definition)(value, context.budget, context.work)) {
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

/** The rows that a part leaves for a value, each with its columns in the order of `columnsOf`. */
function rowsOfPart(part: Parameter, value: TypedValue, context: IndexingContext): readonly string[] {
  const builder = new IndexRowBuilder();
  part.kind.index(value, part, context, builder);
  return columnsIn(builder.rows, part)
    .filter((columns) => columns.every((column) => column.length <= columnLengthMax && !column.includes(separator)))
    .map((columns) => columns.join(separator));
}

function columnsIn(rows: IndexRows, { kind: { table }, number }: Parameter): readonly (readonly string[])[] {
  if (table === 'resource') return [];
  const columns = columnsOf[table].map(([, , name]) => rows[name]);
  const form = table === 'string' ? cut : (text: string) => text;
  return rows[`${table}Param`].flatMap((param, row) =>
    param === number ? [columns.map((column) => form(String(column[row] ?? '')))] : [],
  );
}

/** Texts are found by their beginning, so the beginning of a long one is enough. */
function cut(text: string): string {
  return [...text.replaceAll(separator, ' ')].slice(0, columnLengthMax / 2).join('');
}
