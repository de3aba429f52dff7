/** `praxis job …`: work beside the requests that has failed for a firm (docs/decisions/0219). */

import { list, type Shape } from '../../actions/schema.ts';
import { getTargetFirm } from '../../actions/targets.ts';
import { fail } from '../../base/errors.ts';
import { listJobFailures, releaseJob } from '../../jobs/job-failures.ts';
import { firmJobs } from '../../practice/features.ts';
import { defineAdminAction } from '../context.ts';

const failure: Shape = {
  job: { kind: 'choice', values: firmJobs, description: 'The job.' },
  failures: { kind: 'integer', description: 'How often it has failed since it last succeeded.' },
  reason: { kind: 'text', description: 'What the last error was.' },
  failed: { kind: 'time', description: 'When it failed last.' },
  retry: {
    kind: 'time',
    nullable: true,
    description: 'When it is tried again; null: it is parked until it is released.',
  },
};

export const jobActions = [
  defineAdminAction({
    name: 'job list',
    method: 'GET',
    path: '/environments/{environment}/firms/{firm}/jobs',
    summary: 'List the jobs that have failed for a firm and have not succeeded since',
    roles: ['operator', 'practice'],
    output: list(failure),
    run: async (context, { path }) => listJobFailures(context.database, (await getTargetFirm(context, path)).id),
  }),
  defineAdminAction({
    name: 'job release',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/jobs/{job}/release',
    summary: 'Let a job that has failed for a firm begin anew at once',
    roles: ['operator'],
    async run(context, { path: { job, ...place } }) {
      const { id, prefix } = await getTargetFirm(context, place);
      if (firmJobs.includes(job) && (await releaseJob(context.database, job, id))) return;
      const diagnostics = `${job.slice(0, 64)} is no job that has failed for firm ${prefix}; jobs are ${firmJobs.join(', ')}`;
      fail('resource-not-found', { diagnostics, expression: ['job'] });
    },
    command: { arguments: ['job', 'firm'], print: () => ['released'] },
  }),
];
