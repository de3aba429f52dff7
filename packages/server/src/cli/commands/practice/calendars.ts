/** `praxis calendar …`: when practitioners are there for patients, and for what. */
import { numberOf } from '../../../actions/targets.ts';
import { calendarNumbered, removeCalendar, setCalendar } from '../../../practice/calendars/edit-calendars.ts';
import { calendarsFrom } from '../../../practice/calendars/scheduled-calendars.ts';
import { findCalendarVersions, readCalendars } from '../../../practice/calendars/store.ts';
import type { Command } from '../../command.ts';
import { documentIn, editorOf, printDocument, printVersions, versionOf, versionOption } from '../../firm-documents.ts';
import { environmentOption, printTable } from '../../options.ts';

export const calendarCommands: readonly Command[] = [
  {
    name: 'calendar list',
    summary: 'List the calendars of a firm',
    arguments: ['FIRM'],
    options: environmentOption,
    async run(context, input) {
      const { store, scope } = await editorOf(await context.platform(), input);
      const rows = calendarsFrom(scope, await readCalendars(store, scope)).map(({ calendar, timeZone }) => [
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
      const { content } = calendarNumbered(await readCalendars(store, scope), numberOf('calendar', input.argument(1)));
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
      calendarNumbered(await readCalendars(store, scope), number);
      printVersions(context, await findCalendarVersions(store, scope, number));
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
