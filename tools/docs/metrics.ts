/** The table of docs/operate/monitor.md: the service's own metrics, from the registries that serve them. */
import { openMetrics } from '../../packages/server/src/base/metrics.ts';
import { openWorkerMetrics } from '../../packages/server/src/base/worker-metrics.ts';
import { code, table } from './markdown.ts';

/** One row per metric of the service, in the order of its names; those of Node itself are left out. */
export function metricsTable(): string {
  const clock = () => ({ wallAheadMs: 0, databaseAheadMs: 0, isSteady: true });
  const registries = [openMetrics({ processMetrics: false, clock }).registry, openWorkerMetrics().registry];
  const rows = registries
    .flatMap((registry) => registry.getMetricsAsArray())
    .map((metric) => ({ ...metric, kind: metric.constructor.name.toLowerCase() }) as MetricRow)
    .map(({ name, kind, labelNames = [], help }) => [code(name), kind, labelNames.map(code).join(', '), help]);
  return table(
    ['Metric', 'Kind', 'Labels', 'Meaning'],
    rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
}

interface MetricRow {
  readonly name: string;
  readonly kind: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}
