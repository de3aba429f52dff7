/**
 * Options that many commands take, and the things they name.
 */
import { readOperatorLines } from '../admin/entry-problem.ts';
import type { Platform } from '../app.ts';
import { type Application, getApplication } from '../tenancy/applications.ts';
import type { StoredOperatorRows } from '../tenancy/authorisations.ts';
import { type Firm, getFirm } from '../tenancy/firms.ts';
import { type CommandContext, type CommandInput, type OptionSpec, UsageError } from './command.ts';
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

/** What the arguments APPLICATION and FIRM of a command name, the first two that it takes. */
export async function applicationAndFirmOf(
  platform: Platform,
  input: CommandInput,
): Promise<{ readonly application: Application; readonly firm: Firm }> {
  const application = await applicationOf(platform, input, input.argument(0));
  return { application, firm: await firmOf(platform, input, input.argument(1)) };
}

export { entryProblem } from '../admin/entry-problem.ts';

/**
 * What operators say about entries, from lines such as `obsv_ef?category=exam&_elements=code`; undefined for no line.
 * @throws UsageError for a line that says nothing or is about a code that another line is about
 */
export function operatorRowsOf(lines: readonly string[]): StoredOperatorRows | undefined {
  if (lines.length === 0) return undefined;
  const read = readOperatorLines(lines);
  if ('problem' in read) throw new UsageError(`--row ${read.problem}`);
  return read.rows;
}

export const rowOption = {
  row: {
    kind: 'values',
    description:
      'What the entries of a code reach there, as code?parameter=value; _elements, _letters and _type say more',
  },
} as const satisfies Record<string, OptionSpec>;

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

/** When a credential was last used. */
export function lastUse(ms: number | null): string {
  return ms === null ? 'never' : dateTime(ms);
}

export function dateTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

/**
 * The time that an option names, in ms since 1970; a date alone is its midnight in UTC. Date.parse rolls dates over that do
 * not exist; a date that is written back otherwise was none.
 * @throws UsageError naming the option
 */
export function requireTime(option: string, text: string): number {
  const ms = Date.parse(text);
  const [, day] = /^(\d{4}-\d{2}-\d{2})(?:T|$)/.exec(text) ?? [];
  const exists =
    day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(Date.parse(day)).toISOString().startsWith(day);
  if (Number.isNaN(ms) || !exists) {
    throw new UsageError(
      `--${option} must be a date that exists, such as 2027-01-31, or such a date with a time and its zone`,
    );
  }
  return ms;
}
