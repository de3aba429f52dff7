/** `praxis job list`: of all firms of all environments. */

import { buildTable, type Column } from '../../../actions/command-form.ts';
import { listJobFailures } from '../../../jobs/job-failures.ts';
import type { Command } from '../../command.ts';
import { printAll } from '../../printing.ts';

type Failure = Awaited<ReturnType<typeof listJobFailures>>[number];

const columns: readonly Column<Failure>[] = [
  { heading: 'JOB', cell: ({ job }) => job },
  { heading: 'ENVIRONMENT', cell: ({ environment }) => environment },
  { heading: 'FIRM', cell: ({ prefix }) => prefix },
  { heading: 'FAILURES', cell: ({ failures }) => failures },
  { heading: 'FAILED', time: 'minute', cell: ({ failedMs }) => failedMs },
  { heading: 'RETRY', time: 'minute', none: 'parked', cell: ({ retryMs }) => retryMs },
  { heading: 'REASON', cell: ({ reason }) => reason },
];

/** The command shows every firm, where a practice sees its own. */
export function listEverywhere(derived: Command): Command {
  return {
    ...derived,
    summary: `${derived.summary}, of all firms`,
    arguments: [],
    options: {},
    async run(context) {
      const { database } = await context.platform();
      printAll(context, [buildTable(columns, await listJobFailures(database))], false);
    },
  };
}
