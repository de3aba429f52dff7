/** `praxis authorize`, `praxis authorization …`: what firms let applications do. */
import { authorise, listAuthorisations, revokeAuthorisation } from '../../tenancy/authorisations.ts';
import { type Command, splitEntries, UsageError } from '../command.ts';
import { aclOption, applicationOf, dateTime, entryProblem, environmentOption, firmOf, printTable } from '../options.ts';

export const authorisationCommands: readonly Command[] = [
  {
    name: 'authorize',
    summary: 'Let an application act at a firm, with all its entries or some of them',
    arguments: ['APPLICATION', 'FIRM'],
    options: {
      ...environmentOption,
      ...aclOption,
      purpose: { kind: 'value', description: 'Why', default: 'Treatment and operations' },
      until: { kind: 'value', description: 'End, an ISO 8601 date or time' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const application = await applicationOf(platform, input, input.argument(0));
      const firm = await firmOf(platform, input, input.argument(1));
      const acl = splitEntries(input.list('acl'));
      const until = input.option('until');
      await authorise(
        platform.database,
        platform.clock,
        firm,
        application,
        {
          ...(acl.length > 0 ? { acl } : {}),
          ...(until === undefined ? {} : { expiresAtMs: requireTime(until) }),
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
    name: 'authorization revoke',
    summary: 'Refuse an application at a firm from the next statement on',
    arguments: ['APPLICATION', 'FIRM'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const application = await applicationOf(platform, input, input.argument(0));
      const firm = await firmOf(platform, input, input.argument(1));
      await revokeAuthorisation(platform.database, firm, application);
      context.print(`${application.name} may no longer act at ${firm.prefix}`);
    },
  },
];

/** Date.parse rolls dates over that do not exist; a date that is written back otherwise was none. */
function requireTime(text: string): number {
  const ms = Date.parse(text);
  const [, day] = /^(\d{4}-\d{2}-\d{2})(?:T|$)/.exec(text) ?? [];
  const exists =
    day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(Date.parse(day)).toISOString().startsWith(day);
  if (Number.isNaN(ms) || !exists) {
    throw new UsageError(
      '--until must be a date that exists, such as 2027-01-31, or such a date with a time and its zone',
    );
  }
  return ms;
}
