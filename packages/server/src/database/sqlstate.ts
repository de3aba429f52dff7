/**
 * What went wrong in the database, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), and what
 * callers get to see of it. Messages and details of PostgreSQL can quote stored values, so neither is passed on where it can.
 */
import pg from 'pg';
import { type ErrorCode, type ErrorDetails, PraxisError } from '../base/errors.ts';

/**
 * - `serialization`: rolled back because of a concurrent transaction; running it again is safe and sensible.
 * - `stale-plan`: the statement never ran, since its prepared form is outdated or gone; run it on a fresh connection.
 * - `lost`: the connection ended, so the outcome of what had been sent is unknown.
 * - `timeout`: cancelled by the statement timeout.
 * - `exhausted`: the database server lacks connections, locks, memory, disk space or write access.
 * - `refused`: the statement itself was refused (constraint, syntax, privilege, raised exception).
 */
export type FailureKind = 'serialization' | 'stale-plan' | 'lost' | 'timeout' | 'exhausted' | 'refused';

/** Whole codes first, then classes (the first two characters). What is in neither is `refused`. */
const conditions: Readonly<Record<string, FailureKind>> = {
  '40001': 'serialization', // serialization_failure
  '40P01': 'serialization', // deadlock_detected
  PX001: 'serialization', // raised by praxis_audit_rows and praxis_write_resources
  '0A000': 'stale-plan', // only when the plan cache raised it, see classifyFailure
  '26000': 'stale-plan', // invalid_sql_statement_name
  '57014': 'timeout', // query_canceled
  '57P01': 'lost', // admin_shutdown
  '57P02': 'lost', // crash_shutdown
  '57P03': 'lost', // cannot_connect_now
  '57P05': 'lost', // idle_session_timeout
  '25P03': 'lost', // idle_in_transaction_session_timeout
  '25P04': 'lost', // transaction_timeout
  '25006': 'exhausted', // read_only_sql_transaction: connected to a standby
  '55P03': 'exhausted', // lock_not_available
  '08': 'lost', // connection exceptions
  '53': 'exhausted', // insufficient resources
  '58': 'exhausted', // system errors, e.g. of the disk
};

/** An error message as pg receives it; https://www.postgresql.org/docs/current/protocol-error-fields.html */
interface ServerMessage {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly routine?: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly column?: string;
}

/** A statement that the database refused. Carries names of tables and constraints, never values. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly sqlState: string;
  readonly constraint: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;

  constructor(server: ServerMessage, statementText: string) {
    super(
      `Database refused the statement (SQLSTATE ${server.code}): ${safeMessage(server)}; statement: ${shortened(statementText)}`,
    );
    this.sqlState = server.code;
    this.constraint = server.constraint;
    this.table = server.table;
    this.column = server.column;
  }
}

/** A column's value could not be read into JavaScript, e.g. an int8 beyond 2^53. The statement did run. */
export class ColumnValueError extends RangeError {
  override readonly name = 'ColumnValueError';
}

/** What `error`, as pg threw it, means. Anything that is no message of the database server is a lost connection. */
export function classifyFailure(error: unknown): FailureKind {
  if (error instanceof ColumnValueError) return 'refused';
  const server = serverMessageOf(error);
  if (server === undefined) return 'lost';
  if (isFatal(error)) return server.code.startsWith('53') ? 'exhausted' : 'lost';
  if (server.code === '0A000' && server.routine !== 'RevalidateCachedQuery') return 'refused';
  return conditions[server.code] ?? conditions[server.code.slice(0, 2)] ?? 'refused';
}

/** Whether the server, or what `toThrowable` has made of it, says that a lock was not to be had within lock_timeout. */
export function isLockTimeout(error: unknown): boolean {
  if (serverMessageOf(error)?.code === locked) return true;
  const cause = error instanceof PraxisError ? error.details.cause : undefined;
  return cause instanceof Error && cause.message.startsWith('SQLSTATE 55P03:');
}

/** Whether what `toThrowable` has made says that the ledger lacks a caller or an action that a row refers to. */
export function isUnknownKey(error: unknown): boolean {
  const cause = error instanceof PraxisError ? error.details.cause : undefined;
  return cause instanceof Error && cause.message.startsWith('SQLSTATE PX001:');
}

