/** `praxis completion`: a script that lets a shell complete commands, options and their values. */
import type { Command } from '../../command.ts';

const shells = ['bash', 'zsh'] as const;

/** @param list all commands, asked for when the script is printed */
export function buildCompletionCommand(list: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'Print a completion script for a shell: eval "$(praxis completion bash)"',
    arguments: [{ label: 'SHELL', description: 'The shell', values: shells }],
    options: {},
    async run(context, input) {
      // zsh runs the completions of bash (https://zsh.sourceforge.io/Doc/Release/Completion-System.html#Use-of-compinit).
      if (input.argument(0) === 'zsh')
        context.print('autoload -U +X compinit bashcompinit && compinit && bashcompinit');
      for (const line of scriptLines(list())) context.print(line);
    },
  };
}

function scriptLines(commands: readonly Command[]): string[] {
  const names = commands.map(({ name }) => name);
  return [
    '_praxis() {',
    `  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} line='' words='' word`,
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    '    case $word in -*) ;; *) line="$line$word " ;; esac',
    '  done',
    '  case $line in',
    ...commands.flatMap(commandCase),
    ...[...prefixesOf(names)].map(([prefix, next]) => `    ${quote(prefix)}) words=${quote([...next].join(' '))} ;;`),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _praxis praxis',
  ];
}

/** The words that may follow each beginning of a name; `firm ` → `create`, `list` and so on. */
function prefixesOf(names: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const following = new Map<string, Set<string>>([['', new Set(['help', '--version'])]]);
  for (const name of names) {
    const words = name.split(' ');
    for (const [index, word] of words.entries()) {
      const prefix = words
        .slice(0, index)
        .map((each) => `${each} `)
        .join('');
      following.set(prefix, (following.get(prefix) ?? new Set()).add(word));
    }
  }
  return following;
}

/** Values behind an option that has them, otherwise the options and what the first argument may be. */
function commandCase({ name, options, arguments: declared }: Command): string[] {
  const given = Object.entries(options);
  const words = [...(declared[0]?.values ?? []), ...given.map(([option]) => `--${option}`)];
  return [
    `    ${quote(`${name} `)}*)`,
    `      words=${quote(words.join(' '))}`,
    '      case $previous in',
    ...given.flatMap(([option, spec]) => {
      if (spec.kind === 'flag') return [];
      // Nothing: the shell completes names of files.
      return [`        --${option}) words=${quote(spec.values?.join(' ') ?? '')} ;;`];
    }),
    '      esac ;;',
  ];
}

function quote(text: string): string {
  return `'${text}'`;
}
