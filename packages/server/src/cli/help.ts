/** Help texts, from the list of commands. */
import type { Command } from './command.ts';
import { findCommand, findGroup, formatUsage } from './parse.ts';
import { formatTable } from './printing.ts';

/** The help that a command line asks for: of a command, a group of commands or all; undefined when it asks for none. */
export function findHelp(commands: readonly Command[], line: readonly string[]): string[] | undefined {
  if (line.length === 0) return formatHelpOverview(commands);
  const isAsked = line[0] === 'help' || line.includes('--help');
  const words = line.filter((word) => word !== '--help').slice(line[0] === 'help' ? 1 : 0);
  if (isAsked && words.length === 0) return formatHelpOverview(commands);
  const found = findCommand(commands, words);
  if (found !== undefined) return isAsked ? formatCommandHelp(found.command) : undefined;
  const group = findGroup(commands, words.at(-1) === 'help' ? words.slice(0, -1) : words);
  if (group.length === 0 || (!isAsked && words.at(-1) !== 'help')) return undefined;
  return [...commandLines(group), '', 'praxis help COMMAND shows the options of one.'];
}

/** The list of all commands. */
export function formatHelpOverview(commands: readonly Command[]): string[] {
  return [
    'Usage: praxis COMMAND [ARGUMENT …] [--OPTION …]',
    '',
    ...commandLines(commands),
    '',
    'praxis help COMMAND shows the options of one, praxis help GROUP the commands that begin with a word, praxis --version the version.',
    'Settings are environment variables (docs/operate/settings.md).',
  ];
}

/** What a command does and takes. */
export function formatCommandHelp(command: Command): string[] {
  const described = command.arguments.map(({ label, description }) => [label, description]);
  const options = Object.entries(command.options).map(([name, spec]) => [
    `--${name}`,
    spec.default === undefined ? spec.description : `${spec.description} (default ${spec.default})`,
  ]);
  return [
    command.summary,
    ...(command.description === undefined ? [] : ['', command.description]),
    '',
    `Usage: ${formatUsage(command)}`,
    ...(described.length > 0 ? ['', ...formatTable(['Argument', ''], described, true)] : []),
    ...(options.length > 0 ? ['', ...formatTable(['Option', ''], options, true)] : []),
  ];
}

function commandLines(commands: readonly Command[]): string[] {
  return formatTable(
    ['Command', ''],
    commands.map(({ name, summary }) => [`praxis ${name}`, summary]),
    true,
  );
}
