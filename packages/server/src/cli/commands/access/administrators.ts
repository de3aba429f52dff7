/** `praxis admin …`: who may use the administration API. */
import { readFileSync } from 'node:fs';
import { roles } from '../../../actions/action.ts';
import {
  type AdministratorStore,
  createAdministrator,
  type IssuedAdministrator,
  listAdministrators,
  revokeAdministrator,
  setPassword,
} from '../../../admin/administrators.ts';
import { openPasswords } from '../../../admin/passwords.ts';
import { type Command, type CommandContext, type CommandInput, type OptionSpec, UsageError } from '../../command.ts';
import { dateTime, environmentOption, printOnce, printTable } from '../../options.ts';

const passwordOption = {
  'password-file': {
    kind: 'value',
    description: 'File whose first line is the password, /dev/stdin for example; made up when absent',
  },
} as const satisfies Record<string, OptionSpec>;

export const administratorCommands: readonly Command[] = [
  {
    name: 'admin create',
    summary: 'Make an administrator: an operator, or one of a firm or an application',
    arguments: ['USERNAME'],
    options: {
      ...environmentOption,
      role: { kind: 'value', description: roles.join(', '), default: 'operator' },
      firm: { kind: 'value', description: 'Prefix of the firm; for the role practice' },
      application: { kind: 'value', description: 'Name of the application; for the role vendor' },
      ...passwordOption,
    },
    async run(context, input) {
      const role = roles.find((each) => each === input.required('role'));
      if (role === undefined) throw new UsageError(`--role must be ${roles.join(', ')}`);
      const draft = {
        username: input.argument(0),
        role,
        environment: input.required('environment'),
        firm: input.option('firm'),
        application: input.option('application'),
        password: passwordOf(input),
      };
      printIssued(context, await createAdministrator(await storeOf(context), draft), 'exists');
    },
  },
  {
    name: 'admin list',
    summary: 'List administrators',
    arguments: [],
    options: {},
    async run(context) {
      const { database } = await context.platform();
      const rows = (await listAdministrators(database)).map((each) => [
        each.username,
        each.role,
        each.environment ?? '',
        each.firm ?? each.application ?? '',
        each.state,
        dateTime(each.createdAtMs),
      ]);
      printTable(context, ['USERNAME', 'ROLE', 'ENVIRONMENT', 'FIRM OR APPLICATION', 'STATE', 'CREATED'], rows);
    },
  },
  {
    name: 'admin revoke',
    summary: 'Refuse an administrator, sessions and API tokens with it, from the next request on',
    arguments: ['USERNAME'],
    options: {},
    async run(context, input) {
      await revokeAdministrator((await context.platform()).database, input.argument(0));
      context.print(`administrator ${input.argument(0)} is revoked`);
    },
  },
  {
    name: 'admin password',
    summary: 'Give an administrator another password; sessions and API tokens end',
    arguments: ['USERNAME'],
    options: passwordOption,
    async run(context, input) {
      const store = await storeOf(context);
      printIssued(context, await setPassword(store, input.argument(0), passwordOf(input)), 'has the password given');
    },
  },
];

async function storeOf(context: CommandContext): Promise<AdministratorStore> {
  const { database, clock, secrets } = await context.platform();
  return { database, clock, passwords: openPasswords(secrets) };
}

function printIssued(context: CommandContext, { username, password }: IssuedAdministrator, done: string): void {
  if (password === undefined) context.print(`administrator ${username} ${done}`);
  else printOnce(context, { username, password });
}

function passwordOf(input: CommandInput): string | undefined {
  const file = input.option('password-file');
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0];
  } catch (cause) {
    throw new UsageError(`--password-file ${file} cannot be read`, { cause });
  }
}
