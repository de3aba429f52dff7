/** The directory of the settings that holds what a process keeps: the embedded database, keys, documents. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { StartError } from './start-error.ts';

/** Makes the data directory unless it exists. @throws StartError when it cannot be made, or is none that can be written */
export function makeDataDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    if (statSync(dataDir).isDirectory()) return;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    const why = `(${code}): it must be a directory that this user can write; set PRAXIS_DATA_DIR to one`;
    throw new StartError(`${dataDir} cannot be used as the data directory ${why}`, { cause });
  }
  const why = 'it is a file; set PRAXIS_DATA_DIR to a directory';
  throw new StartError(`${dataDir} cannot be used as the data directory: ${why}`);
}
