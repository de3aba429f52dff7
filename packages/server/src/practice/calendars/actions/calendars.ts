/** `praxis calendar …`: when practitioners are there for patients, and for what. */

import { defineAction } from '../../../actions/action.ts';
import { versionField } from '../../../actions/fields.ts';
import { nothing, type Shape } from '../../../actions/schema.ts';
import { parseSegmentNumber } from '../../../actions/targets.ts';
import type { TenantScope } from '../../../tenancy/scope.ts';
import { type Editor, getCalendar, removeCalendar, setCalendar } from '../edit-calendars.ts';
import { toScheduledCalendars } from '../scheduled-calendars.ts';
import { findCalendarVersions, readCalendars, type StoredCalendar, type StoredCalendars } from '../store.ts';
import { keepers, openEditor, printDocument, showing, showVersion, versionColumns, versionShape } from './editor.ts';

const calendar: Shape = {
  number: { kind: 'integer', label: 'calendar', description: 'The id, which is a part of the ids of its slots.' },
  version: { kind: 'integer', description: 'The version. It increases with each change.' },
  active: { kind: 'flag', label: 'state', words: ['active', 'ended'], description: 'Whether it offers slots.' },
  practitioner: { kind: 'text', description: 'The id of the Practitioner.' },
  location: { kind: 'text', description: 'The id of the Location.' },
  timeZone: {
    kind: 'text',
    description: 'The IANA time zone of its times: that of the Location, or else that of the firm.',
  },
};

const whole: Shape = { ...calendar, document: { kind: 'document', description: 'The rules.' } };

const all = '/environments/{environment}/firms/{firm}/calendars';

export const calendarActions = [
  defineAction({
    name: 'calendar list',
    ...showing,
    path: all,
    summary: 'List the calendars of a firm',
    output: { kind: 'list', shape: calendar },
    async run(context, { path }) {
      const { store, scope } = await openEditor(context, path);
      const documents = await readCalendars(store, scope);
      return documents.calendars.map((each) => shown(scope, documents, each));
    },
  }),
  defineAction({
    name: 'calendar set',
    method: 'PUT',
    path: all,
    summary: 'Create or replace the calendar of a practitioner at a location',
    description:
      'A calendar that is there is replaced by its next version. What is wrong with the rules is told element by element.',
    roles: keepers,
    fields: {
      calendar: {
        kind: 'object',
        required: true,
        description: 'The rules, as described in docs/practice/calendars.md.',
      },
      version: versionField,
    },
    output: { kind: 'one', shape: whole },
    async run(context, { path, body }) {
      const editor = await openEditor(context, path);
      const { number } = await setCalendar(editor, body.calendar, body.version);
      return await shownWhole(editor, number);
    },
    command: { print: ({ number, version }) => [`calendar ${number} at version ${version}`] },
  }),
  defineAction({
    name: 'calendar show',
    ...showing,
    path: `${all}/{calendar}`,
    summary: 'Show a calendar with its rules',
    output: { kind: 'one', shape: whole },
    run: async (context, { path }) =>
      shownWhole(await openEditor(context, path), parseSegmentNumber('calendar', path.calendar)),
    command: { print: (whole) => printDocument(whole) },
  }),
  defineAction({
    name: 'calendar history',
    ...showing,
    path: `${all}/{calendar}/versions`,
    summary: 'List the versions of a calendar, newest first, with their authors',
    output: { kind: 'list', shape: versionShape },
    async run(context, { path }) {
      const { store, scope } = await openEditor(context, path);
      const number = parseSegmentNumber('calendar', path.calendar);
      getCalendar(await readCalendars(store, scope), number);
      return (await findCalendarVersions(store, scope, number)).map(showVersion);
    },
    command: { columns: versionColumns },
  }),
  defineAction({
    name: 'calendar remove',
    method: 'DELETE',
    path: `${all}/{calendar}`,
    summary: 'Retire a calendar: it offers no more slots; booked appointments stay',
    roles: keepers,
    fields: {},
    output: nothing,
    async run(context, { path }) {
      await removeCalendar(await openEditor(context, path), parseSegmentNumber('calendar', path.calendar));
    },
    command: { print: (_, { path }) => [`calendar ${path.calendar} has ended`] },
  }),
];

async function shownWhole({ store, scope }: Editor, number: number) {
  const documents = await readCalendars(store, scope);
  const found = getCalendar(documents, number);
  return { ...shown(scope, documents, found), document: JSON.parse(found.content) };
}

function shown(scope: TenantScope, documents: StoredCalendars, one: StoredCalendar) {
  const [scheduled] = toScheduledCalendars(scope, { ...documents, calendars: [one] });
  return { ...one, timeZone: scheduled?.timeZone ?? scope.timeZone };
}
