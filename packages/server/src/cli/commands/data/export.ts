/** `praxis export`: a firm's resources as NDJSON. */
import { resourceTypes } from '@praxis/fhir';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import { type Command, UsageError } from '../../command.ts';
import { openDirectorySink, streamSink } from '../../exporting/export-files.ts';
import { environmentOption, findNamedFirm, firmOption } from '../../options.ts';
import { formatCount, showProgress } from '../../progress.ts';

export const exportCommands: readonly Command[] = [
  {
    name: 'export',
    summary: "Write a firm's resources as NDJSON to standard output, or to a file per type",
    arguments: [],
    options: {
      ...firmOption,
      ...environmentOption,
      type: { kind: 'values', description: 'A resource type. May be repeated. The default is all types' },
      out: { kind: 'value', description: 'An empty or new directory for Type.ndjson files', isFile: true },
    },
    async run(context, input) {
      const types = input.list('type');
      const unknown = types.find((type) => !resourceTypes.includes(type));
      if (unknown !== undefined) throw new UsageError(`--type ${unknown} is not a resource type of R4`);
      const platform = await context.platform();
      const firm = await findNamedFirm(platform, input, input.required('firm'));
      const scope = await openOperatorScope(platform.database, platform.clock, firm);
      const out = input.option('out');
      const sink = out === undefined ? streamSink(process.stdout) : await openDirectorySink(out);
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
    },
  },
];
