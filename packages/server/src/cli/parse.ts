/**
 * Command lines to commands and their input (`node:util` parseArgs does the splitting).
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { findNearestName, suggestName } from '@praxis/fhir/suggestion';
import { type Command, type CommandInput, UsageError } from './command.ts';

/** The command that `words` name and the rest of the line, or undefined when none does. */
export function findCommand(
  commands: readonly Command[],
  words: readonly string[],
): { command: Command; rest: string[] } | undefined {
  for (const count of [3, 2, 1]) {
    const name = words.slice(0, count).join(' ');
    const command = commands.find((each) => each.name === name || each.aliases?.includes(name) === true);
    if (command) return { command, rest: words.slice(count) };
  }
  return undefined;
}

/** The commands whose names begin with these words and go on. */
export function findGroup(commands: readonly Command[], words: readonly string[]): readonly Command[] {
  return words.length === 0 ? [] : commands.filter(({ name }) => name.startsWith(`${words.join(' ')} `));
}

/** `: did you mean firm list?`; empty when no command, and no word that commands begin with, is near. */
export function suggestCommand(commands: readonly Command[], words: readonly string[]): string {
  for (const count of [3, 2, 1]) {
    const names = new Set(commands.map(({ name }) => name.split(' ', count).join(' ')));
    const hint = words.length < count ? '' : suggestName(words.slice(0, count).join(' '), names);
    if (hint !== '') return hint;
  }
  return '';
}

/**
 * The input of `command` from the words after its name.
 * @throws UsageError naming what is unknown, missing, too much or not among the values that there are
 */
export function parseInput(command: Command, rest: readonly string[]): CommandInput {
  const { values, positionals } = parseWords(command, rest);
  requireArguments(command, positionals);
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : command.options[name]?.default;
  };
  const list = (name: string): readonly string[] =>
    [values[name] ?? []].flat().filter((item) => typeof item === 'string');
  for (const [name, spec] of Object.entries(command.options)) {
    if (spec.required && values[name] === undefined) throw new UsageError(`--${name} is missing: ${spec.description}`);
    for (const value of list(name)) requireValue(`--${name}`, spec.values, value);
  }
  return {
    positionals,
    argument: (index) => positionals[index] ?? '',
    option: text,
    required: (name) => text(name) ?? '',
    list,
    flag: (name) => values[name] === true,
  };
}

function requireArguments(command: Command, given: readonly string[]): void {
  const { arguments: declared } = command;
  const missing = declared[given.length];
  if (missing !== undefined) throw new UsageError(`${missing.label} is missing; usage: ${formatUsage(command)}`);
  const extra = declared.at(-1)?.isRepeated === true ? undefined : given[declared.length];
  if (extra !== undefined) throw new UsageError(`'${extra}' is one argument too many; usage: ${formatUsage(command)}`);
  for (const [index, { label, values }] of declared.entries()) requireValue(label, values, given[index] ?? '');
}

const namedValuesMax = 20;

function requireValue(name: string, values: readonly string[] | undefined, given: string): void {
  if (values === undefined || values.includes(given)) return;
  const named = values.slice(0, namedValuesMax).join(', ');
  const more = values.length > namedValuesMax ? ` and ${values.length - namedValuesMax} others` : '';
  throw new UsageError(`${name} must be one of ${named}${more}, not '${given}'${suggestName(given, values)}`);
}

function parseWords(command: Command, rest: readonly string[]): ReturnType<typeof parseArgs> {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, spec] of Object.entries(command.options)) {
    options[name] = { type: spec.kind === 'flag' ? 'boolean' : 'string', multiple: spec.kind === 'values' };
  }
  try {
    return parseArgs({ args: [...rest], options, allowPositionals: true, strict: true });
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('. ')[0] ?? '') : String(cause);
    const [, given = ''] = /^Unknown option '--([^']*)'/.exec(reason) ?? [];
    const nearest = findNearestName(given, Object.keys(options));
    const hint = nearest === undefined ? ';' : `: did you mean --${nearest}?`;
    throw new UsageError(`${reason}${hint} usage: ${formatUsage(command)}`, { cause });
  }
}

/** `praxis firm create PREFIX NAME [--environment ENVIRONMENT] [--time-zone TIME_ZONE]` */
export function formatUsage(command: Command): string {
  const words = command.arguments.map(({ label, isRepeated }) => (isRepeated ? `${label}…` : label));
  const options = Object.entries(command.options).map(([name, spec]) => {
    const written = spec.kind === 'flag' ? `--${name}` : `--${name} ${name.replaceAll('-', '_').toUpperCase()}`;
    const repeated = spec.kind === 'values' ? `${written} …` : written;
    return spec.required ? repeated : `[${repeated}]`;
  });
  return ['praxis', command.name, ...words, ...options].join(' ');
}
