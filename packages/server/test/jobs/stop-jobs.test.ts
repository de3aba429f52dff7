/** Stopping jobs: what one of them cannot end in order keeps nothing else from ending. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Job, openJobs } from '../../src/jobs/jobs.ts';
import { captureLog } from '../support/captured-log.ts';

test('a job that cannot be stopped in order is logged, and the others are stopped', async () => {
  const { log, lines } = captureLog();
  let stopped = 0;
  const make = (name: string, stop: () => Promise<void>): Job => ({
    name,
    pauseMs: 60_000,
    run: async () => 'done',
    stop,
  });
  const jobs = openJobs(
    [
      make('broken', async () => {
        throw new Error('the database is gone');
      }),
      make('sound', async () => {
        stopped += 1;
      }),
    ],
    log,
  );
  await jobs.stop();
  assert.equal(stopped, 1);
  assert.deepEqual(
    lines.map((line) => {
      const { job, msg }: { readonly job: string; readonly msg: string } = JSON.parse(line);
      return [job, msg];
    }),
    [['broken', 'a job could not be stopped in order']],
  );
});
