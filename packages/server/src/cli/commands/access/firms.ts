/** `praxis firm …`: the practices. */
import { createFirm, listFirms, resumeFirm, setRequiredReferences, suspendFirm } from '../../../tenancy/firms.ts';
import { type Command, UsageError } from '../../command.ts';
import { environmentOption, firmOf, printTable } from '../../options.ts';

export const firmCommands: readonly Command[] = [
  {
    name: 'firm create',
    summary: 'Make a firm',
    arguments: ['PREFIX', 'NAME'],
    options: {
      ...environmentOption,
      'time-zone': { kind: 'value', description: 'IANA zone of its dates', default: 'America/New_York' },
    },
    async run(context, input) {
      const { database } = await context.platform();
      const draft = {
        environment: input.required('environment'),
        prefix: input.argument(0),
        name: input.argument(1),
        timeZone: input.required('time-zone'),
      };
      const firm = await createFirm(database, draft);
      context.print(`firm ${firm.prefix} in ${firm.environment}`);
    },
  },
  {
    name: 'firm list',
    summary: 'List the firms of an environment',
    arguments: [],
    options: environmentOption,
    async run(context, input) {
      const { database } = await context.platform();
      const rows = (await listFirms(database, input.required('environment'))).map((firm) => [
        firm.prefix,
        firm.name,
        firm.timeZone,
        firm.state,
      ]);
      printTable(context, ['FIRM', 'NAME', 'TIME ZONE', 'STATE'], rows);
    },
  },
  {
    name: 'firm suspend',
    summary: 'Refuse every application at a firm, from the next statement on',
    arguments: ['PREFIX'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      await suspendFirm(platform.database, await firmOf(platform, input, input.argument(0)));
      context.print(`firm ${input.argument(0)} is suspended`);
    },
  },
  {
    name: 'firm resume',
    summary: 'End a suspension',
    arguments: ['PREFIX'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      await resumeFirm(platform.database, await firmOf(platform, input, input.argument(0)));
      context.print(`firm ${input.argument(0)} is active`);
    },
  },
  {
    name: 'firm references',
    summary: 'Refuse writes that refer to a resource of the firm that does not exist, or take them',
    arguments: ['PREFIX', 'required|free'],
    options: environmentOption,
    async run(context, input) {
      const wanted = input.argument(1);
      if (wanted !== 'required' && wanted !== 'free') throw new UsageError('say required or free after the prefix');
      const platform = await context.platform();
      const firm = await firmOf(platform, input, input.argument(0));
      await setRequiredReferences(platform.database, firm, wanted === 'required');
      context.print(`references of firm ${input.argument(0)} are ${wanted}`);
    },
  },
];
