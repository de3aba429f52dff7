// Metrics that are read when the page is: what cannot be read is left out, and holds up nothing else.
import assert from 'node:assert/strict';
import test from 'node:test';
import { limitNames } from '../../src/base/errors.ts';
import { metricLabels } from '../../src/base/metric-table.ts';
import { openMetrics } from '../../src/base/metrics.ts';
import { addUp, openWorkerMetrics } from '../../src/base/worker-metrics.ts';
import { matchPath } from '../../src/http/request/paths.ts';

/** The samples of ours. */
async function read(registry: { metrics(): Promise<string> }): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('praxis_'));
}

test('what fails or does not answer in time has no value; a state without labels is 0 then', async () => {
  const metrics = openMetrics({ processMetrics: false });
  metrics.ready.readFrom(() => new Promise(() => undefined));
  metrics.subscriptionsDue.readFrom(async () => {
    throw new Error('the database is away');
  });
  metrics.websockets.readFrom(() => {
    throw new Error('and so is this');
  });
  metrics.databaseWaiting.readFrom(() => [[{ lane: 'shared' }, 3]]);
  metrics.requestsInFlight.inc();
  const samples = await read(metrics.registry);
  assert.ok(samples.includes('praxis_ready 0'));
  assert.ok(samples.includes('praxis_http_requests_in_flight 1'));
  assert.ok(samples.includes('praxis_database_waiting{lane="shared"} 3'));
  assert.deepEqual(
    samples.filter((sample) => /^praxis_(?:subscriptions_due|websockets)\{/.test(sample)),
    [],
  );
});

test('two who read at the same time are told each value once', async () => {
  const metrics = openMetrics({ processMetrics: false });
  metrics.jobSeconds.readFrom(async () => [[{ job_name: 'seals' }, 7]]);
  metrics.websockets.readFrom(async () => [[{ state: 'bound' }, 2]]);
  for (const samples of await Promise.all([read(metrics.registry), read(metrics.registry)])) {
    assert.ok(samples.includes('praxis_job_seconds_total{job_name="seals"} 7'), String(samples));
    assert.ok(samples.includes('praxis_websockets{state="bound"} 2'), String(samples));
  }
});

test('of the workers of a node, counts are added up, a node is as ready as its worst worker, and lags are those of the slowest', async () => {
  const workers = [1, 2].map((number) => {
    const metrics = openMetrics({ processMetrics: false });
    metrics.ready.readFrom(() => [[{}, number - 1]]);
    metrics.buildInfo.readFrom(() => [[{ version: '1.0.0' }, 1]]);
    metrics.auditSealLagSeconds.readFrom(() => [[{}, number]]);
    metrics.clockAheadSeconds.readFrom(() => [[{ clock: 'node' }, number]]);
    metrics.websockets.readFrom(() => [[{ state: 'bound' }, number]]);
    // One of them asks the database for all.
    metrics.subscriptionsDue.readFrom(() => (number === 1 ? [[{ environment: 'prod' }, 5]] : []));
    return metrics.registry.getMetricsAsJSON();
  });
  const samples = await read(addUp(await Promise.all(workers)));
  for (const sample of [
    'praxis_ready 0',
    'praxis_build_info{version="1.0.0"} 1',
    'praxis_audit_seal_lag_seconds 2',
    'praxis_clock_ahead_seconds{clock="node"} 1.5',
    'praxis_websockets{state="bound"} 3',
    'praxis_subscriptions_due{environment="prod"} 5',
  ])
    assert.ok(samples.includes(sample), `${sample} in ${samples}`);
});

test('the table tells each limit and each kind of path that there is', () => {
  const told = (text: string) => [...text.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name).toSorted();
  assert.deepEqual(told(metricLabels.limit), limitNames.toSorted());
  const routes = [
    '/sandbox/firm/maple/pm/fhir/v2/Patient',
    '/sandbox/firm/maple/pm/ws/oauth2/grant',
    '/sandbox/firm/maple/pm/ws/subscriptions',
    '/sandbox/firm/maple/pm/content/x',
    '/sandbox/firm/maple/pm/fhir/v2/.well-known/smart-configuration',
    '/.well-known/oauth-protected-resource/sandbox/firm/maple/pm/fhir/v2',
    '/auth/realms/sandbox/protocol/openid-connect/certs',
    '/admin/api/sessions',
  ].map((path) => matchPath(path)?.kind);
  assert.deepEqual(told(metricLabels.route), [...routes, 'other'].toSorted());
});

test('the supervisor tells of itself, and of each reason to replace a worker before there is one', async () => {
  const samples = await read(openWorkerMetrics().registry);
  assert.ok(samples.some((sample) => /^praxis_supervisor_resident_memory_bytes [1-9]\d{6,}$/.test(sample)));
  for (const reason of ['died', 'hung', 'memory', 'restart'])
    assert.ok(samples.includes(`praxis_worker_replacements_total{reason="${reason}"} 0`));
});
