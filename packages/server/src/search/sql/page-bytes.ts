/**
 * A page has a limit in bytes, beside that in rows: a thousand resources may be some gigabytes. The database counts the bytes,
 * so that it sends no more (docs/decisions/0266).
 */
import { type Sql, sql } from '../../database/sql.ts';

/** Bytes of stored content that one page reads at most; the resource that reaches the limit is read whole. */
export const pageBytesMax = 8 * 1024 * 1024;

/**
 * Whether the contents of the rows before this one take less than `bytesMax`; true of the first row, unless `bytesMax` is 0.
 * PostgreSQL knows the length of a content without reading it.
 * @param bytes the length of a row's content: `octet_length(content)`
 * @param order the order of the page: `ORDER BY …`, total
 */
export function isWithinBytes(bytes: Sql, order: Sql, bytesMax: number): Sql {
  return sql`coalesce(sum(${bytes}) OVER (${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) < ${bytesMax}::bigint`;
}
