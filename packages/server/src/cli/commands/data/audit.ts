/** `praxis audit …`: whether the ledger is as it was written, who has seen what of a patient, what was asked of the service itself. */

import type { Platform } from '../../../app.ts';
import { serviceLedger } from '../../../audit/audit-row.ts';
import { type Disclosure, disclosuresOf } from '../../../audit/disclosures.ts';
import { auditHeadsDirectory, openHeadFiles } from '../../../audit/head-files.ts';
import { type ServiceRow, serviceRowsOf } from '../../../audit/service-rows.ts';
import { type LedgerCheck, verifyLedger } from '../../../audit/verify.ts';
import { toInstant } from '../../../base/clock.ts';
import { typeName } from '../../../storage/rows.ts';
import { type Firm, listFirms } from '../../../tenancy/firms.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../../command.ts';
import { csvLines } from '../../csv.ts';
import { environmentOption, firmOf, printTable } from '../../options.ts';

const firmOption = { firm: { kind: 'value', description: 'Prefix of one firm; without it all' } } as const;

export const auditCommands: readonly Command[] = [
  {
    name: 'audit verify',
    summary: 'Find rows of the audit ledger that were changed, removed or put in by hand',
    arguments: [],
    options: { ...environmentOption, ...firmOption },
    run: verify,
  },
  {
    name: 'audit disclosures',
    summary: 'Show which application saw which data of a patient, and when',
    arguments: [],
    options: {
      ...environmentOption,
      ...firmOption,
      patient: { kind: 'value', description: 'Patient/ID, or the id alone', required: true },
      from: { kind: 'value', description: 'Earliest moment, 2026-11-21 or 2026-11-21T09:30:00Z' },
      to: { kind: 'value', description: 'Moment before which' },
      csv: { kind: 'flag', description: 'Comma-separated values instead of a table' },
    },
    run: disclosures,
  },
  {
    name: 'audit service',
    summary: 'Show what was asked of the service itself: tokens, callers who were turned away, administration',
    arguments: [],
    options: {
      from: { kind: 'value', description: 'Earliest moment; a day ago when absent' },
      to: { kind: 'value', description: 'Moment before which' },
      refused: { kind: 'flag', description: 'Only refusals and failures' },
      csv: { kind: 'flag', description: 'Comma-separated values instead of a table' },
    },
    run: service,
  },
];

async function verify(context: CommandContext, input: CommandInput): Promise<void> {
  const platform = await context.platform();
  const { database, secrets, clock, config } = platform;
  const heads = openHeadFiles(auditHeadsDirectory(config));
  const firms = await firmsOf(platform, input);
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

async function firmsOf(platform: Platform, input: CommandInput): Promise<readonly Firm[]> {
  const prefix = input.option('firm');
  return prefix === undefined
    ? await listFirms(platform.database, input.required('environment'))
    : [await firmOf(platform, input, prefix)];
}

const heading = [
  'FIRM',
  'TIME',
  'APPLICATION',
  'CALLER',
  'INTERACTION',
  'RESOURCE',
  'SHOWN',
  'ELEMENTS',
  'ENTRIES',
  'REQUEST',
];

async function disclosures(context: CommandContext, input: CommandInput): Promise<void> {
  const patient = /^(?:Patient\/)?([A-Za-z0-9\-.]{1,64})$/.exec(input.required('patient'))?.[1];
  if (patient === undefined) throw new UsageError('--patient must be Patient/ID');
  const period = { fromMs: momentOf(input, 'from') ?? 0, toMs: momentOf(input, 'to') ?? Number.MAX_SAFE_INTEGER };
  const platform = await context.platform();
  const rows: string[][] = [];
  for (const firm of await firmsOf(platform, input)) {
    for await (const row of disclosuresOf(platform.database, { firm: firm.id, patient, ...period }))
      rows.push([firm.prefix, ...cellsOf(row)]);
  }
  if (input.flag('csv')) for (const line of csvLines(heading, rows)) context.print(line);
  else printTable(context, heading, rows);
}

const dayMs = 86_400_000;
/** Rows of one answer; a shorter period has fewer. */
const serviceRowsMax = 10_000;

const serviceHeading = [
  'TIME',
  'ACTION',
  'ABOUT',
  'APPLICATION',
  'CALLER',
  'OUTCOME',
  'REASON',
  'FLOW',
  'TOKEN',
  'TIMES',
  'REQUEST',
];

async function service(context: CommandContext, input: CommandInput): Promise<void> {
  const [from, to] = [momentOf(input, 'from'), momentOf(input, 'to')];
  const { database, clock } = await context.platform();
  const found = await serviceRowsOf(database, {
    fromMs: from ?? clock.now() - dayMs,
    toMs: to ?? Number.MAX_SAFE_INTEGER,
    isRefused: input.flag('refused'),
    limit: serviceRowsMax + 1,
  });
  const rows = found.slice(0, serviceRowsMax).map(serviceCellsOf);
  if (input.flag('csv')) for (const line of csvLines(serviceHeading, rows)) context.print(line);
  else printTable(context, serviceHeading, rows);
  if (found.length > serviceRowsMax && !input.flag('csv'))
    context.print(`and earlier ones: these are ${serviceRowsMax}, ask for a shorter period with --to`);
}

function serviceCellsOf({ atMs, action, outcome, times, ...row }: ServiceRow): string[] {
  const { about, application, subject, reason, flow, tokenId, requestId } = row;
  const texts = [reason, flow, tokenId].map((text) => text ?? '');
  const who = [about, application, subject].map((text) => text ?? '');
  return [toInstant(atMs), action, ...who, String(outcome), ...texts, String(times), requestId ?? ''];
}

function cellsOf(row: Disclosure): string[] {
  const type = row.typeNumber === null ? '' : typeName(row.typeNumber);
  return [
    toInstant(row.atMs),
    row.application,
    row.subject ?? '',
    row.interaction,
    row.id === null ? type : `${type}/${row.id}`,
    String(row.shown),
    row.elements,
    row.entries ?? '',
    row.requestId ?? '',
  ];
}

function momentOf(input: CommandInput, name: string): number | undefined {
  const text = input.option(name);
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(ms)) throw new UsageError(`--${name} must be a date or a moment such as 2026-11-21T09:30:00Z`);
  return ms;
}
