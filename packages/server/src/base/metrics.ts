/**
 * Prometheus metrics of one process (https://prometheus.io/docs/instrumenting/exposition_formats/), made from metric-table.ts.
 * What is a state rather than an event is read when the page is read: requests pay nothing for it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type MetricLabel, type MetricRow, serviceMetrics } from './metric-table.ts';

/** A value with its labels. */
export type MetricReading<Label extends string = string> = readonly [
  labels: Readonly<Partial<Record<Label, string>>>,
  value: number,
];

type ReadFrom<Label extends string = string> = () =>
  | Iterable<MetricReading<Label>>
  | Promise<Iterable<MetricReading<Label>>>;

/** A metric whose values are asked for when the page is read. */
export interface ReadMetric<Label extends string = string> {
  /** @param read tells all of them; where it fails the metric has none */
  readFrom(read: ReadFrom<Label>): void;
}

type Name = keyof typeof serviceMetrics;
type LabelOf<N extends Name> = (typeof serviceMetrics)[N]['labels'][number] & MetricLabel;

/** Read when the page is read. */
const readNames = [
  'environmentRequests',
  'ready',
  'buildInfo',
  'clockAheadSeconds',
  'requestsWaiting',
  'databaseConnections',
  'databaseStatements',
  'databaseWaiting',
  'jobFailures',
  'jobSeconds',
  'jobRunningSeconds',
  'auditRowsWaiting',
  'auditSealLagSeconds',
  'websockets',
  'subscriptionsDue',
  'subscriptionsDueSeconds',
  'subscriptionsFailing',
] as const satisfies readonly Name[];

type ReadName = (typeof readNames)[number];

export type Metrics = {
  readonly registry: Registry;
} & { readonly [N in ReadName]: ReadMetric<LabelOf<N>> } & {
  readonly [N in Exclude<Name, ReadName>]: (typeof serviceMetrics)[N]['kind'] extends 'histogram'
    ? Histogram<LabelOf<N>>
    : (typeof serviceMetrics)[N]['kind'] extends 'counter'
      ? Counter<LabelOf<N>>
      : Gauge<LabelOf<N>>;
};

/** Pause between two looks at the event loop, in ms: each wakes the process up. */
const loopLookMs = 100;

/** How long one metric may take to be read, in ms: the supervisor waits a second for all of them. */
const readMaxMs = 500;

/** Fresh metrics in a registry of their own, so that several servers in one process do not collide. */
export function openMetrics(options: { readonly processMetrics: boolean }): Metrics {
  const registry = new Registry();
  if (options.processMetrics) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopLookMs });
  const isRead: ReadonlySet<string> = new Set(readNames);
  const made = Object.entries(serviceMetrics).map(([name, row]) => [
    name,
    isRead.has(name) ? openReadMetric(row, registry) : makeMetric(row, registry),
  ]);
  // Kinds and labels are those of the table, entry by entry; TypeScript cannot follow that through Object.entries.
  return { registry, ...Object.fromEntries(made) } as unknown as Metrics;
}

/** The values of a counter or a gauge. */
interface SettableValues {
  reset(): void;
  inc(labels: Readonly<Partial<Record<string, string>>>, value: number): void;
}

/**
 * A metric of a row of the table, in `registry`.
 * @param collect sets its values each time that they are read
 */
export function makeMetric(row: MetricRow, registry: Registry, collect?: (values: SettableValues) => Promise<void>) {
  const { name, help, aggregator } = row;
  const settings = {
    name,
    help,
    labelNames: [...row.labels],
    registers: [registry],
    ...(aggregator === undefined ? {} : { aggregator }),
  };
  if (row.kind === 'histogram') return new Histogram({ ...settings, buckets: [...(row.buckets ?? [])] });
  const collecting = collect === undefined ? {} : { collect: collectorOf(collect) };
  return row.kind === 'counter'
    ? new Counter({ ...settings, ...collecting })
    : new Gauge({ ...settings, ...collecting });
}

function collectorOf(collect: (values: SettableValues) => Promise<void>) {
  return async function collectInto(this: SettableValues): Promise<void> {
    await collect(this);
  };
}

/** None where they cannot be read in time: who scrapes still gets the other metrics. */
async function listReadings(read: ReadFrom): Promise<readonly MetricReading[]> {
  const over = new AbortController();
  try {
    const reading = read();
    const late = delay(readMaxMs, [], { signal: over.signal });
    return [...(await Promise.race([reading, late]))];
  } catch {
    return [];
  } finally {
    over.abort();
  }
}

function openReadMetric(row: MetricRow, registry: Registry): ReadMetric {
  let read: ReadFrom = () => [];
  makeMetric(row, registry, async (metric) => {
    const readings = await listReadings(read);
    metric.reset();
    for (const [labels, value] of readings) metric.inc(labels, value);
  });
  return {
    readFrom(given) {
      read = given;
    },
  };
}
