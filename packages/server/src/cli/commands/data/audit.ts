/** `praxis audit verify` and `praxis audit archive`: whether the ledger is as it was written, and what of it lies in files. */
import { checkFields } from '../../../admin/input.ts';
import type { Platform } from '../../../app.ts';
import { serviceLedger } from '../../../audit/audit-row.ts';
import { openHeadFiles, resolveAuditHeadsDirectory } from '../../../audit/head-files.ts';
import { computeKeyFingerprint, openSealingKey } from '../../../audit/seal.ts';
import { type LedgerCheck, verifyLedger } from '../../../audit/verify.ts';
import { toInstant } from '../../../base/clock.ts';
import { archiveLedger, RefusedArchive } from '../../archiving/archive-ledger.ts';
import { verifyArchive } from '../../archiving/verify-archive.ts';
import type { NamedLedger } from '../../archiving/write-archive.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../../command.ts';
import { environmentOption, findNamedFirm, firmsOption, listSelectedFirms } from '../../options.ts';
import { formatCount, showProgress } from '../../progress.ts';

export const auditCommands: readonly Command[] = [
  {
    name: 'audit verify',
    summary: 'Find rows of the audit ledger that were changed, removed or inserted by hand',
    arguments: [],
    options: {
      ...environmentOption,
      ...firmsOption,
      archive: {
        kind: 'value',
        description: 'A file of audit archive, to be verified in place of ledgers',
        isFile: true,
      },
    },
    run: verify,
  },
  {
    name: 'audit archive',
    summary: 'Move old rows of the audit ledger of a firm, or of the service, out of the database into a file',
    description:
      'The file holds whole seals, the oldest first, and is read back before rows are removed. The last seal stays. If the command is interrupted, run it again with the same options.',
    arguments: [],
    options: {
      firm: { kind: 'value', description: 'Prefix of the firm', place: 'firm' },
      service: { kind: 'flag', description: 'The ledger of the service in place of that of a firm' },
      ...environmentOption,
      before: {
        kind: 'value',
        description: 'Only rows before this date or time, which is more than a day ago',
        required: true,
        noted: true,
      },
      to: { kind: 'value', description: 'The directory of the file', required: true, isFile: true },
    },
    run: archive,
  },
  {
    name: 'audit key',
    summary: 'Print the public key that verifies seals, archives, exports and proofs of erasure, in PEM',
    arguments: [],
    options: {},
    async run(context) {
      const { secrets } = await context.platform();
      const { publicKey } = openSealingKey(secrets);
      context.print(publicKey.trimEnd());
      context.progress(`its fingerprint is ${computeKeyFingerprint({ publicKey })}\n`);
    },
  },
];

async function verify(context: CommandContext, input: CommandInput): Promise<void> {
  const file = input.option('archive');
  if (file !== undefined && input.option('firm') !== undefined)
    throw new UsageError('give --firm or --archive: a file says itself which ledger it is of');
  const platform = await context.platform();
  const wrong =
    file === undefined ? await verifyLedgers(platform, context, input) : await verifyFile(platform, context, file);
  if (wrong > 0) process.exitCode = 1;
}

/** The number of findings. */
async function verifyLedgers(platform: Platform, context: CommandContext, input: CommandInput): Promise<number> {
  const { secrets, clock, config } = platform;
  const heads = openHeadFiles(resolveAuditHeadsDirectory(config));
  const firms = await listSelectedFirms(platform, input);
  const ledgers = [
    ...(input.option('firm') === undefined ? [{ name: 'the service', id: serviceLedger }] : []),
    ...firms.map(({ prefix, id }) => ({ name: `firm ${prefix}`, id })),
  ];
  let wrong = 0;
  for (const { name, id } of ledgers) {
    // As the owner: no statement timeout, since the whole ledger is looked at.
    const check = await platform.asOwner((owner) => verifyLedger({ database: owner, secrets, clock, heads }, id));
    wrong += check.findings.length;
    for (const line of linesOf(name, check)) context.print(line);
  }
  return wrong;
}

function linesOf(name: string, check: LedgerCheck): string[] {
  const { seals, sealedRows, openRows, archives, findings, notes } = check;
  const rows = `${sealedRows} rows under ${seals} seals, ${openRows} not sealed yet`;
  const moved = archives.reduce((sum, archive) => sum + archive.rows, 0);
  const before = archives.length === 0 ? '' : `, ${moved} in ${archives.length} archives`;
  return [
    `${name}: ${verdictOf(findings)} (${rows}${before})`,
    ...findings.map((line) => `  ${line}`),
    ...notes.map((line) => `  note: ${line}`),
  ];
}

function verdictOf(findings: readonly string[]): string {
  return findings.length === 0 ? 'is as it was written' : `has ${findings.length} findings`;
}

/** The number of findings. */
async function verifyFile(platform: Platform, context: CommandContext, file: string): Promise<number> {
  const { findings, record, rows, seals } = await verifyArchive(platform, file);
  const number = record === undefined ? '' : `, archive ${record.number}`;
  context.print(`${file}: ${verdictOf(findings)} (${rows} rows under ${seals.length} seals${number})`);
  for (const line of findings) context.print(`  ${line}`);
  return findings.length;
}

/** Rows that are younger stay: a process may still send one again whose answer was lost, and would not find it. */
const keptMinMs = 86_400_000;

async function archive(context: CommandContext, input: CommandInput): Promise<void> {
  const beforeMs = readTime(input.required('before'));
  const isService = input.flag('service');
  if (isService === (input.option('firm') !== undefined)) throw new UsageError('give one of --firm and --service');
  const platform = await context.platform();
  if (beforeMs > platform.clock.now() - keptMinMs) throw new UsageError('--before must be more than a day ago');
  const ledger = isService
    ? { id: serviceLedger, environment: null, firm: null }
    : await findFirmLedger(platform, input);
  const progress = showProgress(context, 'rows');
  const wish = { ledger, beforeMs, directory: input.required('to'), onRows: progress.update };
  const waits = (): void => progress.line('another audit archive is under way: waiting for it');
  try {
    const { record, path, wasThere } = await platform.holding('archive', waits, () => archiveLedger(platform, wish));
    progress.end(record.rows);
    if (wasThere) context.print(`${path} was there from an interrupted run`);
    const { number, firstSeal, lastSeal, rows, fromMs, untilMs, digest } = record;
    context.print(
      `archive ${number}: ${formatCount(rows)} rows from ${toInstant(fromMs)} to ${toInstant(untilMs)} (seals ${firstSeal} to ${lastSeal}) are in ${path}`,
    );
    context.print(`SHA-256 ${digest.toString('hex')}`);
  } catch (error) {
    if (error instanceof RefusedArchive) for (const line of error.findings) context.print(`  ${line}`);
    throw error;
  }
}

async function findFirmLedger(platform: Platform, input: CommandInput): Promise<NamedLedger> {
  const { id, environment, prefix } = await findNamedFirm(platform, input, input.required('firm'));
  return { id, environment, firm: prefix };
}

/** @throws UsageError for what is no date or time */
function readTime(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
  const result = checkFields({ before: { kind: 'time', required: true, description: '' } }, { before: time });
  if ('values' in result) return Number(result.values['before']);
  throw new UsageError(
    '--before must be a date that exists, such as 2027-01-31, or such a date with a time and its zone',
  );
}
