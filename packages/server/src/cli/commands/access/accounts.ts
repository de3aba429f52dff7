/** `praxis account …`: legacy accounts, each of one application at one firm. */
import {
  issueLegacyAccount,
  listLegacyAccounts,
  resetLegacyPassword,
  revokeLegacyAccount,
} from '../../../oauth/legacy/accounts.ts';
import type { Command } from '../../command.ts';
import { applicationAndFirmOf, dateTime, environmentOption, firmOf, printOnce, printTable } from '../../options.ts';

export const accountCommands: readonly Command[] = [
  {
    name: 'account issue',
    summary: 'Make a legacy account of an application at a firm',
    arguments: ['APPLICATION', 'FIRM'],
    options: {
      ...environmentOption,
      username: { kind: 'value', description: 'Unique at the firm; made up when absent' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const { application, firm } = await applicationAndFirmOf(platform, input);
      const issued = await issueLegacyAccount(
        platform.database,
        platform.secrets,
        firm,
        application,
        input.option('username'),
      );
      printOnce(context, { username: issued.username, password: issued.password });
    },
  },
  {
    name: 'account list',
    summary: 'List the legacy accounts at a firm',
    arguments: ['FIRM'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const accounts = await listLegacyAccounts(platform.database, await firmOf(platform, input, input.argument(0)));
      const rows = accounts.map((account) => [
        account.username,
        account.application,
        account.state,
        dateTime(account.createdAtMs),
      ]);
      printTable(context, ['USERNAME', 'APPLICATION', 'STATE', 'CREATED'], rows);
    },
  },
  {
    name: 'account reset',
    summary: 'Give a legacy account a new password; its tokens end',
    arguments: ['FIRM', 'USERNAME'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const firm = await firmOf(platform, input, input.argument(0));
      const issued = await resetLegacyPassword(platform.database, platform.secrets, firm, input.argument(1));
      printOnce(context, { username: issued.username, password: issued.password });
    },
  },
  {
    name: 'account revoke',
    summary: 'Refuse a legacy account and its tokens from the next statement on',
    arguments: ['FIRM', 'USERNAME'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      await revokeLegacyAccount(platform.database, await firmOf(platform, input, input.argument(0)), input.argument(1));
      context.print(`account ${input.argument(1)} is revoked`);
    },
  },
];