/** Whether what `toThrowable` has made says that a version came too late: with a new time it is taken. */
export function isTooLate(error: unknown): boolean {
  const cause = error instanceof PraxisError ? error.details.cause : undefined;
  return cause instanceof Error && cause.message.startsWith(`SQLSTATE ${tooLate}:`);
}

/** Whether the database server ended the session along with the error. */
export function isFatal(error: unknown): boolean {
  const severity = serverMessageOf(error)?.severity;
  return severity === 'FATAL' || severity === 'PANIC';
}

/** Whether connecting again cannot help: wrong password, unknown database or role, missing privilege. */
export function isConfigurationFault(error: unknown): boolean {
  if (error instanceof Error && error.message.startsWith('SASL:')) return true; // pg itself, e.g. without a password
  const code = serverMessageOf(error)?.code ?? '';
  return code.startsWith('28') || code === '3D000' || code === '42501' || code === '42704' || code === '22023';
}

/** Whether the server starts or recovers from a crash: it takes connections by itself after that. One that stops has the same code. */
export function isStartingUp(error: unknown): boolean {
  const server = serverMessageOf(error);
  return server?.code === '57P03' && !server.message.includes('shutting down');
}

/**
 * What callers of `database` get for `error`: `statement-timeout`, `too-costly`, `conflict`, `unavailable`, or a StatementError
 * for a refusal.
 * @param isTooCostly whether a timeout is the statement's own fault
 */
export function toThrowable(error: unknown, statementText: string, isTooCostly = false): Error {
  if (error instanceof PraxisError || error instanceof StatementError || error instanceof ColumnValueError)
    return error;
  const condition = classifyFailure(error);
  const server = serverMessageOf(error);
  const refuse = (code: ErrorCode, diagnostics: string, more: Pick<ErrorDetails, 'headers'> = {}): PraxisError => {
    const log = { statement: shortened(statementText) };
    return new PraxisError(code, { diagnostics, cause: withoutValues(error), ...more, log });
  };
  if (server?.code === locked)
    return refuse('conflict', lockedText, { headers: { 'retry-after': String(retrySeconds) } });
  if (condition === 'timeout' && isTooCostly) return refuse('too-costly', tooCostlyText);
  if (server?.code === tooLate) return refuse('unavailable', tooLateText);
  if (condition === 'refused' && server !== undefined) return new StatementError(server, statementText);
  return refuse(condition === 'timeout' ? 'statement-timeout' : 'unavailable', failureTexts[condition]);
}

/** configuration_limit_exceeded: raised where a version comes after searches of its time were said to be complete. */
const tooLate = '53400';
const tooLateText = 'The change took too long, or the clock of the server is behind: try again';

/** lock_not_available: another transaction has changed the same rows and is not done. */
const locked = '55P03';
const lockedText = 'Others are changing the same data: try again';

const tooCostlyText =
  'The request asks more of the database than one request may: a statement of it reached the time limit. Nothing was changed. To make it cheaper: narrow it, or ask for it in parts';

const failureTexts: Readonly<Record<FailureKind, string>> = {
  serialization: 'Too many concurrent changes of the same data: try again',
  'stale-plan': 'Database schema is changing: try again',
  lost: 'Database connection was lost: try again',
  exhausted: 'Database is out of resources: try again later',
  timeout: 'Query took longer than the service allows: narrow it',
  refused: 'Database refused the statement',
};

/** pg's error without `detail`, `where` and `parameters`, which quote values. */
function withoutValues(error: unknown): Error {
  const server = serverMessageOf(error);
  if (server !== undefined) return new Error(`SQLSTATE ${server.code}: ${safeMessage(server)}`);
  return error instanceof Error ? error : new Error(String(error));
}

/** Messages of class 22 (data exceptions) quote the value: `invalid input syntax for type date: "…"`. */
function safeMessage(server: ServerMessage): string {
  return server.code.startsWith('22') ? 'a value does not fit its type' : server.message;
}

function serverMessageOf(error: unknown): ServerMessage | undefined {
  return error instanceof pg.DatabaseError && error.code !== undefined && error.severity !== undefined
    ? (error as ServerMessage)
    : undefined;
}

const statementCharactersInLog = 300;

/** Retry-After where others change the same data. */
const retrySeconds = 1;

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > statementCharactersInLog ? `${line.slice(0, statementCharactersInLog)}…` : line;
}
