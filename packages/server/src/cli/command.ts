/**
 * What a command of `praxis` is: a name, what it takes, and a function. The list is in `commands.ts`; help texts and
 * docs/operate/cli.md derive from it.
 */
import type { Platform } from '../app.ts';
import type { Config } from '../base/config.ts';
import { ConfigError } from '../base/config.ts';

export interface OptionSpec {
  /** `value` takes an argument, `values` may be repeated, `flag` takes none. */
  readonly kind: 'value' | 'values' | 'flag';
  readonly description: string;
  readonly required?: true;
  readonly default?: string;
}

export interface Command {
  /** One to three words, `firm create`. */
  readonly name: string;
  readonly summary: string;
  /** Names of the positional arguments, all required; a last one ending in `…` takes the rest. */
  readonly arguments: readonly string[];
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly run: (context: CommandContext, input: CommandInput) => Promise<void>;
}

export interface CommandContext {
  readonly config: Config;
  /** Opens database and secrets at first use; closed after the command. */
  readonly platform: () => Promise<Platform>;
  /** Writes a line to standard output. */
  readonly print: (line: string) => void;
  /** Writes progress to standard error. */
  readonly progress: (text: string) => void;
  readonly interactive: boolean;
}

/** The parsed command line of one command. */
export interface CommandInput {
  readonly positionals: readonly string[];
  /** The positional argument at `index`, which the command declares. */
  argument(index: number): string;
  option(name: string): string | undefined;
  required(name: string): string;
  list(name: string): readonly string[];
  flag(name: string): boolean;
}

/** The command line is wrong; the message says what is right. Exit status 2. */
export class UsageError extends ConfigError {}

/**
 * `--acl "acl/pat_r acl/pat_s" --acl acl/appmt_s` and comma-separated lists alike, as one list. A comma inside the query of a
 * SMART scope parts values, so one parts entries only where the next begins or nothing follows.
 */
export function splitEntries(values: readonly string[]): string[] {
  return values.flatMap((value) => value.split(/\s+|,+(?=\s|$|(?:acl|system)\/)/)).filter((entry) => entry !== '');
}
