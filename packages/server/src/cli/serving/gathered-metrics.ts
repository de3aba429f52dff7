/** The page of metrics of a node: what its workers count, added up, and how each of them is. */
import {
  addEnded,
  addUp,
  type MetricValues,
  openWorkerMetrics,
  type ReplacementReason,
} from '../../base/worker-metrics.ts';
import type { MetricsText } from '../../http/pages/metrics-page.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface GatheredMetrics extends MetricsText {
  replaced(reason: ReplacementReason): void;
  /** Keeps what a worker had counted, so that sums never fall. */
  ended(worker: WorkerProcess): void;
}

/**
 * @param workers those that count, also those that leave
 * @param serving those that take connections
 * @param runner the one of them that does the work that one alone has to do
 */
export function gatherMetrics(
  workers: () => readonly WorkerProcess[],
  serving: () => readonly WorkerProcess[],
  runner: () => WorkerProcess | undefined,
): GatheredMetrics {
  const own = openWorkerMetrics();
  let kept: Promise<readonly MetricValues[]> = Promise.resolve([]);
  const showWorkers = (): void => {
    for (const gauge of [own.up, own.runsJobs, own.connections, own.residentBytes, own.loopDelaySeconds]) gauge.reset();
    for (const each of serving()) {
      const { number, vitals } = each;
      const worker = String(number);
      own.up.set({ worker }, 1);
      own.runsJobs.set({ worker }, each === runner() ? 1 : 0);
      if (vitals === undefined) continue;
      own.connections.set({ worker }, vitals.connections);
      own.residentBytes.set({ worker }, vitals.residentBytes);
      own.loopDelaySeconds.set({ worker }, vitals.loopDelaySeconds);
    }
  };
  return {
    contentType: own.registry.contentType,
    async metrics() {
      const measured = await Promise.all(workers().map((worker) => worker.measure()));
      showWorkers();
      return `${await addUp([await kept, ...measured]).metrics()}\n${await own.registry.metrics()}`;
    },
    replaced: (reason) => own.replacements.inc({ reason }),
    ended(worker) {
      kept = kept.then((ended) => addEnded(ended, worker.metrics));
    },
  };
}
