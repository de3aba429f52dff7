/**
 * Help texts, from the list of commands.
 */
import type { Command } from './command.ts';
import { usageOf } from './parse.ts';
import { tableLines } from './table.ts';

/** The help of one command, or the list of all. */
export function helpLines(commands: readonly Command[], command: Command | undefined): string[] {
  if (command === undefined) {
    const rows = commands.map((each) => [`praxis ${each.name}`, each.summary]);
    return [
      'Usage: praxis COMMAND [ARGUMENT …] [--OPTION …]',
      '',
      ...tableLines(['Command', ''], rows, true),
      '',
      'praxis help COMMAND tells the options of one; settings are environment variables (docs/operate/settings.md).',
    ];
  }
  const options = Object.entries(command.options).map(([name, spec]) => [
    `--${name}`,
    describe(spec.description, spec.default),
  ]);
  return [
    command.summary,
    '',
    `Usage: ${usageOf(command)}`,
    ...(options.length > 0 ? ['', ...tableLines(['Option', ''], options, true)] : []),
  ];
}

function describe(description: string, standard: string | undefined): string {
  return standard === undefined ? description : `${description} (default ${standard})`;
}
