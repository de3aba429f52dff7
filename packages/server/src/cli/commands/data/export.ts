/** `praxis export`: a firm's resources as NDJSON. */
import { resourceTypes } from '@praxis/fhir';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import { type Command, UsageError } from '../../command.ts';
import { openDirectorySink, type ResourceSink, streamSink } from '../../exporting/export-files.ts';
import { environmentOption, findNamedFirm, firmOption } from '../../options.ts';
import { formatCount, openProgress } from '../../progress.ts';

export const exportCommands: readonly Command[] = [
  {
    name: 'export',
    summary: "Write a firm's resources as NDJSON to standard output, or to a file per type",
    arguments: [],
    options: {
      ...firmOption,
      ...environmentOption,
      type: { kind: 'values', description: 'A resource type; may be repeated; all types when left out' },
      out: { kind: 'value', description: 'An empty or new directory for Type.ndjson files', isFile: true },
    },
    async run(context, input) {
      const types = requireTypes(input.list('type'));
      const platform = await context.platform();
      const firm = await findNamedFirm(platform, input, input.required('firm'));
      const scope = await openOperatorScope(platform.database, platform.clock, firm);
      const out = input.option('out');
      const sink = out === undefined ? streamSink(process.stdout) : await openDirectorySink(out);
      const progress = openProgress({
        write: context.progress,
        terminal: process.stderr.isTTY === true,
        noun: 'resources',
      });
      let count = 0;
      try {
        for await (const resource of platform.store.stream(scope, types.length === 0 ? {} : { types })) {
          await sink.write(resource);
          progress.update(++count);
        }
        await sink.finish();
      } catch (error) {
        await abandon(sink, error);
        return;
      }
      const pace = progress.end(count);
      progress.line(`${formatCount(count)} resources of ${firm.prefix} exported (${pace})`);
    },
  },
];

/** A reader that has had enough (`praxis export … | head`) is no failure. */
async function abandon(sink: ResourceSink, error: unknown): Promise<void> {
  await sink.abandon();
  if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
}

function requireTypes(types: readonly string[]): readonly string[] {
  const unknown = types.find((type) => !resourceTypes.includes(type));
  if (unknown !== undefined) throw new UsageError(`--type ${unknown} is not a resource type of R4`);
  return types;
}
