/** The tables of the ledger as they are at one moment, for tests that change them by hand. */
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';

export const ledgerTables = [
  ...['audit_event', 'audit_caller', 'audit_action', 'audit_patient_key', 'audit_patient'],
  ...['audit_elements', 'audit_seal', 'audit_archive'],
];

/** Keeps every row in tables whose names begin so. Gives a function that brings them back. */
export async function keepTables(database: Database, name = 'kept'): Promise<() => Promise<void>> {
  const keptOf = (table: string) => sql.identifier(`${name}_${table}`);
  for (const table of ledgerTables) {
    await database.query(sql`DROP TABLE IF EXISTS ${keptOf(table)}`);
    await database.query(sql`CREATE TABLE ${keptOf(table)} AS TABLE ${sql.identifier(table)}`);
  }
  return async () => {
    for (const table of ledgerTables) {
      await database.query(sql`TRUNCATE ${sql.identifier(table)}`);
      await database.query(sql`INSERT INTO ${sql.identifier(table)} TABLE ${keptOf(table)}`);
    }
  };
}
