/**
 * Every metric of the service, as one table: name, kind, labels, meaning. The registries are made from it (metrics.ts,
 * worker-metrics.ts), the tables of docs/operate/monitor.md are generated from it, and the dashboard and the alert rules in
 * deploy/ are tested against it.
 */

/**
 * Label → its values. There are few of each, whatever callers send: neither ids nor names of firms or applications. None is called
 * `job` or `instance`: Prometheus names what it scrapes so.
 */
export const metricLabels = {
  class: 'class of the status: `2xx`, `3xx`, `4xx` or `5xx`',
  clock: '`node` or `database`',
  environment: 'name of an environment, such as `prod`',
  finding: '`end-missing`, `row-unproven`',
  flow: 'grant type: `client_credentials`, `password`, `refresh_token` or `unknown`',
  job_name: 'name of a job, as in the log',
  lane: '`shared` (short statements, several on a connection) or `exclusive` (transactions and all other statements)',
  limit:
    'which limit: `api-key`, `keyless`, `firm`, `address` and `administrator` (requests a minute), `guesses`, `application-requests` and `requests` (at once), `application-statements` and `statements` (waiting for the database), `work`, `bodies`, `answers`, `connections`, `websockets`',
  method: 'method of HTTP',
  outcome:
    'of a token request: `issued`, `issued-without-key` or the error code; of a notification: `accepted`, `refused` (4xx), `failed` (any other answer) or `unreachable`',
  reason: 'of a refusal: its error code; of a replacement: `died`, `hung`, `memory` or `restart`',
  route:
    'kind of path: `fhir`, `content`, `legacy-token`, `websocket`, `smart-configuration`, `protected-resource`, `realm`, `administration` or `other`',
  state: '`bound` or `unbound`',
  status: 'status of HTTP',
  version: 'version of the program',
  worker: 'number of a worker of the node, from 1',
} as const;

export type MetricLabel = keyof typeof metricLabels;

export interface MetricRow {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly MetricLabel[];
  /** One sentence or more. */
  readonly help: string;
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
  /** How the values of the workers of a node become one; absent: they are added up. */
  readonly aggregator?: 'average' | 'max' | 'min';
}

const requestSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const deliverySeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400];

