/** The tables of docs/operate/monitor.md: the metrics of the service, and their labels. */
import { metricLabels, metricRows } from '../../packages/server/src/base/metric-table.ts';
import { code, table } from './markdown.ts';

/** One row per metric of the service, in the order of its names; those of Node itself are left out. */
export function metricsTable(): string {
  const sorted = metricRows.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const rows = sorted.map(({ name, kind, labels, help }) => [code(name), kind, labels.map(code).join(', '), help]);
  return table(['Metric', 'Kind', 'Labels', 'Meaning'], rows);
}

/** One row per label. */
export function metricLabelsTable(): string {
  return table(
    ['Label', 'Values'],
    Object.entries(metricLabels).map(([label, values]) => [code(label), values]),
  );
}
