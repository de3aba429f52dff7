/**
 * Prometheus metrics of one process (https://prometheus.io/docs/instrumenting/exposition_formats/).
 * Labels carry route templates, types and statuses, never ids, firms' names or query values.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ClockState } from './service-clock.ts';

const durationBucketsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface Metrics {
  readonly registry: Registry;
  readonly requestDurationSeconds: Histogram<'route' | 'method' | 'status'>;
  readonly tokensIssued: Counter<'flow' | 'outcome'>;
  readonly denials: Counter<'reason'>;
  readonly requestsInFlight: Gauge;
  readonly searchParametersFailed: Counter;
  readonly jobsParked: Gauge<'job'>;
}

export interface MetricsOptions {
  readonly processMetrics: boolean;
  readonly clock?: () => ClockState;
}

/** Pause between two looks at the event loop, in ms: each wakes the process up. */
const loopLookMs = 100;

/** Fresh metrics in a registry of their own, so that several servers in one process do not collide. */
export function openMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name, help, labelNames, registers });
  tellClocks(registry, options.clock);
  if (options.processMetrics) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopLookMs });
  return {
    registry,
    requestDurationSeconds: new Histogram({
      name: 'praxis_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the last of its answer.',
      labelNames: ['route', 'method', 'status'],
      buckets: durationBucketsSeconds,
      registers,
    }),
    tokensIssued: counter(
      'praxis_token_requests_total',
      'Token requests by flow (legacy, refresh, client) and outcome (issued or the error code).',
      ['flow', 'outcome'],
    ),
    denials: counter('praxis_denials_total', 'Requests refused, by error code.', ['reason']),
    searchParametersFailed: counter(
      'praxis_search_parameters_failed_total',
      'Search parameters of firms that cost too much to be indexed any longer.',
    ),
    jobsParked: new Gauge({
      name: 'praxis_jobs_parked',
      help: 'Firms for which a job is parked after several failures, until an operator releases it.',
      labelNames: ['job'],
      registers,
    }),
    requestsInFlight: new Gauge({
      name: 'praxis_http_requests_in_flight',
      help: 'Requests being answered now.',
      registers,
    }),
  };
}

function tellClocks(registry: Registry, clock: MetricsOptions['clock']): void {
  if (clock === undefined) return;
  new Gauge({
    name: 'praxis_clock_ahead_seconds',
    help: "How far the clock of the node, or of the database while it is not believed, is ahead of the service's time.",
    labelNames: ['clock'],
    aggregator: 'average', // over the workers of a node
    registers: [registry],
    collect() {
      const { wallAheadMs, databaseAheadMs } = clock();
      this.set({ clock: 'node' }, wallAheadMs / 1000);
      this.set({ clock: 'database' }, databaseAheadMs / 1000);
    },
  });
}
