/** `praxis authorisation rows`: without `--row` and `--clear` it shows them. */
import { formatOperatorRow } from '../../../access/operator-row-text.ts';
import { readOperatorRows } from '../../../access/operator-rows.ts';
import { buildTable } from '../../../actions/command-form.ts';
import { getAuthorisedTargets } from '../../../actions/targets.ts';
import { findAuthorisation, setOperatorRows } from '../../../tenancy/authorisations.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../../command.ts';
import { printAll } from '../../printing.ts';

/** The command shows what there is then. */
export function showRows(derived: Command): Command {
  const { row, json: _json, ...options } = derived.options;
  const { required: _required, ...optional } = row ?? { kind: 'values', description: '' };
  return {
    ...derived,
    summary: 'Show or replace the row restrictions of an application at a firm',
    options: { ...options, row: optional, clear: { kind: 'flag', description: 'Remove all row restrictions' } },
    async run(context, input) {
      const [isGiven, isCleared] = [input.list('row').length > 0, input.flag('clear')];
      if (isGiven && isCleared) throw new UsageError('--row and --clear exclude each other');
      if (isGiven) await derived.run({ ...context, print: () => undefined }, { ...input, flag: () => false });
      await show(context, input, isCleared);
    },
  };
}

async function show(context: CommandContext, input: CommandInput, isCleared: boolean): Promise<void> {
  const { database } = await context.platform();
  const path = { environment: input.required('environment'), application: input.argument(0), firm: input.argument(1) };
  const { firm, application } = await getAuthorisedTargets({ database }, path);
  if (isCleared) await setOperatorRows(database, firm, application, {});
  const stored = readOperatorRows((await findAuthorisation(database, firm, application))?.operatorRows);
  const table = buildTable(
    [
      { heading: 'CODE', cell: ([code]) => code },
      { heading: 'ROW', cell: ([code, row]) => formatOperatorRow(code, row) },
    ],
    [...stored],
  );
  printAll(context, [table], false);
}
