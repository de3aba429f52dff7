/**
 * The columns of the statements that a connection has prepared. They stay the same for as long as the statement is prepared (a
 * schema that changes them makes it fail), so they are described once.
 */

/** What pg's result needs to read rows. */
export interface Columns {
  readonly fields: readonly unknown[];
  readonly _parsers: readonly unknown[];
  readonly _prebuiltEmptyResultObject: object;
}

/** By the name of the statement. */
export type KnownColumns = Map<string, Columns>;

/** The columns that were just described to `result`. */
export function copyColumns({ fields, _parsers, _prebuiltEmptyResultObject }: Columns): Columns {
  return { fields, _parsers, _prebuiltEmptyResultObject };
}
