/**
 * What is sent to the sockets of this process: each process attends to those that it holds. Where it holds none it does nothing;
 * where one of them has something to send, a notification of the process that admitted it wakes it (docs/decisions/0320).
 */
import type { DeclaredJob } from '../../../jobs/declared-job.ts';
import type { Job, Progress } from '../../../jobs/jobs.ts';
import type { FeatureServices } from '../../feature.ts';
import { openRecentRights } from '../acting.ts';
import { openAsking } from '../asking.ts';
import { openSending } from '../delivering/sending.ts';
import { holdersChannel } from './binding-store.ts';

/** Pauses between two looks: while something is sent, and while nothing is. */
const busyPauseMs = 20;
const idlePauseMs = 1_000;

/** Where there are no sockets: until one is bound, which wakes it. */
const sleepMs = 60_000;

export const socketsJob: DeclaredJob<FeatureServices> = {
  everywhere: true,
  worstCase: {
    harmless: 'sends what was admitted, to sockets of a bounded number, one notification of each at a time',
  },
  open: openSocketsJob,
};

function openSocketsJob(services: FeatureServices): Job {
  const { database, bindings } = services;
  const sending = openSending(services, openRecentRights(services), bindings);
  const asking = openAsking(database, holdersChannel);
  bindings.onBound(asking.ask);
  let pauseMs = sleepMs;
  let running: Promise<Progress> | undefined;

  const run = async (): Promise<Progress> => {
    asking.forget(); // else it would wake again and again where nothing is bound
    if (bindings.count() === 0 && sending.count() === 0) {
      pauseMs = sleepMs;
      return 'done';
    }
    pauseMs = idlePauseMs;
    await asking.begin();
    await bindings.look();
    await sending.renew();
    const isBusy = (await sending.claim()) > 0 || sending.count() > 0;
    pauseMs = isBusy ? busyPauseMs : idlePauseMs;
    return isBusy ? 'waiting' : 'done';
  };

  return {
    name: 'websockets',
    get pauseMs() {
      return pauseMs;
    },
    woken: asking.wait,
    async run() {
      // One after another: what one has taken up, another would not see.
      while (running !== undefined) await running.catch(() => undefined);
      running = run().finally(() => {
        running = undefined;
      });
      return await running;
    },
    async stop() {
      await sending.stop();
      await bindings.close();
      await asking.stop();
    },
  };
}
