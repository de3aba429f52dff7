/**
 * What commands work on, over a test database: the platform of one process, with a clock that stands still.
 */
import { openPlatform, type Platform } from '../../src/app.ts';
import { makeFixedClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { makeSecret } from '../../src/base/ids.ts';
import type { Command, CommandContext } from '../../src/cli/command.ts';
import { findCommand, parseInput } from '../../src/cli/parse.ts';
import { createFirm, type Firm } from '../../src/tenancy/firms.ts';
import { testLog } from '../support/cluster.ts';
import { type Lifetime, openTestDatabase, type TestDatabase } from '../support/database.ts';

/** 2026-11-21T09:30:00Z */
export const startMs = Date.UTC(2026, 10, 21, 9, 30);

export interface TestPlatform extends Platform {
  /** For opening more connections. */
  readonly connections: TestDatabase['connections'];
}

/** A platform over a database of its own, with the default environments. */
export async function openTestPlatform(t: Lifetime, secretKey: string = makeSecret()): Promise<TestPlatform> {
  const { connections, runtime } = await openTestDatabase(t);
  // Else it would look like another process that uses the database.
  await runtime.close();
  const platform = await openPlatform({
    config: readConfig({ PRAXIS_LOG_LEVEL: 'silent', PRAXIS_SECRET_KEY: secretKey }),
    clock: makeFixedClock(startMs),
    log: testLog,
    connections: { ...connections, stop: async () => undefined },
  });
  t.after(() => platform.close());
  return { ...platform, connections };
}

/** A firm of the sandbox environment. */
export function makeFirm(platform: Platform, prefix: string, environment = 'sandbox'): Promise<Firm> {
  return createFirm(platform.database, { environment, prefix, name: 'Practice', timeZone: 'America/New_York' });
}

export interface CommandResult {
  /** Lines of standard output, but for what a command writes to the stream itself. */
  readonly output: readonly string[];
  /** Text of standard error. */
  readonly progress: string;
  readonly exitStatus: number;
}

/** Runs a command line as `main.ts` does, on a platform that stays open. */
export async function runCommand(
  platform: Platform,
  commands: readonly Command[],
  ...line: readonly string[]
): Promise<CommandResult> {
  return await runWatched(platform, commands, { onProgress: () => undefined, output: [] }, ...line);
}

/** Of a command while it runs. */
export interface Watch {
  /** Called with each text of standard error. */
  readonly onProgress: (text: string) => void;
  /** Lines of standard output, also of a command that fails. */
  readonly output: string[];
}

/** As `runCommand`. */
export async function runWatched(
  platform: Platform,
  commands: readonly Command[],
  { onProgress, output }: Watch,
  ...line: readonly string[]
): Promise<CommandResult> {
  const found = findCommand(commands, line);
  if (found === undefined) throw new Error(`no command ${line.join(' ')}`);
  let progress = '';
  const context: CommandContext = {
    config: platform.config,
    platform: async () => platform,
    print: (text) => void output.push(text),
    progress: (text) => {
      progress += text;
      onProgress(text);
    },
    interactive: false,
  };
  const statusBefore = process.exitCode;
  process.exitCode = 0;
  try {
    await found.command.run(context, parseInput(found.command, found.rest));
    return { output, progress, exitStatus: Number(process.exitCode) };
  } finally {
    process.exitCode = statusBefore;
  }
}
