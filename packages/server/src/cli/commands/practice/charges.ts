/** `praxis charges list`: what applications have recorded to be billed. */
import { listCharges } from '../../../practice/charges/inbound-list.ts';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import type { Command } from '../../command.ts';
import { applicationOf, dateTime, environmentOption, firmOf, printTable, requireTime } from '../../options.ts';

/** Rows of one list. */
const rowsMax = 10_000;

export const chargeCommands: readonly Command[] = [
  {
    name: 'charges list',
    summary: 'List the charges that applications have recorded, newest first',
    arguments: ['FIRM'],
    options: {
      ...environmentOption,
      application: { kind: 'value', description: 'Only of this application' },
      status: { kind: 'value', description: 'Only in this state' },
      patient: { kind: 'value', description: 'Only of this patient: its id' },
      transaction: { kind: 'value', description: 'Only with this id of the transaction' },
      from: { kind: 'value', description: 'Earliest moment' },
      to: { kind: 'value', description: 'Moment before which' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const { database, clock, store } = platform;
      const scope = await openOperatorScope(database, clock, await firmOf(platform, input, input.argument(0)));
      const application = input.option('application');
      const source = application === undefined ? undefined : await applicationOf(platform, input, application);
      const words = (['status', 'patient', 'transaction'] as const).flatMap((name) => {
        const value = input.option(name);
        return value === undefined ? [] : [[name, value.replace(/^Patient\//, '')]];
      });
      const time = (name: 'from' | 'to', otherwise: number): number => {
        const text = input.option(name);
        return text === undefined ? otherwise : requireTime(name, text);
      };
      const filter = {
        ...Object.fromEntries(words),
        ...(source === undefined ? {} : { application: source.id }),
        fromMs: time('from', 0),
        toMs: time('to', Number.MAX_SAFE_INTEGER),
      };
      const rows = (await listCharges(store, scope, filter, rowsMax)).map((charge) => [
        ...[charge.id, dateTime(charge.receivedMs), charge.application, charge.transaction ?? '', charge.status],
        ...[charge.patient ?? '', charge.code ?? '', charge.quantity ?? '1'],
        charge.amount === undefined ? 'fee schedule' : [charge.amount, charge.currency].join(' ').trim(),
      ]);
      const heading = ['ID', 'RECEIVED', 'APPLICATION', 'TRANSACTION', 'STATUS', 'PATIENT', 'CODE', 'QUANTITY'];
      printTable(context, [...heading, 'AMOUNT'], rows);
    },
  },
];
