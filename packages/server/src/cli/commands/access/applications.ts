/** `praxis app …`: the vendors' programs. */
import { describedSettings } from '../../../tenancy/application-settings.ts';
import {
  createApplication,
  listApplications,
  resumeApplication,
  setApplicationAcl,
  setApplicationSettings,
  suspendApplication,
} from '../../../tenancy/applications.ts';
import { type Command, splitEntries, UsageError } from '../../command.ts';
import { aclOption, applicationOf, entryProblem, environmentOption, printTable } from '../../options.ts';

export const applicationCommands: readonly Command[] = [
  {
    name: 'app create',
    summary: 'Make an application with the entries its tokens may carry',
    arguments: ['NAME'],
    options: { ...environmentOption, ...aclOption },
    async run(context, input) {
      const { database } = await context.platform();
      const draft = {
        environment: input.required('environment'),
        name: input.argument(0),
        acl: splitEntries(input.list('acl')),
      };
      const application = await createApplication(database, draft, entryProblem);
      context.print(
        `application ${application.name} in ${application.environment} with ${application.acl.length} entries`,
      );
    },
  },
  {
    name: 'app list',
    summary: 'List the applications of an environment',
    arguments: [],
    options: environmentOption,
    async run(context, input) {
      const { database } = await context.platform();
      const rows = (await listApplications(database, input.required('environment'))).map((each) => [
        each.name,
        each.state,
        each.acl.join(' '),
      ]);
      printTable(context, ['APPLICATION', 'STATE', 'ACL'], rows);
    },
  },
  {
    name: 'app acl',
    summary: 'Replace the entries of an application',
    arguments: ['NAME'],
    options: { ...environmentOption, ...aclOption },
    async run(context, input) {
      const platform = await context.platform();
      const acl = splitEntries(input.list('acl'));
      await setApplicationAcl(
        platform.database,
        await applicationOf(platform, input, input.argument(0)),
        acl,
        entryProblem,
      );
      context.print(`application ${input.argument(0)} holds ${acl.length} entries`);
    },
  },
  {
    name: 'app settings',
    summary: 'List the habits of existing clients that an application can keep, and those that it does',
    arguments: ['NAME'],
    options: environmentOption,
    async run(context, input) {
      const { settings } = await applicationOf(await context.platform(), input, input.argument(0));
      const rows = describedSettings(settings).map(({ name, on, meaning }) => [name, on ? 'on' : 'off', meaning]);
      printTable(context, ['SETTING', 'STATE', 'MEANING'], rows);
    },
  },
  {
    name: 'app set',
    summary: 'Replace the settings of an application: habits of existing clients that it keeps',
    arguments: ['NAME', 'SETTING=true|false…'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const settings = Object.fromEntries(input.positionals.slice(1).map(parseSetting));
      await setApplicationSettings(
        platform.database,
        await applicationOf(platform, input, input.argument(0)),
        settings,
      );
      context.print(`application ${input.argument(0)}: ${input.positionals.slice(1).join(' ')}`);
    },
  },
  {
    name: 'app suspend',
    summary: 'Refuse an application everywhere, from the next statement on',
    arguments: ['NAME'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      await suspendApplication(platform.database, await applicationOf(platform, input, input.argument(0)));
      context.print(`application ${input.argument(0)} is suspended`);
    },
  },
  {
    name: 'app resume',
    summary: 'End a suspension',
    arguments: ['NAME'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      await resumeApplication(platform.database, await applicationOf(platform, input, input.argument(0)));
      context.print(`application ${input.argument(0)} is active`);
    },
  },
];

function parseSetting(pair: string): [string, boolean] {
  const [name = '', value] = pair.split('=');
  if (value !== 'true' && value !== 'false') throw new UsageError(`${pair} must be SETTING=true or SETTING=false`);
  return [name, value === 'true'];
}
