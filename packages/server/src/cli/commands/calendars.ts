/** `praxis calendar …`: when practitioners are there for patients, and for what. */
import { readFileSync } from 'node:fs';
import { JsonError, parseJson } from '@praxis/fhir';
import { numberOf } from '../../admin/targets.ts';
import type { Platform } from '../../app.ts';
import { calendarNumbered, type Editor, removeCalendar, setCalendar } from '../../scheduling/edit-calendars.ts';
import { calendarsFrom } from '../../scheduling/scheduled-calendars.ts';
import type { DocumentVersion } from '../../storage/calendars.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../command.ts';
import { dateTime, environmentOption, firmOf, printTable } from '../options.ts';

export const versionOption = {
  version: { kind: 'value', description: 'The version that is changed; absent: it is new' },
} as const;

export const calendarCommands: readonly Command[] = [
  {
    name: 'calendar list',
    summary: 'List the calendars of a firm',
    arguments: ['FIRM'],
    options: environmentOption,
    async run(context, input) {
      const { store, scope } = await editorOf(await context.platform(), input);
      const rows = calendarsFrom(scope, await store.calendars(scope)).map(({ calendar, timeZone }) => [
        String(calendar.number),
        String(calendar.version),
        calendar.active ? 'active' : 'ended',
        calendar.practitioner,
        calendar.location,
        timeZone,
      ]);
      printTable(context, ['CALENDAR', 'VERSION', 'STATE', 'PRACTITIONER', 'LOCATION', 'TIME ZONE'], rows);
    },
  },
  {
    name: 'calendar show',
    summary: 'Print the rules of a calendar',
    arguments: ['FIRM', 'CALENDAR'],
    options: environmentOption,
    async run(context, input) {
      const { store, scope } = await editorOf(await context.platform(), input);
      const { content } = calendarNumbered(await store.calendars(scope), numberOf('calendar', input.argument(1)));
      printDocument(context, content);
    },
  },
  {
    name: 'calendar history',
    summary: 'List the versions of a calendar, newest first',
    arguments: ['FIRM', 'CALENDAR'],
    options: environmentOption,
    async run(context, input) {
      const { store, scope } = await editorOf(await context.platform(), input);
      const number = numberOf('calendar', input.argument(1));
      calendarNumbered(await store.calendars(scope), number);
      printVersions(context, await store.calendarVersions(scope, number));
    },
  },
  {
    name: 'calendar set',
    summary: 'Make the calendar of a practitioner at a location, or change it',
    arguments: ['FIRM', 'FILE'],
    options: { ...environmentOption, ...versionOption },
    async run(context, input) {
      const document = documentIn(input.argument(1));
      const editor = await editorOf(await context.platform(), input);
      const { number, version } = await setCalendar(editor, document, versionOf(input));
      context.print(`calendar ${number} at version ${version}`);
    },
  },
  {
    name: 'calendar remove',
    summary: 'End a calendar: it offers no slots any more; what is booked stays',
    arguments: ['FIRM', 'CALENDAR'],
    options: environmentOption,
    async run(context, input) {
      const editor = await editorOf(await context.platform(), input);
      const { number } = await removeCalendar(editor, numberOf('calendar', input.argument(1)));
      context.print(`calendar ${number} has ended`);
    },
  },
];

/** The command line, as the one who changes calendars and holidays of the firm that its first argument names. */
export async function editorOf(platform: Platform, input: CommandInput): Promise<Editor> {
  const { database, clock, store } = platform;
  const scope = await openOperatorScope(database, clock, await firmOf(platform, input, input.argument(0)));
  return { store, scope, clock, changedBy: 'command line' };
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

/** @throws UsageError */
export function versionOf(input: CommandInput): number | undefined {
  const text = input.option('version');
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new UsageError('--version must be a number that the list shows');
}

export function printDocument(context: CommandContext, content: string): void {
  context.print(JSON.stringify(JSON.parse(content), undefined, 2));
}

export function printVersions(context: CommandContext, versions: readonly DocumentVersion[]): void {
  const rows = versions.map(({ version, active, changedAtMs, changedBy }) => [
    String(version),
    active ? 'active' : 'ended',
    dateTime(changedAtMs),
    changedBy,
  ]);
  printTable(context, ['VERSION', 'STATE', 'CHANGED', 'BY'], rows);
}
