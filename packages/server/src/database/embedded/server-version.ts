/** The version of the server program; asking for it also shows that the account can run it. */
import { StartError } from '../../base/start-error.ts';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { programEnvironment } from './processes.ts';

/**
 * Resolves with e.g. `18.4`.
 * @throws StartError when the program cannot be run
 */
export async function readServerVersion(account: Account, binaries: Binaries): Promise<string> {
  const child = account.spawn(binaries.postgres, ['--version'], {
    cwd: '/',
    env: programEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  await new Promise<void>((resolve) => {
    child.on('error', (error) => {
      output += error.message;
      resolve();
    });
    child.on('close', () => resolve());
  });
  const version = /^postgres \(PostgreSQL\) (\d+\.\d+)/.exec(output)?.[1];
  if (version === undefined) {
    // A program that is there and yet is not found lacks its loader.
    const remedy = /ENOENT|not found/.test(output)
      ? 'it needs glibc on Linux; use a system that has it, or set DATABASE_URL'
      : `${binaries.postgres} must be a program that this account may run, on a file system without noexec; or set DATABASE_URL`;
    throw new StartError(
      `Embedded PostgreSQL cannot be run as ${account.name} on this machine: ${output.trim().replaceAll(/\s+/g, ' ').slice(0, 300)}; ${remedy}`,
    );
  }
  return version;
}
