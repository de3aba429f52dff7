/** The index that drives a search, from which candidates are read; choose-driving-index.ts chooses it. */
import { type Sql, sql } from '../../database/sql.ts';
import { type RowOrder, type SearchTable, selectivities } from '../kinds/kind.ts';
import type { SearchCondition } from '../query/condition.ts';
import { idOrder, type OrderColumn } from '../query/sorting.ts';

export interface DrivingIndex {
  readonly table: SearchTable;
  readonly number: number;
  /** What rows have to pass. */
  readonly where: Sql;
  /** The same as alternatives that each read one range of the primary key. */
  readonly branches: readonly Sql[];
  readonly order: RowOrder;
  /** Columns in whose order the table yields rows, before the resource's number; none where that is the order. */
  readonly columns: readonly OrderColumn[];
  /** Whether one resource can have several of the rows. */
  readonly repeats: boolean;
  /** Rank among driving indexes: the smaller, the fewer rows. */
  readonly selectivity: number;
  /** Conditions that every row meets; the others have to be looked up. */
  readonly covered: ReadonlySet<SearchCondition>;
  /**
   * For driving indexes that first gather other resources: a statement of one row, `few`, that tells whether at most
   * `limit` of those have to be gone through.
   */
  readonly gathersFew?: (limit: number) => Sql;
}

/** Rank of a walk through all resources of the type. */
export const selectivityOfAll = selectivities.most + 1;

/** All resources of the type, by id: an order in which updates move nothing. */
export const allOfType: DrivingIndex = {
  table: 'resource',
  number: 0,
  where: sql`true`,
  branches: [sql`true`],
  order: 'value',
  columns: idOrder,
  repeats: false,
  selectivity: selectivityOfAll,
  covered: new Set(),
};
