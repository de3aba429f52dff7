/**
 * The page of metrics against the table that declares them: nothing is on the page that the table does not have, nothing of the table is
 * missing, and no label has a value that a caller can choose.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { metricLabels, metricRows, serviceMetrics } from '../../src/base/metric-table.ts';
import { sql } from '../../src/database/sql.ts';
import { version } from '../../src/version.ts';
import { bind, subscribeBySocket } from '../practice/subscriptions/socket-client.ts';
import { openReceiver, settle, subscribe, topicBase } from '../practice/subscriptions/world.ts';
import { patient } from '../support/records.ts';
import {
  type Answer,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  postForm,
} from '../support/service.ts';
import { openWire } from '../support/wire.ts';

const service = await openTestService({ after }, { PRAXIS_OUTBOUND_LOOPBACK: 'sandbox', PRAXIS_AUDIT_SEAL_MS: '10' });
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const caller = await openCaller(service, vendor, maple);
const wire = openWire(service.origin);
after(() => wire.close());

interface Page {
  /** By name: kind and meaning. */
  readonly families: ReadonlyMap<string, { readonly kind: string; readonly help: string }>;
  /** Name with labels → value. */
  readonly samples: ReadonlyMap<string, number>;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
async function scrape(): Promise<Page> {
  const lines = (await service.service.parts.metrics.registry.metrics()).split('\n');
  const texts = (kind: string) =>
    new Map(
      lines.flatMap((line) => {
        const [, name = '', text = ''] = new RegExp(`^# ${kind} (\\S+) (.*)$`).exec(line) ?? [];
        return name.startsWith('praxis_') ? [[name, text] as const] : [];
      }),
    );
  const helps = texts('HELP');
  const families = new Map([...texts('TYPE')].map(([name, kind]) => [name, { kind, help: helps.get(name) ?? '' }]));
  const own = lines.filter((line) => line.startsWith('praxis_'));
  const samples = new Map(own.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  return { families, samples };
}

async function read(sample: string): Promise<number | undefined> {
  return (await scrape()).samples.get(sample);
}

const labelsOf = (sample: string): readonly [label: string, value: string][] =>
  [...sample.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [label, value]);

test('the page has the metrics of the table, with their kinds, meanings and labels, and no others of ours', async () => {
  const { families, samples } = await scrape();
  const declared = Object.values(serviceMetrics).map(({ name, kind, help }) => [name, { kind, help }] as const);
  assert.deepEqual(new Map([...families].toSorted()), new Map(declared.toSorted()));
  for (const sample of samples.keys()) {
    const name = sample.replace(/\{.*/, '');
    const row = metricRows.find((each) => new RegExp(`^${each.name}(?:_bucket|_sum|_count)?$`).test(name));
    assert.ok(row !== undefined, name);
    const allowed = [...row.labels, ...(row.kind === 'histogram' ? ['le'] : [])];
    for (const [label] of labelsOf(sample)) assert.ok(allowed.includes(label), sample);
  }
});

test('each label is one of the table, is used, and is none that Prometheus gives', () => {
  const used = new Set(metricRows.flatMap(({ labels }) => labels));
  assert.deepEqual([...used].toSorted(), Object.keys(metricLabels).toSorted());
  for (const label of ['job', 'instance', 'le']) assert.ok(!Object.hasOwn(metricLabels, label), label);
  assert.equal(new Set(metricRows.map(({ name }) => name)).size, metricRows.length);
});

test('what callers choose makes no series: paths, environments, methods, grants and request ids', async () => {
  const before = (await scrape()).samples.size;
  for (let number = 0; number < 20; number += 1) {
    const planted = `planted-${number}`;
    for (const path of [
      `/${planted}/firm/${planted}/pm/fhir/v2/Patient/${planted}`,
      `/sandbox/firm/${planted}/pm/fhir/v2/Patient?family=${planted}`,
      `/sandbox/firm/maple/pm/fhir/v2/${planted}`,
      `/auth/realms/${planted}/protocol/openid-connect/token`,
      `/admin/api/${planted}`,
      `/${planted}`,
    ])
      await wire.send({ path, headers: { ...caller.headers, 'x-request-id': planted } });
    await postForm(clientTokenUrl(service), { grant_type: planted, client_id: planted }, planted);
  }
  const { samples } = await scrape();
  for (const sample of samples.keys()) assert.ok(!sample.includes('planted'), sample);
  // Of 120 requests: a few statuses and error codes, each with the buckets of its duration.
  assert.ok(samples.size - before < 150, `${samples.size - before} series more`);
});

test('requests are counted by environment and class of status, those of environments alone that exist', async () => {
  const sample = 'praxis_environment_requests_total{environment="sandbox",class="2xx"}';
  const before = (await read(sample)) ?? 0;
  assert.equal((await caller.get('Patient')).status, 200);
  assert.equal(await read(sample), before + 1);
  const refused = 'praxis_environment_requests_total{environment="training",class="4xx"}';
  assert.equal(await read(refused), undefined);
  assert.equal((await wire.send({ path: '/training/firm/maple/pm/fhir/v2/Patient' })).status, 401);
  assert.equal(await read(refused), 1);
});

test('states are those of the moment at which the page is read', async () => {
  const { samples } = await scrape();
  assert.equal(samples.get('praxis_ready'), 1);
  assert.equal(samples.get(`praxis_build_info{version="${version}"}`), 1);
  assert.equal(samples.get('praxis_http_requests_in_flight'), 0);
  assert.equal(samples.get('praxis_http_requests_waiting'), 0);
  for (const clock of ['node', 'database']) assert.ok(samples.has(`praxis_clock_ahead_seconds{clock="${clock}"}`));
  assert.ok((samples.get('praxis_database_connections{lane="exclusive"}') ?? 0) >= 1);
  for (const lane of ['shared', 'exclusive']) assert.equal(samples.get(`praxis_database_waiting{lane="${lane}"}`), 0);
  const work = service.platform.database.query(sql`SELECT pg_sleep(0.5)`);
  assert.ok(((await read('praxis_database_statements_in_flight{lane="exclusive"}')) ?? 0) >= 1);
  await work;
});

test('each job is told of, by the name that the log has', async () => {
  const names = service.service.jobs.list().map(({ job }) => job);
  assert.ok(names.includes('subscriptions') && names.includes('seals of the audit ledger'), String(names));
  assert.equal(new Set(names).size, names.length);
  const { samples } = await scrape();
  for (const name of names)
    for (const metric of ['praxis_job_failures_total', 'praxis_job_seconds_total', 'praxis_job_running_seconds'])
      assert.ok(samples.has(`${metric}{job_name="${name}"}`), `${metric} ${name}`);
});

test('a ledger that gets no seal is late by the time since its rows came, and by none once they are sealed', async () => {
  const lag = 'praxis_audit_seal_lag_seconds';
  await service.database.owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_current_xact_id()`);
    assert.equal((await caller.send('POST', 'Patient', patient('Stone'))).status, 201);
    // Rows may come before the oldest transaction under way.
    while (((await read(lag)) ?? 0) < 0.3) await delay(20);
  });
  while (((await read(lag)) ?? 0) > 0) await settle(service);
  assert.equal(await read('praxis_audit_findings_total{finding="row-unproven"}'), 0);
  assert.equal(await read('praxis_audit_rows_waiting'), 0);
});

test('rows that no server wrote are counted when they are sealed', async () => {
  await service.database.owner.transaction(undefined, (tx) =>
    tx.query(sql`
      INSERT INTO audit_event (at, xid, seq, firm, epoch, application, shown, rtype, outcome, interaction, id, patients, elements)
      VALUES (${service.clock.now()}, pg_current_xact_id(), nextval('resource_order'), ${maple.id}, 1, 1, 1, 1, 0, 'read', 'ada', 'ada', 'all')`),
  );
  assert.equal((await caller.get('Patient')).status, 200);
  while (((await read('praxis_audit_findings_total{finding="row-unproven"}')) ?? 0) === 0) await settle(service);
});

test('notifications are counted by what came of them, and endpoints that fail until they accept one', async (t) => {
  const receiver = await openReceiver(t);
  const outcome = (name: string) => read(`praxis_deliveries_total{environment="sandbox",outcome="${name}"}`);
  const failing = () => read('praxis_subscriptions_failing{environment="sandbox"}');
  await subscribe(service, caller, 'Patient?family=Stone', receiver.url);
  assert.equal(await outcome('accepted'), 1);
  assert.equal(await failing(), undefined);
  receiver.answers.push({ status: 503 }, { status: 404 });
  assert.equal((await caller.send('POST', 'Patient', patient('Stone'))).status, 201);
  service.clock.advance(2_000);
  await settle(service);
  assert.equal(await outcome('failed'), 1);
  assert.equal(await failing(), 1);
  service.clock.advance(5_000);
  await settle(service);
  assert.equal(await outcome('refused'), 1);
  assert.equal(await failing(), 1);
  service.clock.advance(10_000);
  assert.equal(await read('praxis_subscriptions_due{environment="training"}'), 0);
  await settle(service);
  assert.equal(await outcome('accepted'), 2);
  assert.equal(await failing(), undefined);
  // The change was made 17 s before it was accepted.
  assert.equal(await read('praxis_delivery_delay_seconds_bucket{le="10",environment="sandbox"}'), 0);
  assert.equal(await read('praxis_delivery_delay_seconds_bucket{le="30",environment="sandbox"}'), 1);
});

test('an endpoint that another process has taken over is no longer counted as failing', async (t) => {
  const receiver = await openReceiver(t);
  const failing = () => read('praxis_subscriptions_failing{environment="sandbox"}');
  const { id } = await subscribe(service, caller, 'Patient?family=Reed', receiver.url);
  receiver.answers.push({ status: 503 });
  await caller.send('POST', 'Patient', patient('Reed'));
  await settle(service);
  assert.equal(await failing(), 1);
  // Nobody tries again here.
  await service.database.owner.query(
    sql`UPDATE subscription_due SET due = ${Number.MAX_SAFE_INTEGER} WHERE id = ${id}`,
  );
  service.clock.advance(5_000 + 60_001);
  assert.equal(await failing(), undefined);
});

test('websockets are counted while they are open', async (t) => {
  const bound = 'praxis_websockets{state="bound"}';
  assert.equal(await read(bound), 0);
  const id = await subscribeBySocket(caller, `${topicBase}/patient-changed`);
  const client = await bind(t, caller, id);
  await client.next();
  assert.equal(await read(bound), 1);
  assert.equal(await read('praxis_websockets{state="unbound"}'), 0);
  client.socket.close();
  await client.closed;
  while ((await read(bound)) !== 0) await settle(service);
});

test('refusals are counted by the limit that refuses, of data and tokens', async (t) => {
  const limited = await openTestService(t, { PRAXIS_RATE_LIMIT: '6', PRAXIS_GUESS_LIMIT: '1' });
  const oak = await makeFirm(limited, 'oak');
  const other = await makeApplication(limited, 'Other', ['acl/*'], [oak]);
  const by = await openCaller(limited, other, oak);
  const refusals = async (limit: string): Promise<number> => {
    const text = await limited.service.parts.metrics.registry.metrics();
    return Number(new RegExp(`^praxis_limit_refusals_total\\{limit="${limit}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };
  const untilRefused = async (ask: () => Promise<Answer>): Promise<void> => {
    for (let asked = 1; (await ask()).status !== 429; asked += 1) assert.ok(asked < 10);
  };
  await untilRefused(() => by.get('Patient/none'));
  assert.equal(await refusals('api-key'), 1);
  const wrong = { ...clientForm(other), client_secret: 'wrong' };
  await untilRefused(() => postForm(clientTokenUrl(limited), wrong, 'wrong'));
  assert.equal(await refusals('guesses'), 1);
  assert.equal((await postForm(clientTokenUrl(limited), clientForm(other), other.clientKey)).status, 429);
  assert.equal(await refusals('api-key'), 2);
});
