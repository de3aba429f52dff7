/** The table that leads a search, from which candidates are read; leads.ts chooses it. */
import { type Sql, sql } from '../../database/sql.ts';
import { type RowOrder, type SearchTable, shares } from '../kinds/kind.ts';
import type { Condition } from '../query/condition.ts';
import { idOrder, type OrderColumn } from '../query/sorting.ts';

export interface Lead {
  readonly table: SearchTable;
  readonly number: number;
  /** What rows have to pass. */
  readonly where: Sql;
  /** The same as alternatives that each read one stretch of the primary key. */
  readonly branches: readonly Sql[];
  readonly order: RowOrder;
  /** Columns in whose order the table yields rows, before the resource's number; none where that is the order. */
  readonly columns: readonly OrderColumn[];
  /** Whether one resource can have several of the rows. */
  readonly repeats: boolean;
  /** Rank among leads: the smaller, the fewer rows. */
  readonly share: number;
  /** Conditions that every row meets; the others have to be looked up. */
  readonly covered: ReadonlySet<Condition>;
  /**
   * For leads that first gather other resources: a statement of one row, `few`, that tells whether at most `limit` of
   * those have to be gone through.
   */
  readonly gathersFew?: (limit: number) => Sql;
}

/** Rank of a walk through all resources of the type. */
export const shareOfAll = shares.most + 1;

/** All resources of the type, by id: an order in which updates move nothing. */
export const allOfType: Lead = {
  table: 'resource',
  number: 0,
  where: sql`true`,
  branches: [sql`true`],
  order: 'value',
  columns: idOrder,
  repeats: false,
  share: shareOfAll,
  covered: new Set(),
};
