/**
 * `praxis`: the entry of the command line. Exit status: 0 done, 1 failed, 2 wrong usage or configuration.
 */
import { existsSync } from 'node:fs';
import { openPlatform, type Platform } from '../app.ts';
import { systemClock } from '../base/clock.ts';
import { ConfigError, readConfig } from '../base/config.ts';
import { PraxisError } from '../base/errors.ts';
import { openLog } from '../base/log.ts';
import { runAudited } from './audited.ts';
import { type CommandContext, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { helpLines } from './help.ts';
import { findCommand, parseInput } from './parse.ts';

const words = process.argv.slice(2);
// `praxis … | head` closes the pipe early, which is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
process.exitCode = await run(words);

async function run(line: readonly string[]): Promise<number> {
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  const wantsHelp = line.length === 0 || line.includes('--help') || line[0] === 'help';
  const found = findCommand(commands, line[0] === 'help' ? line.slice(1) : line);
  if (wantsHelp) {
    for (const text of helpLines(commands, found?.command)) print(text);
    return 0;
  }
  let platform: Promise<Platform> | undefined;
  try {
    if (!found) throw new UsageError(`there is no command '${line.slice(0, 2).join(' ')}'; praxis help lists all`);
    const config = readConfig(process.env);
    const context: CommandContext = {
      config,
      platform() {
        platform ??= openPlatform({ config, clock: systemClock, log: openLog(config.logLevel) });
        return platform;
      },
      print,
      progress: (text) => void process.stderr.write(text),
      interactive: process.stdout.isTTY === true && existsSync('/dev/tty'),
    };
    await runAudited(found.command, context, parseInput(found.command, found.rest));
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return report(error);
  } finally {
    await (await platform?.catch(() => undefined))?.close();
  }
}

/** One line that says what went wrong and what would be right; a stack only for faults of our own. */
function report(error: unknown): number {
  if (error instanceof ConfigError) {
    process.stderr.write(`praxis: ${error.message}\n`);
    return 2;
  }
  if (error instanceof PraxisError) {
    process.stderr.write(`praxis: ${error.details.diagnostics}\n`);
    return 1;
  }
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    process.stderr.write(`praxis: ${error.message}: another program listens there; stop it, or set another port\n`);
    return 1;
  }
  process.stderr.write(`praxis: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}
