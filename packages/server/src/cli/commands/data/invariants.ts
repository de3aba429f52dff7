/** `praxis invariants broken`: every page, under the budget of an operator. */
import { resourceTypes, suggestName } from '@praxis/fhir';
import { type ExaminedPlace, listBrokenInvariants } from '../../../engine/write/broken-invariants.ts';
import { openOperatorBudget } from '../../../limits/budgets.ts';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../../command.ts';
import { findNamedFirm } from '../../options.ts';
import { formatTable } from '../../printing.ts';
import { formatCount } from '../../progress.ts';

/** The command walks all pages by itself. */
export function walkPages(derived: Command): Command {
  const { after: _after, json: _json, ...options } = derived.options;
  return { ...derived, options, run: listAll };
}

async function listAll(context: CommandContext, input: CommandInput): Promise<void> {
  const type = input.option('type');
  if (type !== undefined && !resourceTypes.includes(type))
    throw new UsageError(`--type ${type} is not a resource type of R4${suggestName(type, resourceTypes)}`);
  const platform = await context.platform();
  const { database, clock, store } = platform;
  const scope = await openOperatorScope(database, clock, await findNamedFirm(platform, input, input.argument(0)));
  const budget = openOperatorBudget();
  let heading: readonly string[] | undefined = ['TYPE', 'ID', 'KEY', 'ELEMENT', 'WORDS'];
  let examined = 0;
  let broken = 0;
  for (let after: ExaminedPlace | undefined; ; ) {
    const page = await listBrokenInvariants(store, scope, { type, after }, budget);
    const rows = page.items.map((row) => [row.type, row.id, row.key ?? '', row.element, row.words]);
    const [first, ...others] = heading === undefined ? rows : [heading, ...rows];
    if (first !== undefined && rows.length > 0) {
      for (const line of formatTable(first, others, context.interactive)) context.print(line);
      heading = undefined;
    }
    examined += page.examined;
    broken += new Set(page.items.map(({ id, type: of }) => `${of}/${id}`)).size;
    if (page.next === undefined) break;
    after = page.next;
  }
  context.progress(`${formatCount(broken)} of ${formatCount(examined)} resources break invariants\n`);
}
