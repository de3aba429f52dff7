/** Documents that a firm keeps in versions: its calendars, its holidays, the codes of its value sets. */
import { readFileSync } from 'node:fs';
import { JsonError, parseJson } from '@praxis/fhir';
import type { Platform } from '../app.ts';
import { openOperatorBudget } from '../limits/budgets.ts';
import type { Editor } from '../practice/calendars/edit-calendars.ts';
import type { DocumentVersion } from '../practice/calendars/store.ts';
import { openOperatorScope } from '../tenancy/operator.ts';
import { type CommandContext, type CommandInput, type OptionSpec, UsageError } from './command.ts';
import { dateTime, firmOf, printTable } from './options.ts';

/** Of a change: what it was made from, so that nobody overwrites what they have not seen. */
export const versionOption = {
  version: { kind: 'value', description: 'The version that is changed; absent: it is new' },
} as const satisfies Record<string, OptionSpec>;

/** The command line, as the one who changes documents of the firm that its first argument names. */
export async function editorOf(platform: Platform, input: CommandInput): Promise<Editor> {
  const { database, clock, store } = platform;
  const scope = await openOperatorScope(database, clock, await firmOf(platform, input, input.argument(0)));
  return { store, scope, clock, changedBy: 'command line', budget: openOperatorBudget() };
}

/** @throws UsageError for a file that cannot be read or is not JSON */
export function documentIn(file: string): unknown {
  try {
    return parseJson(readFileSync(file, 'utf8'));
  } catch (cause) {
    if (cause instanceof JsonError) throw new UsageError(`${file} is not JSON: ${cause.message}`);
    throw new UsageError(`${file} cannot be read`, { cause });
  }
}

/** What `versionOption` says. @throws UsageError for what is no version */
export function versionOf(input: CommandInput): number | undefined {
  const text = input.option('version');
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new UsageError('--version must be a number that the list shows');
}

/** Prints it as indented JSON. @param content JSON as it is stored */
export function printDocument(context: CommandContext, content: string): void {
  context.print(JSON.stringify(JSON.parse(content), undefined, 2));
}

/** Prints a row for each version, in the order given. */
export function printVersions(context: CommandContext, versions: readonly DocumentVersion[]): void {
  const rows = versions.map(({ version, active, changedAtMs, changedBy }) => [
    String(version),
    active ? 'active' : 'ended',
    dateTime(changedAtMs),
    changedBy,
  ]);
  printTable(context, ['VERSION', 'STATE', 'CHANGED', 'BY'], rows);
}
