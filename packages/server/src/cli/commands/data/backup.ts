/** `praxis backup` and `praxis restore`: the whole database, embedded or not, as one file. */

import { restoreBackup } from '../../backup/restore-backup.ts';
import { writeBackup } from '../../backup/write-backup.ts';
import type { Command } from '../../command.ts';
import { formatCount, showProgress } from '../../progress.ts';

const fileArgument = { label: 'FILE', description: 'The backup', isFile: true } as const;

export const backupCommands: readonly Command[] = [
  {
    name: 'backup',
    summary: 'Write all environments, firms, credentials and resources to a file, while the service runs',
    arguments: [fileArgument],
    options: {},
    async run(context, input) {
      const platform = await context.platform();
      const file = input.argument(0);
      const progress = showProgress(context, 'rows');
      const rows = await writeBackup(platform, file, progress.update);
      context.print(`${formatCount(rows)} rows in ${file} (${progress.end(rows)})`);
      context.progress(
        `The secret key is not in it, and nobody can restore it without: keep ${platform.keys.given.place} elsewhere.\n`,
      );
      context.progress(
        `The content of documents is not in it either: afterwards copy ${platform.content.place}, and after a restore let \`praxis content verify\` compare the two.\n`,
      );
    },
  },
  {
    name: 'restore',
    summary: 'Fill an empty database from a backup, with the service stopped',
    arguments: [fileArgument],
    options: { replace: { kind: 'flag', description: 'Delete everything in the database first' } },
    async run(context, input) {
      const platform = await context.platform();
      const progress = showProgress(context, 'rows');
      const rows = await restoreBackup(platform, input.argument(0), {
        replace: input.flag('replace'),
        onProgress: progress.update,
      });
      context.print(`${formatCount(rows)} rows restored from ${input.argument(0)} (${progress.end(rows)})`);
    },
  },
];
