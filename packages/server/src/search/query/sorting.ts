/**
 * Sort keys: https://hl7.org/fhir/R4/search.html#sort. A resource with several values takes the place of the one that
 * comes first in the asked order; resources without a value come last in both directions.
 */
import { type Sql, sql } from '../../database/sql.ts';
import type { FirmSearchParameters } from '../../tenancy/search-parameters.ts';
import type { Parameter, SearchTable } from '../kinds/kind.ts';
import { asWritten } from '../kinds/quantity.ts';
import { getSearchableParameters } from '../parameters.ts';
import { quoteName, refuseValue } from './search-values.ts';
import { suggestParameter } from './suggest-parameter.ts';

/** A column that rows are ordered by. */
export interface OrderColumn {
  readonly name: Sql;
  /** Casts text to the column's type: `::bigint`. */
  readonly cast: Sql;
}

/** How a table orders its rows. */
interface TableOrder {
  /** All value columns of its primary key. */
  readonly columns: readonly OrderColumn[];
  /** How many of them make two values different; the others only order rows with equal values. */
  readonly decisive: number;
  /** Condition on rows that stand for a value, and not for the mere presence of one. */
  readonly sortable: Sql;
}

export interface SortKey extends Pick<TableOrder, 'columns' | 'sortable'> {
  readonly parameter: Parameter;
  readonly table: SearchTable;
  readonly number: number;
  readonly descending: boolean;
  /** Whether every resource has a value. Of an element it may be missing even where R4 requires the element. */
  readonly always: boolean;
}

/** Sort keys of one search at most. */
export const sortKeysMax = 5;

const bigint = sql`::bigint`;
const double = sql`::float8`;
const text = sql`::text`;
const always = sql`true`;

const orders: Readonly<Record<Exclude<SearchTable, 'resource'>, TableOrder>> = {
  token: { columns: [{ name: sql`code`, cast: text }], decisive: 1, sortable: sql`code <> ''` },
  reference: {
    columns: [
      { name: sql`target_rtype`, cast: sql`::smallint` },
      { name: sql`target_id`, cast: text },
    ],
    decisive: 2,
    sortable: sql`target_id <> ''`,
  },
  date: {
    columns: [
      { name: sql`lo`, cast: bigint },
      { name: sql`hi`, cast: bigint },
    ],
    decisive: 1,
    sortable: always,
  },
  string: { columns: [{ name: sql`value`, cast: text }], decisive: 1, sortable: sql`original <> ''` },
  number: {
    columns: [
      { name: sql`lo`, cast: double },
      { name: sql`hi`, cast: double },
    ],
    decisive: 1,
    sortable: asWritten,
  },
};

export const idOrder: readonly OrderColumn[] = [{ name: sql`id`, cast: text }];
export const lastUpdatedOrder: readonly OrderColumn[] = [{ name: sql`lu`, cast: bigint }];

/** The value columns of the primary key of an index table, or of the index on `resource` that serves the parameter. */
export function getTableOrder(table: SearchTable, code: string): TableOrder {
  if (table !== 'resource') return orders[table];
  return { columns: code === '_id' ? idOrder : lastUpdatedOrder, decisive: 1, sortable: always };
}

/**
 * The keys of a `_sort` value: parameter codes separated by commas, each with `-` for descending.
 * @param own search parameters of the firm's own
 * @throws PraxisError `search-invalid` for unknown keys and too many
 */
export function parseSort(type: string, value: string, own: FirmSearchParameters): readonly SortKey[] {
  const words = value.split(',');
  if (words.length > sortKeysMax) refuseValue('_sort', `has ${words.length} keys; at most ${sortKeysMax} are taken`);
  const keys = words.map((word) => sortKey(getSearchableParameters(type, own), type, word.trim(), words.length === 1));
  const codes = new Set(keys.map((key) => key.parameter.code));
  if (codes.size < keys.length) refuseValue('_sort', 'names a key twice');
  return keys;
}

/** A key that stands alone is ordered as its index is; one with others only by what makes values different. */
function sortKey(parameters: ReadonlyMap<string, Parameter>, type: string, word: string, alone: boolean): SortKey {
  const descending = word.startsWith('-');
  const code = descending ? word.slice(1) : word;
  const parameter = parameters.get(code);
  if (parameter === undefined) {
    refuseValue(
      '_sort',
      `names ${quoteName(code)}${suggestParameter(type, code) || ':'} it takes search parameters of ${type}, separated by commas, each with - before it for descending order`,
    );
  }
  if (parameter.kind.whole || parameter.kind.sortable === false) {
    refuseValue('_sort', `names ${code}, whose values have no order to sort by`);
  }
  const { table } = parameter.kind;
  const { columns, decisive, sortable } = getTableOrder(table, code);
  return {
    columns: alone ? columns : columns.slice(0, decisive),
    sortable,
    parameter,
    table,
    number: parameter.number,
    descending,
    always: table === 'resource',
  };
}
