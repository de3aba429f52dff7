/**
 * Options that many commands take, and the things they name.
 */
import { parseEntry } from '../access/grammar.ts';
import type { Platform } from '../app.ts';
import { type Application, getApplication } from '../tenancy/applications.ts';
import { type Firm, getFirm } from '../tenancy/firms.ts';
import type { EntryProblem } from '../tenancy/names.ts';
import type { CommandContext, CommandInput, OptionSpec } from './command.ts';
import { tableLines } from './table.ts';

export const environmentOption = {
  environment: { kind: 'value', description: 'The environment', default: 'sandbox' },
} as const satisfies Record<string, OptionSpec>;

export const aclOption = {
  acl: { kind: 'values', description: 'Access entries, separated by spaces or commas; may be repeated' },
} as const satisfies Record<string, OptionSpec>;

/** The firm called `prefix` in the environment that the command line names. */
export function firmOf(platform: Platform, input: CommandInput, prefix: string): Promise<Firm> {
  return getFirm(platform.database, input.required('environment'), prefix);
}

/** The application called `name` in the environment that the command line names. */
export function applicationOf(platform: Platform, input: CommandInput, name: string): Promise<Application> {
  return getApplication(platform.database, input.required('environment'), name);
}

/** Why a text is no access entry; for the functions that store entries. */
export const entryProblem: EntryProblem = (entry) => {
  const parsed = parseEntry(entry);
  return parsed.kind === 'refused' ? parsed.diagnostics : undefined;
};

export function printTable(
  context: CommandContext,
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  for (const line of tableLines(heading, rows, context.interactive)) context.print(line);
}

/** Prints what cannot be shown again. */
export function printOnce(context: CommandContext, secrets: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(secrets)) context.print(`${name}: ${value}`);
  context.progress('Keep it now: it is stored as a hash and cannot be shown again.\n');
}

export function dateTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}
