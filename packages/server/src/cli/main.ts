/**
 * `praxis`: the entry of the command line. Exit status: 0 done, 1 failed, 2 wrong usage or configuration.
 */
import { existsSync } from 'node:fs';
import type { Platform } from '../app.ts';
import { type Config, readConfig } from '../base/config.ts';
import { version } from '../version.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { serveCommands } from './commands/service/serve.ts';
import { findSourcesByName } from './find-sources.ts';
import { findHelp } from './help.ts';
import { findCommand, findGroup, parseInput } from './parse.ts';
import { report } from './report.ts';

const words = process.argv.slice(2);
// `praxis … | head` closes the pipe early, which is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
findSourcesByName();
// A supervisor lives as long as the service: of all commands it loads its own alone.
const isServe = words[0] === 'serve';
process.exitCode = await run(isServe ? serveCommands : (await import('./commands.ts')).commands, words);

async function run(commands: readonly Command[], line: readonly string[]): Promise<number> {
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  const help = findHelp(commands, line);
  for (const text of line[0] === '--version' ? [version] : (help ?? [])) print(text);
  if (line[0] === '--version' || help !== undefined) return 0;
  let platform: Promise<Platform> | undefined;
  try {
    const found = findCommand(commands, line) ?? failUnknown(commands, line);
    const config = readConfig(process.env);
    const context: CommandContext = {
      config,
      platform() {
        platform ??= openOwnPlatform(config);
        return platform;
      },
      print,
      progress: (text) => void process.stderr.write(text),
      interactive: process.stdout.isTTY === true && existsSync('/dev/tty'),
    };
    const input = parseInput(found.command, found.rest);
    if (isServe) await found.command.run(context, input);
    else await (await import('./audited.ts')).runAudited(found.command, context, input);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return report(error);
  } finally {
    await (await platform?.catch(() => undefined))?.close();
  }
}

async function openOwnPlatform(config: Config): Promise<Platform> {
  const [{ openPlatform }, { openLog }] = await Promise.all([import('../app.ts'), import('../base/log.ts')]);
  return await openPlatform({ config, log: openLog(config.logLevel) });
}

/** @throws UsageError naming the commands that begin as the line does */
function failUnknown(commands: readonly Command[], line: readonly string[]): never {
  const words = line.filter((word) => !word.startsWith('-'));
  const known = [2, 1].map((count) => words.slice(0, count)).find((each) => findGroup(commands, each).length > 0);
  if (known === undefined) throw new UsageError(`there is no command '${words[0] ?? line[0]}'; praxis help lists all`);
  const begun = known.join(' ');
  const next = findGroup(commands, known).map(({ name }) => name.slice(begun.length + 1));
  const missing = words[known.length];
  const problem = missing === undefined ? `'${begun}' is no whole command` : `'${begun}' has no command '${missing}'`;
  throw new UsageError(`${problem}; it goes on with one of ${next.join(', ')}`);
}
