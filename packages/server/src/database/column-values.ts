/**
 * How column values become JavaScript values (https://www.postgresql.org/docs/current/datatype.html):
 *
 * | type                     | value                                                     |
 * |--------------------------|-----------------------------------------------------------|
 * | int2, int4, float8       | number                                                    |
 * | int8                     | number; beyond 2^53 an error, never a rounded number      |
 * | numeric, date, timestamp | string as PostgreSQL writes it                            |
 * | timestamptz              | number: milliseconds since 1970, ±Infinity for ±infinity  |
 * | bool, text, bytea        | boolean, string, Buffer                                   |
 * | json, jsonb              | parsed                                                    |
 * | arrays                   | arrays of the above                                       |
 */
import pg from 'pg';
import { ColumnValueError } from './sqlstate.ts';

/** Object identifiers of types, fixed by PostgreSQL (catalog pg_type). */
const oids = { int8: 20, int8Array: 1016, date: 1082, timestamp: 1114, timestamptz: 1184 } as const;

type Parser = (text: string) => unknown;

const parsers: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [oids.int8, integer],
  [oids.int8Array, integers],
  [oids.date, (text) => text],
  [oids.timestamp, (text) => text],
  [oids.timestamptz, instant],
]);

/** For pg's `types` option: our parsers, and pg's own for the other types. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers.get(oid) ??
    pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text')) as typeof pg.types.getTypeParser,
};

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new ColumnValueError('int8 value is beyond 2^53 and cannot be a JavaScript number');
  return value;
}

function integers(text: string): readonly (number | null)[] {
  const items = text === '{}' ? [] : text.slice(1, -1).split(',');
  return items.map((item) => (item === 'NULL' ? null : integer(item)));
}

/** Sessions run with TimeZone=UTC and DateStyle=ISO, so the text is `2026-11-21 09:30:00.123456+00`. */
function instant(text: string): number {
  if (text === 'infinity') return Number.POSITIVE_INFINITY;
  if (text === '-infinity') return Number.NEGATIVE_INFINITY;
  const ms = text.endsWith('+00') ? Date.parse(`${text.slice(0, -3).replace(' ', 'T')}Z`) : Number.NaN;
  if (Number.isNaN(ms)) throw new ColumnValueError('timestamptz value is not of the years 1 to 9999 in UTC');
  return ms;
}
