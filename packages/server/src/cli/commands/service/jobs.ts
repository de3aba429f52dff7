/** `praxis job …`: work beside the requests that has failed for a firm. */
import { releaseFailed } from '../../../admin/actions/jobs.ts';
import { listJobFailures } from '../../../jobs/job-failures.ts';
import type { Command } from '../../command.ts';
import { dateTime, environmentOption, firmOf, printTable } from '../../options.ts';

export const jobCommands: readonly Command[] = [
  {
    name: 'job list',
    summary: 'List the jobs that have failed for a firm and have not succeeded since, of all firms',
    arguments: [],
    options: {},
    async run(context) {
      const { database } = await context.platform();
      const rows = (await listJobFailures(database)).map(
        ({ job, environment, prefix, failures, failedMs, retryMs, reason }) => [
          ...[job, environment, prefix, String(failures), dateTime(failedMs)],
          ...[retryMs === null ? 'parked' : dateTime(retryMs), reason],
        ],
      );
      printTable(context, ['JOB', 'ENVIRONMENT', 'FIRM', 'FAILURES', 'FAILED', 'RETRY', 'REASON'], rows);
    },
  },
  {
    name: 'job release',
    summary: 'Let a job that has failed for a firm begin anew at once',
    arguments: ['JOB', 'FIRM'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      await releaseFailed(platform.database, input.argument(0), await firmOf(platform, input, input.argument(1)));
      context.print('released');
    },
  },
];
