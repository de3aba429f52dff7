/** One connection of who only looks: it can change nothing, and waits for nothing. */
import pg from 'pg';
import { makeConnectionError } from './connection-fault.ts';
import { buildClientConfig, type DatabaseConnection } from './connection-settings.ts';
import type { Queryable } from './transaction.ts';

export interface Inspection extends Queryable {
  close(): Promise<void>;
}

/** Longest wait for the connection, and for a statement. */
const connectMaxMs = 5_000;
const statementMaxMs = 3_000;

/** Connects once, for reads alone. @throws StartError when the database cannot be reached or refuses the login */
export async function openInspection(connection: DatabaseConnection): Promise<Inspection> {
  const session = { applicationName: 'praxis doctor', statementTimeoutMs: statementMaxMs };
  const client = new pg.Client({
    ...buildClientConfig(connection, session),
    connectionTimeoutMillis: connectMaxMs,
  });
  client.on('error', () => undefined); // the statement that it cuts off says so
  try {
    await client.connect();
    await client.query('SET default_transaction_read_only = on');
  } catch (error) {
    await client.end().catch(() => undefined);
    throw makeConnectionError(connection, error);
  }
  return {
    query: async ({ text, values }) => (await client.query(text, [...values])).rows,
    close: async () => await client.end(),
  };
}