/** What each process that answers requests counts. */
export const serviceMetrics = {
  requestDurationSeconds: {
    name: 'praxis_http_request_duration_seconds',
    kind: 'histogram',
    labels: ['route', 'method', 'status'],
    help: 'Time from the first byte of a request to the last of its answer.',
    buckets: requestSeconds,
  },
  requestsInFlight: {
    name: 'praxis_http_requests_in_flight',
    kind: 'gauge',
    labels: [],
    help: 'Requests being answered now.',
  },
  requestsWaiting: {
    name: 'praxis_http_requests_waiting',
    kind: 'gauge',
    labels: [],
    help: 'Requests of the data API that wait until another one is answered.',
  },
  environmentRequests: {
    name: 'praxis_environment_requests_total',
    kind: 'counter',
    labels: ['environment', 'class'],
    help: 'Requests to an environment, by the class of the status.',
  },
  denials: {
    name: 'praxis_denials_total',
    kind: 'counter',
    labels: ['reason'],
    help: 'Requests refused, by error code.',
  },
  limitRefusals: {
    name: 'praxis_limit_refusals_total',
    kind: 'counter',
    labels: ['limit'],
    help: 'Requests refused by a limit, by which one.',
  },
  tokensIssued: {
    name: 'praxis_token_requests_total',
    kind: 'counter',
    labels: ['flow', 'outcome'],
    help: 'Token requests by grant type and outcome.',
  },
  ready: {
    name: 'praxis_ready',
    kind: 'gauge',
    labels: [],
    help: '1 if the next request would be served, as `/health/ready` tells.',
    aggregator: 'min',
  },
  buildInfo: {
    name: 'praxis_build_info',
    kind: 'gauge',
    labels: ['version'],
    help: '1 for the version that runs.',
    aggregator: 'max',
  },
  clockAheadSeconds: {
    name: 'praxis_clock_ahead_seconds',
    kind: 'gauge',
    labels: ['clock'],
    help: "How far the clock of the node, or of the database while it is not believed, is ahead of the service's time.",
    aggregator: 'average',
  },
  databaseConnections: {
    name: 'praxis_database_connections',
    kind: 'gauge',
    labels: ['lane'],
    help: 'Open connections to the database.',
  },
  databaseStatements: {
    name: 'praxis_database_statements_in_flight',
    kind: 'gauge',
    labels: ['lane'],
    help: 'Statements under way.',
  },
  databaseWaiting: {
    name: 'praxis_database_waiting',
    kind: 'gauge',
    labels: ['lane'],
    help: 'Statements and transactions that wait for a connection.',
  },
  jobFailures: {
    name: 'praxis_job_failures_total',
    kind: 'counter',
    labels: ['job_name'],
    help: 'Portions of work of a job that failed. The job tries again.',
  },
  jobSeconds: {
    name: 'praxis_job_seconds_total',
    kind: 'counter',
    labels: ['job_name'],
    help: 'Time that a job has worked.',
  },
  jobRunningSeconds: {
    name: 'praxis_job_running_seconds',
    kind: 'gauge',
    labels: ['job_name'],
    help: 'For how long the portion of work has been under way that a job does now.',
    aggregator: 'max',
  },
  jobsParked: {
    name: 'praxis_jobs_parked',
    kind: 'gauge',
    labels: ['job_name'],
    help: 'Firms for which a job is parked after several failures, until an operator releases it. Jobs are named as in `praxis job list`.',
  },
  searchParametersFailed: {
    name: 'praxis_search_parameters_failed_total',
    kind: 'counter',
    labels: [],
    help: 'Search parameters of firms that cost too much to be indexed any longer.',
  },
  auditRowsWaiting: {
    name: 'praxis_audit_rows_waiting',
    kind: 'gauge',
    labels: [],
    help: 'Rows of the audit ledger that are not written to the database yet.',
  },
  auditSealLagSeconds: {
    name: 'praxis_audit_seal_lag_seconds',
    kind: 'gauge',
    labels: [],
    help: 'For how long the ledger that has waited longest has had rows without a seal.',
    aggregator: 'max',
  },
  auditFindings: {
    name: 'praxis_audit_findings_total',
    kind: 'counter',
    labels: ['finding'],
    help: 'Times that a missing end of an audit ledger, or rows that no server wrote, were seen while sealing.',
  },
  websockets: {
    name: 'praxis_websockets',
    kind: 'gauge',
    labels: ['state'],
    help: 'Open websockets of subscriptions.',
  },
  subscriptionsDue: {
    name: 'praxis_subscriptions_due',
    kind: 'gauge',
    labels: ['environment'],
    help: 'Subscriptions with something to send now that no process has taken; counted up to 10,000. All nodes tell the same.',
    aggregator: 'max',
  },
  subscriptionsDueSeconds: {
    name: 'praxis_subscriptions_due_seconds',
    kind: 'gauge',
    labels: ['environment'],
    help: 'How long the one of them has waited that has waited longest. All nodes tell the same.',
    aggregator: 'max',
  },
  subscriptionsFailing: {
    name: 'praxis_subscriptions_failing',
    kind: 'gauge',
    labels: ['environment'],
    help: 'Subscriptions whose last notification by this node was not accepted, and that it tries again; counted up to 10,000.',
  },
  deliveries: {
    name: 'praxis_deliveries_total',
    kind: 'counter',
    labels: ['environment', 'outcome'],
    help: 'Notifications of subscriptions, by what came of them. A repetition counts again.',
  },
  deliveryDelaySeconds: {
    name: 'praxis_delivery_delay_seconds',
    kind: 'histogram',
    labels: ['environment'],
    help: 'Time from a change to the moment at which a subscriber has accepted the notification of it; of several, the first change.',
    buckets: deliverySeconds,
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** What the supervisor of a node knows of its workers. */
export const nodeMetrics = {
  supervisorResidentBytes: {
    name: 'praxis_supervisor_resident_memory_bytes',
    kind: 'gauge',
    labels: [],
    help: 'Resident memory of the supervisor.',
  },
  up: { name: 'praxis_worker_up', kind: 'gauge', labels: ['worker'], help: '1 while the worker takes connections.' },
  runsJobs: {
    name: 'praxis_worker_jobs',
    kind: 'gauge',
    labels: ['worker'],
    help: '1 for the worker that does the work that one alone has to do.',
  },
  connections: {
    name: 'praxis_worker_connections',
    kind: 'gauge',
    labels: ['worker'],
    help: 'Connections of callers.',
  },
  residentBytes: {
    name: 'praxis_worker_resident_memory_bytes',
    kind: 'gauge',
    labels: ['worker'],
    help: 'Resident memory of the worker.',
  },
  loopDelaySeconds: {
    name: 'praxis_worker_event_loop_delay_seconds',
    kind: 'gauge',
    labels: ['worker'],
    help: 'Longest delay of the event loop of the worker in the last half second.',
  },
  replacements: {
    name: 'praxis_worker_replacements_total',
    kind: 'counter',
    labels: ['reason'],
    help: 'Workers replaced, by reason: died, hung (its event loop was silent), memory (over its limit), restart (SIGHUP).',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** All of them. */
export const metricRows: readonly MetricRow[] = [...Object.values(serviceMetrics), ...Object.values(nodeMetrics)];
