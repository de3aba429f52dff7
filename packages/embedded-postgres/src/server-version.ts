/** The version of the server program; asking for it also shows that the account can run it. */

import type { Account } from './account.ts';
import type { Application } from './application.ts';
import type { Binaries } from './binaries.ts';
import { ServerError } from './errors.ts';
import { runProgram } from './processes.ts';

/**
 * Resolves with e.g. `18.4`.
 * @throws ServerError when the program cannot be run
 */
export async function readServerVersion(
  account: Account,
  binaries: Binaries,
  { useOtherDatabase }: Application,
): Promise<string> {
  const output = await runProgram(account, binaries.postgres, ['--version']).then(
    (ran) => ran.output,
    (error: Error) => error.message,
  );
  const version = /^postgres \(PostgreSQL\) (\d+\.\d+)/.exec(output)?.[1];
  if (version === undefined) {
    // A program that is there and yet is not found lacks its loader.
    const remedy = /ENOENT|not found/.test(output)
      ? `it needs glibc on Linux; use a system that has it, or ${useOtherDatabase}`
      : `${binaries.postgres} must be a program that this account may run, on a file system without noexec; or ${useOtherDatabase}`;
    throw new ServerError(
      `Embedded PostgreSQL cannot be run as ${account.name} on this machine: ${output.trim().replaceAll(/\s+/g, ' ').slice(0, 300)}; ${remedy}`,
    );
  }
  return version;
}
