/**
 * Command lines to commands and their input (`node:util` parseArgs does the splitting).
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Command, type CommandInput, UsageError } from './command.ts';

/** The command that `words` name and the rest of the line, or undefined when none does. */
export function findCommand(
  commands: readonly Command[],
  words: readonly string[],
): { command: Command; rest: string[] } | undefined {
  for (const count of [3, 2, 1]) {
    const name = words.slice(0, count).join(' ');
    const command = words.length >= count ? commands.find((candidate) => candidate.name === name) : undefined;
    if (command) return { command, rest: words.slice(count) };
  }
  return undefined;
}

/**
 * The input of `command` from the words after its name.
 * @throws UsageError for unknown or missing options and arguments
 */
export function parseInput(command: Command, rest: readonly string[]): CommandInput {
  const { values, positionals } = parseWords(command, rest);
  const variadic = command.arguments.at(-1)?.endsWith('…') ?? false;
  const countMin = command.arguments.length;
  if (positionals.length < countMin || (!variadic && positionals.length > countMin))
    throw new UsageError(`usage: ${usageOf(command)}`);
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : command.options[name]?.default;
  };
  for (const [name, spec] of Object.entries(command.options)) {
    if (spec.required && values[name] === undefined) throw new UsageError(`--${name} is missing: ${spec.description}`);
  }
  return {
    positionals,
    argument: (index) => positionals[index] ?? '',
    option: text,
    required: (name) => text(name) ?? '',
    list(name) {
      const value = values[name];
      return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
    },
    flag: (name) => values[name] === true,
  };
}

function parseWords(command: Command, rest: readonly string[]): ReturnType<typeof parseArgs> {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, spec] of Object.entries(command.options)) {
    options[name] = { type: spec.kind === 'flag' ? 'boolean' : 'string', multiple: spec.kind === 'values' };
  }
  try {
    return parseArgs({ args: [...rest], options, allowPositionals: true, strict: true });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('. ')[0] : String(cause);
    throw new UsageError(`${reason}; usage: ${usageOf(command)}`, { cause });
  }
}

/** `praxis firm create PREFIX --environment NAME [--time-zone ZONE]` */
export function usageOf(command: Command): string {
  const options = Object.entries(command.options).map(([name, spec]) => {
    const written = spec.kind === 'flag' ? `--${name}` : `--${name} ${name.replaceAll('-', '_').toUpperCase()}`;
    const repeated = spec.kind === 'values' ? `${written} …` : written;
    return spec.required ? repeated : `[${repeated}]`;
  });
  return ['praxis', command.name, ...command.arguments, ...options].join(' ');
}
