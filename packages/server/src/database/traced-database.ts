/**
 * Statements of requests as spans: named by what they do and to which table, never by a value. Values are bound, so a text has none
 * (sql.ts). https://opentelemetry.io/docs/specs/semconv/database/database-spans/
 */
import type { SpanDescription, Tracer } from '../base/tracing/tracer.ts';
import type { Database, FirmConnection } from './database.ts';
import type { Sql } from './sql.ts';
import type { Queryable } from './transaction.ts';

/** The database, with a span for each statement and each transaction. */
export function traceDatabase(database: Database, tracer: Tracer): Database {
  const trace = (connection: FirmConnection): FirmConnection => ({
    query: (statement, options) =>
      tracer.measure(describeStatement(statement), () => connection.query(statement, options)),
  });
  const traceWork = (tx: Queryable): Queryable => ({
    query: (statement) => tracer.measure(describeStatement(statement), () => tx.query(statement)),
  });
  return {
    ...database,
    ...trace(database),
    forFirm: (firm, caller) => trace(database.forFirm(firm, caller)),
    transaction: (firm, work, options) =>
      tracer.measure(transaction, () => database.transaction(firm, (tx) => work(traceWork(tx)), options)),
  };
}

const system = { 'db.system.name': 'postgresql' };
const transaction: SpanDescription = { name: 'transaction', kind: 'internal', attributes: system };

/** Characters of a text that are looked at. */
const textMax = 4_000;

function describeStatement({ text }: Sql): SpanDescription {
  const { operation, target } = parseStatement(text.slice(0, textMax));
  const name = target === undefined ? operation : `${operation} ${target}`;
  const of = target === undefined ? {} : { 'db.collection.name': target };
  return { name, kind: 'client', attributes: { ...system, 'db.operation.name': operation, ...of } };
}

/** What a statement changes, or else what it reads first: a table, or a function of ours. */
function parseStatement(text: string): { readonly operation: string; readonly target?: string | undefined } {
  const [, verb = '', changed] = /\b(INSERT INTO|DELETE FROM|UPDATE) ([a-z_]+)/.exec(text) ?? [];
  if (changed !== undefined) return { operation: verb.split(' ')[0] ?? verb, target: changed };
  const [, table, called] = /\bFROM ([a-z_]+)|\b(praxis_[a-z_]+)\(/.exec(text) ?? [];
  return { operation: /^\s*([A-Z]+)\b/.exec(text)?.[1] === 'CALL' ? 'CALL' : 'SELECT', target: table ?? called };
}
