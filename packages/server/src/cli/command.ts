/**
 * What a command of `praxis` is: a name, what it takes, and a function. The list is in `commands.ts`; parsing, help texts,
 * completion, the audit ledger and docs/operate/cli.md derive from it.
 */
import type { Platform } from '../app.ts';
import type { Config } from '../base/config.ts';
import { ConfigError } from '../base/config.ts';

interface Parameter {
  readonly description: string;
  /** All that it may be. */
  readonly values?: readonly string[];
  /** It is the path of a file. */
  readonly isFile?: true;
  /** It says where the command does something: the ledger of that firm holds it, too. */
  readonly place?: 'environment' | 'firm' | 'application';
  /** It says what the command is about, so the audit ledger holds it. Arguments and places are held anyway. */
  readonly noted?: true;
}

export interface ArgumentSpec extends Parameter {
  /** In upper case; as a help shows it. */
  readonly label: string;
  /** The last argument: takes the rest, at least one. */
  readonly isRepeated?: true;
}

export interface OptionSpec extends Parameter {
  /** `value` takes an argument, `values` may be repeated, `flag` takes none. */
  readonly kind: 'value' | 'values' | 'flag';
  readonly required?: true;
  readonly default?: string;
}

export interface Command {
  /** One to three words, `firm create`. */
  readonly name: string;
  /** Names of before; they do the same, and no help shows them. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly arguments: readonly ArgumentSpec[];
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
