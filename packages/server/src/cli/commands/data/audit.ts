/** `praxis audit verify`: whether the ledger is as it was written. */
import { serviceLedger } from '../../../audit/audit-row.ts';
import { openHeadFiles, resolveAuditHeadsDirectory } from '../../../audit/head-files.ts';
import { type LedgerCheck, verifyLedger } from '../../../audit/verify.ts';
import type { Command, CommandContext, CommandInput } from '../../command.ts';
import { environmentOption, firmsOption, listSelectedFirms } from '../../options.ts';

export const auditCommands: readonly Command[] = [
  {
    name: 'audit verify',
    summary: 'Find rows of the audit ledger that were changed, removed or inserted by hand',
    arguments: [],
    options: { ...environmentOption, ...firmsOption },
    run: verify,
  },
];

async function verify(context: CommandContext, input: CommandInput): Promise<void> {
  const platform = await context.platform();
  const { database, secrets, clock, config } = platform;
  const heads = openHeadFiles(resolveAuditHeadsDirectory(config));
  const firms = await listSelectedFirms(platform, input);
  const ledgers = [
    ...(input.option('firm') === undefined ? [{ name: 'the service', id: serviceLedger }] : []),
    ...firms.map(({ prefix, id }) => ({ name: `firm ${prefix}`, id })),
  ];
  let wrong = 0;
  for (const { name, id } of ledgers) {
    const check = await verifyLedger({ database, secrets, clock, heads }, id);
    wrong += check.findings.length;
    for (const line of linesOf(name, check)) context.print(line);
  }
  if (wrong > 0) process.exitCode = 1;
}

function linesOf(name: string, check: LedgerCheck): string[] {
  const { seals, sealedRows, openRows, findings, notes } = check;
  const rows = `${sealedRows} rows under ${seals} seals, ${openRows} not sealed yet`;
  const verdict = findings.length === 0 ? 'is as it was written' : `has ${findings.length} findings`;
  return [
    `${name}: ${verdict} (${rows})`,
    ...findings.map((line) => `  ${line}`),
    ...notes.map((line) => `  note: ${line}`),
  ];
}
