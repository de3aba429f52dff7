/**
 * Metrics of a node: those of its workers added up, also of workers that have ended, and how each worker is.
 */
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';

/** A metric with its values, as one process hands it to another. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

/** Why a worker was replaced. */
export type ReplacementReason = 'died' | 'hung' | 'memory' | 'restart';

export interface WorkerMetrics {
  readonly registry: Registry;
  readonly up: Gauge<'worker'>;
  readonly runsJobs: Gauge<'worker'>;
  readonly connections: Gauge<'worker'>;
  readonly residentBytes: Gauge<'worker'>;
  readonly loopDelaySeconds: Gauge<'worker'>;
  readonly replacements: Counter<'reason'>;
}

/** What the supervisor itself knows of its workers, by their number. */
export function openWorkerMetrics(): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'praxis_supervisor_resident_memory_bytes',
    help: 'Resident memory of the supervisor.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const longestDelay = 'Longest delay of the event loop of the worker since the last scrape.';
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['worker'] as const, registers });
  const replacements = new Counter({
    name: 'praxis_worker_replacements_total',
    help: 'Workers replaced, by reason: died, hung (its event loop was silent), memory (over its limit), restart (SIGHUP).',
    labelNames: ['reason'] as const,
    registers,
  });
  for (const reason of ['died', 'hung', 'memory', 'restart'] as const) replacements.inc({ reason }, 0);
  return {
    registry,
    replacements,
    up: gauge('praxis_worker_up', '1 while the worker takes connections.'),
    runsJobs: gauge('praxis_worker_jobs', '1 for the worker that does the work that one alone has to do.'),
    connections: gauge('praxis_worker_connections', 'Connections of callers.'),
    residentBytes: gauge('praxis_worker_resident_memory_bytes', 'Resident memory of the worker.'),
    loopDelaySeconds: gauge('praxis_worker_event_loop_delay_seconds', longestDelay),
  };
}

/** The metrics of several processes as one: sums, or what each metric says that it is (an average, a minimum). */
export function addUp(processes: readonly (readonly MetricValues[])[]): Registry {
  return AggregatorRegistry.aggregate(processes.map((metrics) => [...metrics]));
}

/** What remains of processes that have ended: counters and histograms, which never fall; levels end with their process. */
export async function addEnded(ended: readonly MetricValues[], metrics: readonly MetricValues[]) {
  const lasting = metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
  return await addUp([ended, lasting]).getMetricsAsJSON();
}
