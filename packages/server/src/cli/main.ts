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
import { findCommand, findGroup, parseInput, suggestCommand } from './parse.ts';
import { report } from './report.ts';

const words = process.argv.slice(2);
// `praxis … | head` closes the pipe early, which is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
findSourcesByName();
/** Of all commands these load their own alone: a supervisor lives as long as the service, and a doctor has to work where little does. */
const isAlone = words[0] === 'serve' || words[0] === 'doctor';
process.exitCode = await run(await loadCommands(words[0]), words);

async function loadCommands(first: string | undefined): Promise<readonly Command[]> {
  if (first === 'serve') return serveCommands;
  if (first === 'doctor') return (await import('./commands/service/doctor.ts')).doctorCommands;
  return (await import('./commands.ts')).commands;
}

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
    if (isAlone) await found.command.run(context, input);
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
  return await openPlatform({ config, log: openLog(config) });
}

/** @throws UsageError naming the commands that begin as the line does */
function failUnknown(commands: readonly Command[], line: readonly string[]): never {
  const words = line.filter((word) => !word.startsWith('-')).slice(line[0] === 'help' ? 1 : 0);
  const known = [2, 1].map((count) => words.slice(0, count)).find((each) => findGroup(commands, each).length > 0);
  const hint = suggestCommand(commands, words) || ';';
  if (known === undefined)
    throw new UsageError(`there is no command '${words[0] ?? line[0]}'${hint} praxis help lists all`);
  const begun = known.join(' ');
  const next = findGroup(commands, known).map(({ name }) => name.slice(begun.length + 1));
  const missing = words[known.length];
  if (missing === undefined)
    throw new UsageError(`'${begun}' is no whole command; it goes on with one of ${next.join(', ')}`);
  throw new UsageError(`'${begun}' has no command '${missing}'${hint} it goes on with one of ${next.join(', ')}`);
}
