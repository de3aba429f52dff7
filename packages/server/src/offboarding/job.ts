/** The job that removes the rows of firms whose erasure is confirmed. */
import type { DeclaredJob } from '../jobs/declared-job.ts';
import type { Progress } from '../jobs/jobs.ts';
import { type EraseContext, openEraser } from './erase-firm.ts';

/** How often it looks whether one is confirmed: nobody enters the firm meanwhile. */
const pauseMs = 10_000;

/** How often it looks for what came late: of firms that were erased within a day, and of all others. */
const latePauseMs = 60_000;
const latestPauseMs = 60 * 60_000;

export const firmErasureJob: DeclaredJob<EraseContext> = {
  worstCase: { harmless: 'what two operators have asked for, a bounded number of rows at a time' },
  open(context) {
    const eraser = openEraser(context);
    let lookedAtMs = Number.NEGATIVE_INFINITY;
    let lookedAtAllMs = Number.NEGATIVE_INFINITY;
    return {
      name: 'erasure of firms',
      pauseMs,
      async run(): Promise<Progress> {
        if (performance.now() - lookedAtMs >= latePauseMs) {
          const isAll = performance.now() - lookedAtAllMs >= latestPauseMs;
          await eraser.eraseLate(isAll ? 'all' : 'recent');
          lookedAtMs = performance.now();
          if (isAll) lookedAtAllMs = lookedAtMs;
        }
        return await eraser.eraseConfirmed();
      },
    };
  },
};
