/** The help of every command for docs/operate/cli.md, as `praxis help` prints it. */
import { commands } from '../../packages/server/src/cli/commands.ts';
import { formatCommandHelp, formatHelpOverview } from '../../packages/server/src/cli/help.ts';

/** The list of commands, then each of them. */
export function commandHelp(): string {
  const block = (lines: readonly string[]) => `\`\`\`text\n${lines.join('\n').trimEnd()}\n\`\`\``;
  const each = commands.map((command) => `## ${command.name}\n\n${block(formatCommandHelp(command))}`);
  return ['', block(formatHelpOverview(commands)), ...each, ''].join('\n\n').trim();
}
