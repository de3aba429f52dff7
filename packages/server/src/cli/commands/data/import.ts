/** `praxis import`: store resources from files at a firm. */

import type { ErrorIssue } from '../../../base/errors.ts';
import { makeResourceId } from '../../../base/ids.ts';
import { toInvariantIssue } from '../../../engine/write/invariants.ts';
import type { Command } from '../../command.ts';
import { importFiles } from '../../importing/files.ts';
import { readItems } from '../../importing/items.ts';
import { type LoadProblem, loadResources } from '../../loading.ts';
import { environmentOption, findNamedFirm, firmOption } from '../../options.ts';
import { formatCount, showProgress } from '../../progress.ts';

export const importCommands: readonly Command[] = [
  {
    name: 'import',
    summary: 'Store resources from NDJSON and JSON files, Bundles and directories at a firm',
    arguments: [
      {
        label: 'FILE|DIR',
        description: 'NDJSON and JSON files, or directories of them',
        isFile: true,
        isRepeated: true,
      },
    ],
    options: { ...firmOption, ...environmentOption },
    async run(context, input) {
      const files = await importFiles(input.positionals);
      const platform = await context.platform();
      const firm = await findNamedFirm(platform, input, input.required('firm'));
      const progress = showProgress(context, 'resources');
      const bytesAll = files.reduce((sum, file) => sum + file.bytes, 0);
      const done = { stored: 0, refused: 0, bytes: 0 };
      const onProblem = ({ origin, diagnostics, more = [] }: LoadProblem): void => {
        done.refused += 1;
        for (const line of [diagnostics, ...more]) progress.line(`${origin}: ${line}`);
      };
      const nevertheless = new Map<string, number>();
      const count = ({ diagnostics }: ErrorIssue): void => {
        const words = diagnostics.replaceAll(/\[\d+\]/g, '');
        nevertheless.set(words, (nevertheless.get(words) ?? 0) + 1);
      };
      const onRead = (bytes: number): void => {
        done.bytes = bytes;
      };
      const onProgress = (stored: number): void => {
        done.stored = stored;
        progress.update(stored, bytesAll === 0 ? 1 : done.bytes / bytesAll);
      };
      try {
        const items = readItems(files, { newId: () => makeResourceId(platform.clock), onProblem, onRead });
        await loadResources(platform, firm, items, {
          validate: true,
          onProblem,
          onProgress,
          onStrangeCode: count,
          onBreach: (breach) => count(toInvariantIssue(breach)),
        });
      } finally {
        const pace = progress.end(done.stored);
        for (const [words, times] of nevertheless)
          context.print(`stored nevertheless, ${formatCount(times)} times: ${words}`);
        context.print(
          `${formatCount(done.stored)} resources stored at ${firm.prefix}, ${formatCount(done.refused)} refused (${pace})`,
        );
      }
      if (done.refused > 0) process.exitCode = 1;
    },
  },
];
