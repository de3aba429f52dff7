/** `praxis authorize`, `praxis authorization …`: what firms let applications do. */
import { operatorRowText } from '../../../access/operator-row-text.ts';
import { readOperatorRows } from '../../../access/operator-rows.ts';
import {
  authorise,
  findAuthorisation,
  listAuthorisations,
  listAuthorisationVersions,
  resumeAuthorisation,
  revokeAuthorisation,
  setOperatorRows,
  suspendAuthorisation,
} from '../../../tenancy/authorisations.ts';
import { type Command, splitEntries, UsageError } from '../../command.ts';
import {
  aclOption,
  applicationAndFirmOf,
  dateTime,
  entryProblem,
  environmentOption,
  firmOf,
  operatorRowsOf,
  printTable,
  requireTime,
  rowOption,
} from '../../options.ts';

export const authorisationCommands: readonly Command[] = [
  {
    name: 'authorize',
    summary: 'Let an application act at a firm, with all its entries or some of them',
    arguments: ['APPLICATION', 'FIRM'],
    options: {
      ...environmentOption,
      ...aclOption,
      ...rowOption,
      purpose: { kind: 'value', description: 'Why', default: 'Treatment and operations' },
      until: { kind: 'value', description: 'End, an ISO 8601 date or time' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const { application, firm } = await applicationAndFirmOf(platform, input);
      const acl = splitEntries(input.list('acl'));
      const until = input.option('until');
      const operatorRows = operatorRowsOf(input.list('row'));
      await authorise(
        platform.database,
        platform.clock,
        firm,
        application,
        {
          ...(acl.length > 0 ? { acl } : {}),
          ...(operatorRows === undefined ? {} : { operatorRows }),
          ...(until === undefined ? {} : { expiresAtMs: requireTime('until', until) }),
          purpose: input.required('purpose'),
        },
        entryProblem,
      );
      context.print(`${application.name} may act at ${firm.prefix}`);
    },
  },
  {
    name: 'authorization list',
    summary: 'List what a firm has authorised',
    arguments: ['FIRM'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const rows = (await listAuthorisations(platform.database, await firmOf(platform, input, input.argument(0)))).map(
        (each) => [
          each.application,
          each.state,
          String(each.version),
          each.purpose,
          each.expiresAtMs === null ? '' : dateTime(each.expiresAtMs),
          each.acl.join(' '),
        ],
      );
      printTable(context, ['APPLICATION', 'STATE', 'VERSION', 'PURPOSE', 'UNTIL', 'ACL'], rows);
    },
  },
  {
    name: 'authorization rows',
    summary: 'Show or replace what entries reach for an application at a firm',
    arguments: ['APPLICATION', 'FIRM'],
    options: { ...environmentOption, ...rowOption, clear: { kind: 'flag', description: 'Take all rows away' } },
    async run(context, input) {
      const platform = await context.platform();
      const { database } = platform;
      const { application, firm } = await applicationAndFirmOf(platform, input);
      const rows = operatorRowsOf(input.list('row'));
      if (rows !== undefined && input.flag('clear')) throw new UsageError('--row and --clear exclude each other');
      if (rows !== undefined || input.flag('clear')) await setOperatorRows(database, firm, application, rows ?? {});
      const stored = readOperatorRows((await findAuthorisation(database, firm, application))?.operatorRows);
      printTable(
        context,
        ['CODE', 'ROW'],
        [...stored].map(([code, row]) => [code, operatorRowText(code, row)]),
      );
    },
  },
  {
    name: 'authorization history',
    summary: 'Show every version of an authorisation, newest first, with who made it',
    arguments: ['APPLICATION', 'FIRM'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const { application, firm } = await applicationAndFirmOf(platform, input);
      const rows = (await listAuthorisationVersions(platform.database, firm, application)).map((each) => [
        String(each.version),
        each.state,
        dateTime(each.changedAtMs),
        each.changedBy,
        each.purpose,
        each.expiresAtMs === null ? '' : dateTime(each.expiresAtMs),
        each.acl.join(' '),
      ]);
      printTable(context, ['VERSION', 'STATE', 'CHANGED', 'BY', 'PURPOSE', 'UNTIL', 'ACL'], rows);
    },
  },
  {
    name: 'authorization suspend',
    summary: 'Refuse an application at a firm from the next statement on, until it is resumed on the same terms',
    arguments: ['APPLICATION', 'FIRM'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const { application, firm } = await applicationAndFirmOf(platform, input);
      await suspendAuthorisation(platform.database, firm, application);
      context.print(`${application.name} is suspended at ${firm.prefix}`);
    },
  },
  {
    name: 'authorization resume',
    summary: 'End a suspension at a firm',
    arguments: ['APPLICATION', 'FIRM'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const { application, firm } = await applicationAndFirmOf(platform, input);
      await resumeAuthorisation(platform.database, firm, application);
      context.print(`${application.name} may act at ${firm.prefix} again`);
    },
  },
  {
    name: 'authorization revoke',
    summary: 'Refuse an application at a firm from the next statement on',
    arguments: ['APPLICATION', 'FIRM'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const { application, firm } = await applicationAndFirmOf(platform, input);
      await revokeAuthorisation(platform.database, firm, application);
      context.print(`${application.name} may no longer act at ${firm.prefix}`);
    },
  },
];
