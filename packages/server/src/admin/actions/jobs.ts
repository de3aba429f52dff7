/** `praxis job …`: work beside the requests that has failed for a firm (docs/decisions/0219). */

import { list, type Shape } from '../../actions/schema.ts';
import { getTargetFirm } from '../../actions/targets.ts';
import { fail } from '../../base/errors.ts';
import { listJobFailures, releaseJob } from '../../jobs/job-failures.ts';
import { firmJobs } from '../../practice/features.ts';
import { defineAdminAction } from '../context.ts';

const failure: Shape = {
  job: { kind: 'choice', values: firmJobs, description: 'The job.' },
  failures: { kind: 'integer', description: 'How often it has failed since its last success.' },
  reason: { kind: 'text', description: 'The last error.' },
  failed: { kind: 'time', description: 'When it last failed.' },
  retry: {
    kind: 'time',
    nullable: true,
    description: 'When it runs again. Null: it is parked until it is released.',
  },
};

export const jobActions = [
  defineAdminAction({
    name: 'job list',
    method: 'GET',
    path: '/environments/{environment}/firms/{firm}/jobs',
    summary: 'List the jobs of a firm that have failed since their last success',
    roles: ['operator', 'practice'],
    output: list(failure),
    run: async (context, { path }) => listJobFailures(context.database, (await getTargetFirm(context, path)).id),
  }),
  defineAdminAction({
    name: 'job release',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/jobs/{job}/release',
    summary: 'Restart a failed job of a firm now',
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
