/** What a process says when it fails. */
import { inspect } from 'node:util';
import { ConfigError } from '../base/config.ts';
import { PraxisError } from '../base/errors.ts';
import { StartError } from '../base/start-error.ts';

/**
 * Writes one line to standard error that says what went wrong and what would be right; a stack for faults of our own, and where the
 * log level asks. Returns the exit status: 2 for wrong usage or configuration, otherwise 1.
 */
export function report(error: unknown): number {
  const line = lineOf(error);
  const isStackWanted = line === undefined || ['debug', 'trace'].includes(process.env['PRAXIS_LOG_LEVEL'] ?? '');
  if (line !== undefined) process.stderr.write(`praxis: ${line}\n`);
  if (isStackWanted) process.stderr.write(`praxis: ${inspect(error)}\n`);
  return error instanceof ConfigError ? 2 : 1;
}

/** Undefined for a fault of our own. */
function lineOf(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof StartError) return error.message;
  if (error instanceof PraxisError) return error.details.diagnostics;
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined;
  // Of the operating system: a file, a port, a host.
  if (error.code === 'EADDRINUSE')
    return `${error.message}: another program listens there; stop it, or set another port`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `${error.message}: no address of this machine; set PRAXIS_HOST`;
  if (error.code === 'EACCES' && error.syscall === 'listen')
    return `${error.message}: this user may not listen there; set PRAXIS_PORT to 1024 or higher`;
  return error.message;
}
