/**
 * One statement that writes rows which the product has written, under other ids and numbers, at the time of the statement and by
 * its transaction. What is the same each time is bound as arrays, a text for each column.
 */
import { type Sql, sql } from '../../../packages/server/src/database/sql.ts';
import { encodeIntegerArray, encodeTextArray } from '../../../packages/server/src/storage/index-arrays.ts';
import {
  type CapturedRow,
  type CapturedRows,
  type IndexTable,
  indexTables,
  type LogTable,
  logTables,
  type WrittenTable,
} from './captured-rows.ts';
import type { Template } from './plan.ts';

const comma = sql`, `;
const logNames = Object.keys(logTables) as readonly LogTable[];
const indexNames = Object.keys(indexTables) as readonly IndexTable[];

/** Writes the rows of resources that were created, as the firm's. */
export function buildCreate(firm: number, rows: CapturedRows): Sql {
  const places = placeNumbers(rows);
  const parts = [
    ...logNames.map((name) => ({ name, table: logTables[name] })),
    ...indexNames.map((name) => ({ name, table: indexTables[name] })),
  ].flatMap(({ name, table }) =>
    rows[name].length === 0 ? [] : [insertPart(firm, name, { table, rows: rows[name], places, number: newNumber })],
  );
  return sql`WITH ${sql.join([numbersPart(places.size), ...parts], comma)} SELECT 1`;
}

/**
 * Writes the rows of an update, of whatever version the resource has. Index rows go that only `before` has, and come that only
 * `after` has.
 * @param rows of the update
 */
export function buildUpdate(firm: number, rows: CapturedRows, before: CapturedRows, after: CapturedRows): Sql {
  const [resource] = after.resource;
  if (resource === undefined) throw new Error('the update left no resource');
  const { rtype, id, content } = resource;
  const places = placeNumbers({ ...rows, resource: [] });
  const updated = sql`u AS (
    UPDATE resource r SET lu = n.at, vid = r.vid + 1, content = ${content} FROM n
    WHERE r.firm = ${firm} AND r.rtype = ${rtype} AND r.id = ${id} RETURNING r.rid, r.vid)`;
  const logs = logNames
    .filter((name) => name !== 'resource' && rows[name].length > 0)
    .map((name) => {
      const made = name === 'resource_version' ? { vid: sql`u.vid` } : {};
      return insertPart(firm, name, {
        table: logTables[name],
        rows: rows[name],
        places,
        number: newNumber,
        made,
        beside: sql`, u`,
      });
    });
  const indexes = indexNames.flatMap((name) => {
    const table: WrittenTable = indexTables[name];
    const gone = subtractRows(table, before[name], after[name]);
    const come = subtractRows(table, after[name], before[name]);
    return [
      ...(gone.length === 0 ? [] : [deletePart(firm, name, table, gone)]),
      ...(come.length === 0
        ? []
        : [insertPart(firm, name, { table, rows: come, places: new Map(), number: sql`u.rid`, beside: sql`, u` })]),
    ];
  });
  return sql`WITH ${sql.join([numbersPart(places.size), updated, ...logs, ...indexes], comma)} SELECT 1`;
}

/** The values of a statement, in which `ids` are to be replaced: the first of them by that of place 0. */
export function toTemplates({ values }: Sql, ids: readonly string[]): readonly Template[] {
  return values.map((value) => {
    let template: Template = [String(value)];
    for (const [place, id] of ids.entries())
      template = template.flatMap((part) =>
        typeof part === 'number' ? [part] : part.split(id).flatMap((text, at) => (at === 0 ? [text] : [place, text])),
      );
    return template;
  });
}

/** The numbers that the sequence has given to the rows, in their order, with their places among them from 1. */
function placeNumbers(rows: CapturedRows): ReadonlyMap<string, number> {
  const resources = rows.resource.map(({ rid }) => rid);
  const logged = [...rows.resource_version, ...rows.audit_event].map(({ seq }) => seq);
  const numbers = new Set([...resources, ...logged].map((number) => String(number)));
  const sorted = [...numbers].toSorted((a, b) => Number(a) - Number(b));
  return new Map(sorted.map((number, at) => [number, at + 1]));
}

function numbersPart(count: number): Sql {
  return sql`n AS MATERIALIZED (
    SELECT ARRAY(SELECT nextval('resource_order') FROM generate_series(1, ${count}::int)) AS numbers,
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at)`;
}

const newNumber = sql`n.numbers[w.place]`;

interface Part {
  readonly table: WrittenTable;
  readonly rows: readonly CapturedRow[];
  readonly places: ReadonlyMap<string, number>;
  /** The number of a row. */
  readonly number: Sql;
  /** Columns that are not as they were. */
  readonly made?: Readonly<Record<string, Sql>>;
  /** What the row is selected from besides. */
  readonly beside?: Sql;
}

function insertPart(
  firm: number,
  name: string,
  { table, rows, places, number, made = {}, beside = sql.empty }: Part,
): Sql {
  const same = Object.keys(table.columns).filter((column) => made[column] === undefined);
  const columns: readonly (readonly [string, Sql])[] = [
    [table.number, number],
    ...(table.time === undefined ? [] : [[table.time, sql`n.at`] as const]),
    ...(table.tellsTransaction ? [['xid', sql`pg_current_xact_id()`] as const] : []),
    ['firm', sql`${firm}::int`],
    ...same.map((column) => [column, sql`w.${sql.identifier(column)}`] as const),
    ...Object.entries(made),
  ];
  const placesOfRows = rows.map((row) => places.get(String(row[table.number])) ?? 0);
  const names = sql.join(
    columns.map(([column]) => sql.identifier(column)),
    comma,
  );
  const values = sql.join(
    columns.map(([, value]) => value),
    comma,
  );
  return sql`${sql.identifier(`into_${name}`)} AS (
    INSERT INTO ${sql.identifier(name)} (${names}) SELECT ${values}
    FROM n${beside}, ${unnestRows(table, same, rows, placesOfRows)})`;
}

function deletePart(firm: number, name: string, table: WrittenTable, rows: readonly CapturedRow[]): Sql {
  const columns = Object.keys(table.columns);
  const places = rows.map(() => 0);
  const equal = columns.map((column) => sql`d.${sql.identifier(column)} = w.${sql.identifier(column)}`);
  return sql`${sql.identifier(`from_${name}`)} AS (
    DELETE FROM ${sql.identifier(name)} d USING u, ${unnestRows(table, columns, rows, places)}
    WHERE d.firm = ${firm} AND d.rid = u.rid AND ${sql.join(equal, sql` AND `)})`;
}

function unnestRows(
  table: WrittenTable,
  columns: readonly string[],
  rows: readonly CapturedRow[],
  places: readonly number[],
): Sql {
  const arrays = columns.map((column) => {
    const values = encodeTextArray(rows.map((row) => row[column] ?? null));
    return sql`${values}::${sql.identifier(table.columns[column] ?? 'text')}[]`;
  });
  const names = columns.map((column) => sql.identifier(column));
  return sql`unnest(${encodeIntegerArray(places)}::int[], ${sql.join(arrays, comma)}) AS w(place, ${sql.join(names, comma)})`;
}

/** The rows whose columns no row of `others` has. */
function subtractRows(
  table: WrittenTable,
  rows: readonly CapturedRow[],
  others: readonly CapturedRow[],
): readonly CapturedRow[] {
  const keyOf = (row: CapturedRow): string => JSON.stringify(Object.keys(table.columns).map((column) => row[column]));
  const known = new Set(others.map(keyOf));
  return rows.filter((row) => !known.has(keyOf(row)));
}
