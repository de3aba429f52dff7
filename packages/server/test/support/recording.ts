/** Which statements the service sends. */
import type { Database } from '../../src/database/database.ts';
import type { Sql } from '../../src/database/sql.ts';

/**
 * The database, where every statement is noted before it is sent, in transactions too.
 * @param note with the firm that the statement runs as; undefined: none
 */
export function recording(database: Database, note: (firm: number | undefined, statement: Sql) => void): Database {
  return {
    ...database,
    query(statement, options) {
      note(undefined, statement);
      return database.query(statement, options);
    },
    forFirm: (firm) => ({
      query(statement, options) {
        note(firm, statement);
        return database.forFirm(firm).query(statement, options);
      },
    }),
    transaction: (firm, work, options) =>
      database.transaction(
        firm,
        (tx) =>
          work({
            query(statement) {
              note(firm, statement);
              return tx.query(statement);
            },
          }),
        options,
      ),
  };
}
