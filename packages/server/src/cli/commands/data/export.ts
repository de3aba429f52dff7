/** `praxis export`: a firm's resources as NDJSON, or everything of a firm as files; and whether such files are as they were written. */
import { readFileSync } from 'node:fs';
import { resourceTypes, suggestName } from '@praxis/fhir';
import type { Platform } from '../../../app.ts';
import { computeKeyFingerprint } from '../../../audit/seal.ts';
import type { Firm } from '../../../tenancy/firms.ts';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../../command.ts';
import { exportEverything } from '../../exporting/everything/export-everything.ts';
import { verifyExport } from '../../exporting/everything/verify-export.ts';
import { openDirectorySink, streamSink } from '../../exporting/export-files.ts';
import { environmentOption, findNamedFirm, firmOption } from '../../options.ts';
import { formatCount, showProgress } from '../../progress.ts';

export const exportCommands: readonly Command[] = [
  {
    name: 'export',
    summary: "Write a firm's resources as NDJSON to standard output, or to a file per type; or everything of a firm",
    description:
      'With --everything it writes current resources, all versions with deletions, documents, settings and the audit ledger, with a signed manifest. If it is interrupted, run it again: the directory is there when all of it is.',
    arguments: [],
    options: {
      ...firmOption,
      ...environmentOption,
      type: { kind: 'values', description: 'A resource type. May be repeated. The default is all types' },
      out: { kind: 'value', description: 'An empty or new directory for the files', isFile: true },
      everything: { kind: 'flag', description: 'All that belongs to the firm, to the directory of --out', noted: true },
    },
    run: (context, input) => (input.flag('everything') ? runEverything(context, input) : runResources(context, input)),
  },
  {
    name: 'export verify',
    summary: 'Check the files of an export of everything, without a database',
    arguments: [{ label: 'DIR', description: 'The directory of the export', isFile: true }],
    options: {
      'public-key': {
        kind: 'value',
        description:
          'A file with the public key of the installation, in PEM. The default is the key that the export names',
        isFile: true,
      },
    },
    run: runVerify,
  },
];

async function runResources(context: CommandContext, input: CommandInput): Promise<void> {
  const types = input.list('type');
  const unknown = types.find((type) => !resourceTypes.includes(type));
  if (unknown !== undefined)
    throw new UsageError(`--type ${unknown} is not a resource type of R4${suggestName(unknown, resourceTypes)}`);
  const platform = await context.platform();
  const firm = await findNamedFirm(platform, input, input.required('firm'));
  const out = input.option('out');
  const sink = out === undefined ? streamSink(process.stdout) : await openDirectorySink(out);
  await writeResources(context, platform, firm, types, sink);
}

async function writeResources(
  context: CommandContext,
  platform: Platform,
  firm: Firm,
  types: readonly string[],
  sink: ReturnType<typeof streamSink>,
): Promise<void> {
  const scope = await openOperatorScope(platform.database, platform.clock, firm);
  const progress = showProgress(context, 'resources');
  let count = 0;
  try {
    for await (const resource of platform.store.stream(scope, types.length === 0 ? {} : { types })) {
      await sink.write(resource);
      progress.update(++count);
    }
    await sink.finish();
  } catch (error) {
    await sink.abandon();
    // A reader that has had enough (`praxis export … | head`) is no failure.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return;
    throw error;
  }
  const pace = progress.end(count);
  progress.line(`${formatCount(count)} resources of ${firm.prefix} exported (${pace})`);
}

async function runEverything(context: CommandContext, input: CommandInput): Promise<void> {
  const out = input.option('out');
  if (out === undefined) throw new UsageError('--everything needs --out: the directory of the files');
  if (input.list('type').length > 0) throw new UsageError('give --type or --everything: everything is of all types');
  const platform = await context.platform();
  const firm = await findNamedFirm(platform, input, input.required('firm'));
  const progress = showProgress(context, 'done');
  const { manifest, resources, versions, problems } = await exportEverything(platform, firm, out, {
    onPart: (what) => progress.line(`${what} …`),
    onCount: (count) => progress.update(count),
  });
  const pace = progress.end(versions);
  for (const line of problems) progress.line(line);
  const { documents, ledger, archives } = manifest;
  const rows = ledger === null ? 0 : ledger.rows;
  context.print(
    `${formatCount(resources)} resources, ${formatCount(versions)} versions, ${formatCount(documents.files)} documents and ${formatCount(rows)} rows of the audit ledger of ${firm.prefix} are in ${out} (${pace})`,
  );
  if (archives.length > 0)
    context.print(
      `older rows of the ledger are in archives, which belong to it: ${archives.map(({ file }) => file).join(', ')}`,
    );
  context.print(`signed by the key ${computeKeyFingerprint({ publicKey: manifest.publicKey })}`);
  if (problems.length > 0) process.exitCode = 1;
}

async function runVerify(context: CommandContext, input: CommandInput): Promise<void> {
  const directory = input.argument(0);
  const given = input.option('public-key');
  const progress = showProgress(context, 'files');
  const { manifest, key, files, findings } = await verifyExport(
    directory,
    given === undefined ? undefined : readKey(given),
    progress.update,
  );
  progress.end(files);
  const firm = manifest === undefined ? '' : ` of firm ${manifest.firm.prefix} in ${manifest.firm.environment}`;
  const verdict = findings.length === 0 ? 'is as it was written' : `has ${formatCount(findings.length)} findings`;
  context.print(`${directory}: the export${firm} ${verdict} (${formatCount(files)} files)`);
  for (const line of findings) context.print(`  ${line}`);
  if (key !== undefined && findings.length === 0) context.print(`signed by the key ${computeKeyFingerprint(key)}`);
  if (given === undefined && findings.length === 0)
    context.print('the export itself names this key: compare it with that of the installation');
  if (findings.length > 0) process.exitCode = 1;
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`--public-key ${file} cannot be read`, { cause });
  }
}
