/** `praxis holidays …`: the days on which a firm, or one of its locations, is closed. */
import { fail } from '../../../base/errors.ts';
import { setHolidays } from '../../../practice/calendars/edit-calendars.ts';
import { findHolidayVersions, readHolidays } from '../../../practice/calendars/store.ts';
import type { Command } from '../../command.ts';
import { documentIn, editorOf, printDocument, printVersions, versionOf, versionOption } from '../../firm-documents.ts';
import { environmentOption, printTable } from '../../options.ts';

const locationOption = {
  location: { kind: 'value', description: 'Id of a Location; absent: all of the firm', default: '' },
} as const;

export const holidayCommands: readonly Command[] = [
  {
    name: 'holidays list',
    summary: 'List the lists of holidays of a firm',
    arguments: ['FIRM'],
    options: environmentOption,
    async run(context, input) {
      const { store, scope } = await editorOf(await context.platform(), input);
      const rows = (await readHolidays(store, scope)).map(({ location, version }) => [
        location || '*',
        String(version),
      ]);
      printTable(context, ['LOCATION', 'VERSION'], rows);
    },
  },
  {
    name: 'holidays show',
    summary: 'Print the holidays of a firm or of a location',
    arguments: ['FIRM'],
    options: { ...environmentOption, ...locationOption },
    async run(context, input) {
      const { store, scope } = await editorOf(await context.platform(), input);
      const [last] = await findHolidayVersions(store, scope, input.required('location'));
      if (last === undefined) fail('resource-not-found', { diagnostics: 'There is no such list of holidays' });
      printDocument(context, last.content);
    },
  },
  {
    name: 'holidays history',
    summary: 'List the versions of a list of holidays, newest first',
    arguments: ['FIRM'],
    options: { ...environmentOption, ...locationOption },
    async run(context, input) {
      const { store, scope } = await editorOf(await context.platform(), input);
      printVersions(context, await findHolidayVersions(store, scope, input.required('location')));
    },
  },
  {
    name: 'holidays set',
    summary: 'Replace the holidays of a firm or of a location',
    arguments: ['FIRM', 'FILE'],
    options: { ...environmentOption, ...locationOption, ...versionOption },
    async run(context, input) {
      const document = documentIn(input.argument(1));
      const editor = await editorOf(await context.platform(), input);
      const { version } = await setHolidays(editor, input.required('location'), document, versionOf(input));
      context.print(`holidays at version ${version}`);
    },
  },
];
