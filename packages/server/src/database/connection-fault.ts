/** Why a first connection failed, in one line that says how it is mended. */
import { StartError } from '../base/start-error.ts';
import { type DatabaseConnection, describeConnection } from './connection-settings.ts';
import { isConfigurationFault } from './sqlstate.ts';

/** What to do, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const remedies: Readonly<Record<string, string>> = {
  '28P01': 'correct the password',
  '28000': 'correct the role, or let pg_hba.conf of the server admit it',
  '3D000': 'make the database, or correct its name',
  '42501': 'give the role the right',
  '53300': 'raise max_connections of the server, or lower PRAXIS_DATABASE_POOL',
};

/** What to do, by error of the operating system or of Node. */
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start the database, or correct host and port',
  ENOTFOUND: 'there is no such host: correct its name',
  EAI_AGAIN: 'the name of the host could not be looked up: correct it, or mend DNS',
  ENOENT: 'there is no such socket: start the database, or correct the directory',
  EACCES: 'this user may not open the socket: run praxis as one who may',
  ETIMEDOUT: 'it does not answer: correct host and port, or let firewalls pass',
  EHOSTUNREACH: 'there is no way to the host: correct it, or mend the network',
  ENETUNREACH: 'there is no way to the host: correct it, or mend the network',
};

/** The fault for people; `error` is what pg threw. The password is never in it. */
export function makeConnectionError(connection: DatabaseConnection, error: unknown): StartError {
  const where = describeConnection(connection);
  const code = codeOf(error);
  const reason = error instanceof Error && error.message !== '' ? error.message : code;
  const settings = 'url' in connection ? ' (DATABASE_URL or PRAXIS_RUNTIME_DATABASE_URL)' : '';
  if (isConfigurationFault(error)) {
    const remedy = remedies[code] ?? 'correct the settings of the connection';
    const problem = `Database ${where} refuses the connection: ${reason}; ${remedy}${settings}`;
    return new StartError(problem, { cause: error });
  }
  const unknown = /timeout/.test(reason)
    ? unreachable['ETIMEDOUT']
    : 'start it, or correct the settings of the connection';
  const remedy = remedies[code] ?? unreachable[code] ?? unknown;
  return new StartError(`Database ${where} cannot be reached (${reason}): ${remedy}${settings}`, { cause: error });
}

/** A connection to several addresses of one host fails with an error for each. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
