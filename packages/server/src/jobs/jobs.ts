/**
 * Work that outlives a request: each job is asked for portions of its work again and again while the process lives, so that
 * what one process leaves undone another takes up. Portions are short, and safe to be cut off at any point.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../base/log.ts';

/** `more`: there is more to do at once; `waiting`: there is more once others have finished theirs; `done`: nothing is left for now. */
export type Progress = 'more' | 'waiting' | 'done';

export interface Job {
  /** For the log. */
  readonly name: string;
  /** Pause after the work is done, and after an error. It may be another one after each portion. */
  readonly pauseMs: number;
  /** Does one portion. */
  run(): Promise<Progress>;
  /** Resolves when there may be work before the pause is over; absent: nothing tells. */
  woken?(signal: AbortSignal): Promise<void>;
  /** Ends what portions have left under way; absent: they leave nothing. */
  stop?(): Promise<void>;
}

/** How a job is. */
export interface JobState {
  readonly job: string;
  /** Portions that failed. */
  readonly failures: number;
  /** How long it has worked, in ms. */
  readonly workedMs: number;
  /** For how long the portion has been under way that it does now; undefined: it rests. */
  readonly runningMs: number | undefined;
}

export interface Jobs {
  /** How each of them is, in their order. */
  list(): readonly JobState[];
  /**
   * Runs all jobs until nothing is left to do, and waits for portions that are under way; for tests and for commands that
   * wait for an effect.
   */
  settle(): Promise<void>;
  /** Asks for no more portions, and waits for those that are under way. */
  stop(): Promise<void>;
}

/** How long `settle` waits for others' work between two looks. */
const settlePauseMs = 20;

/** Time between two moments at which pauses end, in ms. */
const turnMs = 500;

/** Starts the jobs. An error of one is logged, and its work tried again after the pause. */
export function openJobs(jobs: readonly Job[], log: Log): Jobs {
  const stopping = new AbortController();
  const underWay = new Map<Job, Promise<unknown>>();
  const recorded = jobs.map((job) => ({ job, record: new JobRecord() }));
  const runPortion = async (job: Job): Promise<Progress> => {
    const portion = job.run();
    underWay.set(job, portion);
    return await portion;
  };
  const loops = recorded.map(({ job, record }) =>
    loop(job, (each) => record.follow(runPortion(each)), stopping.signal, log),
  );
  return {
    list: () => recorded.map(({ job, record }) => record.tell(job.name, performance.now())),
    async settle() {
      for (const job of jobs) {
        // What a portion under way has taken up, another one does not see. Its failure is the loop's.
        await underWay.get(job)?.catch(() => undefined);
        for (let state = await job.run(); state !== 'done'; state = await job.run()) {
          if (state === 'waiting') await delay(settlePauseMs);
        }
      }
    },
    async stop() {
      stopping.abort();
      await Promise.all([...loops, ...jobs.map((job) => stopJob(job, log))]);
    },
  };
}

/** What is counted of a job. */
class JobRecord {
  #failures = 0;
  #workedMs = 0;
  #sinceMs: number | undefined;

  /** The portion, counted. */
  async follow(portion: Promise<Progress>): Promise<Progress> {
    const sinceMs = performance.now();
    this.#sinceMs = sinceMs;
    try {
      return await portion;
    } catch (error) {
      this.#failures += 1;
      throw error;
    } finally {
      this.#workedMs += performance.now() - sinceMs;
      this.#sinceMs = undefined;
    }
  }

  tell(job: string, nowMs: number): JobState {
    const runningMs = this.#sinceMs === undefined ? undefined : nowMs - this.#sinceMs;
    return { job, failures: this.#failures, workedMs: this.#workedMs, runningMs };
  }
}

/** The job in a process that is not always the one to do it: nothing is left for it to do while `isOurs` is false. */
export function runWhile(isOurs: () => boolean, job: Job): Job {
  return {
    name: job.name,
    get pauseMs() {
      return job.pauseMs;
    },
    run: async () => (isOurs() ? await job.run() : 'done'),
    ...(job.woken === undefined ? {} : { woken: (signal) => job.woken?.(signal) ?? Promise.resolve() }),
    stop: async () => await job.stop?.(),
  };
}

/** What cannot be ended in order, since the database is gone for instance, keeps nothing else from ending. */
async function stopJob(job: Job, log: Log): Promise<void> {
  try {
    await job.stop?.();
  } catch (error) {
    log.error({ err: error, job: job.name }, 'a job could not be stopped in order');
  }
}

async function loop(
  job: Job,
  runPortion: (job: Job) => Promise<Progress>,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  while (!signal.aborted) {
    let state: Progress = 'done';
    try {
      state = await runPortion(job);
    } catch (error) {
      log.error({ err: error, job: job.name }, 'a job failed and will be tried again');
    }
    if (state === 'more') continue;
    await pause(job, signal);
  }
}

/** The pause keeps no process alive; an aborted one ends at once. */
async function pause(job: Job, stopped: AbortSignal): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([stopped, over.signal]);
  const time = delay(pauseFrom(performance.now(), job.pauseMs), undefined, { signal, ref: false }).catch(
    () => undefined,
  );
  await (job.woken === undefined ? time : Promise.race([time, job.woken(signal)]));
  over.abort();
}

/**
 * The pause, changed by half a turn at most so that it ends together with those of other jobs: each time that an idle process
 * wakes up costs more than what it then does (docs/decisions/0223). Pauses that are shorter than a turn stay as they are.
 */
function pauseFrom(nowMs: number, pauseMs: number): number {
  return pauseMs < turnMs ? pauseMs : Math.round((nowMs + pauseMs) / turnMs) * turnMs - nowMs;
}
