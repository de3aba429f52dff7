/**
 * Metrics of a node: those of its workers added up, also of workers that have ended, and how each worker is.
 */
import { AggregatorRegistry, type Counter, type Gauge, Registry } from 'prom-client';
import { nodeMetrics } from './metric-table.ts';
import { makeMetric } from './metrics.ts';

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
  const { supervisorResidentBytes, ...others } = nodeMetrics;
  makeMetric(supervisorResidentBytes, registry, async (metric) => {
    metric.reset();
    metric.inc({}, process.memoryUsage.rss());
  });
  const made = Object.entries(others).map(([name, row]) => [name, makeMetric(row, registry)]);
  // Kinds and labels are those of the table, entry by entry; TypeScript cannot follow that through Object.entries.
  const metrics = { registry, ...Object.fromEntries(made) } as unknown as WorkerMetrics;
  for (const reason of ['died', 'hung', 'memory', 'restart'] as const) metrics.replacements.inc({ reason }, 0);
  return metrics;
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
