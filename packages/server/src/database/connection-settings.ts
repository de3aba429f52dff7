/**
 * Where a database is and as whom to connect; the session's fixed runtime parameters
 * (https://www.postgresql.org/docs/current/runtime-config-client.html).
 */
import type pg from 'pg';
import { ConfigError } from '../base/config.ts';
import { columnTypes } from './column-values.ts';
import { formatOptions, meaningSettings, planSettings } from './session-settings.ts';

/** `host` may be a directory that holds a Unix socket. */
export interface ConnectionParts {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
}

/** `role` is the role to drop to after login, which the login must be a member of. */
export interface ConnectionUrl {
  readonly url: string;
  readonly role?: 'praxis_runtime';
}

export type DatabaseConnection = ConnectionUrl | ConnectionParts;

export interface SessionSettings {
  /** Name in pg_stat_activity. */
  readonly applicationName: string;
  /** 0 = no limit. */
  readonly statementTimeoutMs: number;
}

const connectTimeoutMs = 10_000;
const keepAliveDelayMs = 10_000;
const idleInTransactionTimeoutMs = 60_000;

/**
 * Settings of a pg client.
 * @throws ConfigError when the URL cannot be read; the message does not repeat it, since it holds a password
 */
export function buildClientConfig(
  connection: DatabaseConnection,
  session: SessionSettings,
): pg.ClientConfig & { pipeline: boolean } {
  const { target, options } = 'url' in connection ? fromUrl(connection.url) : { target: connection, options: '' };
  const own = formatOptions({
    ...('url' in connection && connection.role !== undefined ? { role: connection.role } : {}),
    ...meaningSettings,
    statement_timeout: String(session.statementTimeoutMs),
    idle_in_transaction_session_timeout: String(idleInTransactionTimeoutMs),
  });
  return {
    ...target,
    options: [formatOptions(planSettings), options, own].filter((text) => text !== '').join(' '),
    application_name: session.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    pipeline: true,
    types: columnTypes,
  };
}

/** `host:port/database` for messages; never the password. */
export function describeConnection(connection: DatabaseConnection): string {
  if (!('url' in connection)) return `${connection.host}:${connection.port}/${connection.database}`;
  const { address } = splitUrl(connection.url);
  return address.slice(Math.max(address.lastIndexOf('@') + 1, address.indexOf('//') + 2));
}

/** Parameters in the URL win over options in pg, so options that the URL brings are taken out and put among ours. */
function fromUrl(text: string): { target: { connectionString: string }; options: string } {
  const { address, parameters } = splitUrl(text);
  const options = parameters.get('options') ?? '';
  parameters.delete('options');
  parameters.delete('application_name');
  return { target: { connectionString: parameters.size === 0 ? address : `${address}?${parameters}` }, options };
}

/** Not the URL class: it refuses an empty host, which means a socket named by the parameter `host`. */
function splitUrl(text: string): { address: string; parameters: URLSearchParams } {
  const [address = '', parameters = ''] = text.split('?', 2);
  if (!/^postgres(ql)?:\/\/[^\s]+$/.test(address))
    throw new ConfigError('DATABASE_URL must look like postgresql://role:password@host:5432/database');
  return { address, parameters: new URLSearchParams(parameters) };
}
