/** How the service is now, read when its page of metrics is read: nothing is counted for it meanwhile. */
import type { Metrics } from '../../base/metrics.ts';
import type { ServiceClock } from '../../base/service-clock.ts';
import type { Database } from '../../database/database.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { countDue, type DueInEnvironment } from '../../practice/subscriptions/delivering/delivery-meter.ts';
import { version } from '../../version.ts';
import type { ServerServices } from '../services.ts';

/** What is looked at. */
export interface States {
  readonly clock: ServiceClock;
  readonly database: Database;
  readonly jobs: Jobs;
  /** Why the next request would not be served; empty: it would. */
  readonly problems: () => Promise<readonly string[]>;
  /** For how long rows of the audit ledger have waited for a seal, in ms; undefined: this process makes none. */
  readonly sealLagMs: (() => number) | undefined;
  /** Whether this process tells what all processes would tell alike; undefined: it does. */
  readonly runsJobs: (() => boolean) | undefined;
}

/** How long an answer of the database serves for the metrics that are made of it, in ms. */
const dueKeptMs = 1_000;

/** The metrics, and what else of the service is looked at. */
type StateParts = Pick<ServerServices, 'metrics' | 'ledger' | 'places'>;

/** Lets the metrics of states be read from these. */
export function readStates({ metrics, ledger, places }: StateParts, states: States): void {
  const { clock, database, jobs, problems, sealLagMs, runsJobs = () => true } = states;
  const listDue = openDueReading(database, clock, runsJobs);
  metrics.buildInfo.readFrom(() => [[{ version }, 1]]);
  metrics.ready.readFrom(async () => [[{}, (await problems()).length === 0 ? 1 : 0]]);
  metrics.clockAheadSeconds.readFrom(() => {
    const { wallAheadMs, databaseAheadMs } = clock.state();
    return [
      [{ clock: 'node' }, wallAheadMs / 1000],
      [{ clock: 'database' }, databaseAheadMs / 1000],
    ];
  });
  metrics.requestsWaiting.readFrom(() => [[{}, places.countWaiting()]]);
  readLanes(metrics, database);
  metrics.jobFailures.readFrom(() => jobs.list().map(({ job, failures }) => [{ job_name: job }, failures] as const));
  metrics.jobSeconds.readFrom(() =>
    jobs.list().map(({ job, workedMs }) => [{ job_name: job }, workedMs / 1000] as const),
  );
  metrics.jobRunningSeconds.readFrom(() =>
    jobs.list().map(({ job, runningMs = 0 }) => [{ job_name: job }, runningMs / 1000] as const),
  );
  metrics.auditRowsWaiting.readFrom(() => [[{}, ledger.countWaiting()]]);
  metrics.auditSealLagSeconds.readFrom(() => [[{}, (sealLagMs?.() ?? 0) / 1000]]);
  metrics.subscriptionsDue.readFrom(async () =>
    (await listDue()).map(({ environment, count }) => [{ environment }, count] as const),
  );
  metrics.subscriptionsDueSeconds.readFrom(async () =>
    (await listDue()).map(({ environment, longestMs }) => [{ environment }, longestMs / 1000] as const),
  );
}

function readLanes(metrics: Metrics, database: Database): void {
  const of = (count: 'connections' | 'inFlight' | 'waiting') => () => {
    const { shared, exclusive } = database.load();
    return [[{ lane: 'shared' }, shared[count]] as const, [{ lane: 'exclusive' }, exclusive[count]] as const];
  };
  metrics.databaseConnections.readFrom(of('connections'));
  metrics.databaseStatements.readFrom(of('inFlight'));
  metrics.databaseWaiting.readFrom(of('waiting'));
}

/** What is due, asked of the database once for the metrics of one page. */
function openDueReading(database: Database, clock: ServiceClock, runsJobs: () => boolean) {
  let last: { readonly atMs: number; readonly due: Promise<readonly DueInEnvironment[]> } | undefined;
  return async (): Promise<readonly DueInEnvironment[]> => {
    if (!runsJobs()) return [];
    const nowMs = performance.now();
    if (last === undefined || nowMs - last.atMs > dueKeptMs)
      last = { atMs: nowMs, due: countDue(database, clock.now()) };
    return await last.due;
  };
}
