/** `praxis holidays …`: the days on which a firm, or one of its locations, is closed. */

import { defineAction } from '../../../actions/action.ts';
import { versionField } from '../../../actions/fields.ts';
import type { Shape } from '../../../actions/schema.ts';
import { fail } from '../../../base/errors.ts';
import { type Editor, setHolidays } from '../edit-calendars.ts';
import { findHolidayVersions, readHolidays } from '../store.ts';
import { keepers, openEditor, printDocument, showing, showVersion, versionColumns, versionShape } from './editor.ts';

/** In a path, where an id of a Location could stand. */
const everywhere = '*';

const { active: _always, ...version } = versionShape;

const list: Shape = {
  location: { kind: 'text', description: 'The id of a Location. *: the whole firm.' },
  version: { kind: 'integer', description: 'The version. It increases with each change.' },
};

const whole: Shape = { ...list, document: { kind: 'document', description: 'The holidays.' } };

const segments = {
  location: { description: 'The id of a Location. *: the whole firm', standard: everywhere },
} as const;

const all = '/environments/{environment}/firms/{firm}/holidays';

export const holidayActions = [
  defineAction({
    name: 'holidays list',
    ...showing,
    path: all,
    summary: 'List the holiday lists of a firm',
    output: { kind: 'list', shape: list },
    async run(context, { path }) {
      const { store, scope } = await openEditor(context, path);
      return (await readHolidays(store, scope)).map((each) => ({ ...each, location: each.location || everywhere }));
    },
  }),
  defineAction({
    name: 'holidays show',
    ...showing,
    path: `${all}/{location}`,
    summary: 'Show the holidays of a location, or with * of the firm',
    output: { kind: 'one', shape: whole },
    run: async (context, { path }) => shownWhole(await openEditor(context, path), path.location),
    command: { segments, print: (whole) => printDocument(whole) },
  }),
  defineAction({
    name: 'holidays set',
    method: 'PUT',
    path: `${all}/{location}`,
    summary: 'Replace the holidays of a location, or with * of the firm',
    roles: keepers,
    fields: {
      holidays: {
        kind: 'object',
        required: true,
        description: 'The holidays, as described in docs/practice/calendars.md.',
      },
      version: versionField,
    },
    output: { kind: 'one', shape: whole },
    async run(context, { path, body }) {
      const editor = await openEditor(context, path);
      await setHolidays(editor, idOf(path.location), body.holidays, body.version);
      return await shownWhole(editor, path.location);
    },
    command: { segments, print: ({ version: made }) => [`holidays at version ${made}`] },
  }),
  defineAction({
    name: 'holidays history',
    ...showing,
    path: `${all}/{location}/versions`,
    summary: 'List the versions of a holiday list, newest first, with their authors',
    output: { kind: 'list', shape: version },
    async run(context, { path }) {
      const { store, scope } = await openEditor(context, path);
      return (await findHolidayVersions(store, scope, idOf(path.location))).map(showVersion);
    },
    command: { segments, columns: versionColumns },
  }),
];

/** @throws PraxisError `resource-not-found` */
async function shownWhole({ store, scope }: Editor, location: string) {
  const [last] = await findHolidayVersions(store, scope, idOf(location));
  if (last === undefined) {
    const diagnostics = `${location === everywhere ? 'The firm' : 'The location'} has no list of holidays of its own`;
    return fail('resource-not-found', { diagnostics, expression: ['location'] });
  }
  return { location, version: last.version, document: JSON.parse(last.content) };
}

/** As it is stored: empty for all of the firm. @throws PraxisError `resource-not-found` for what is no id */
function idOf(location: string): string {
  if (location === everywhere) return '';
  if (/^[A-Za-z0-9.-]{1,64}$/.test(location)) return location;
  return fail('resource-not-found', { diagnostics: `location is the id of a Location, or ${everywhere}` });
}
