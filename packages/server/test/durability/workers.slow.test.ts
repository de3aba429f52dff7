/**
 * Several workers on one port (docs/decisions/0235): connections are spread, what one knows acts at all, and a worker that dies,
 * hangs, is too large or is to run other code is replaced at the cost of its own unanswered requests at most.
 * Slow: workers that hang or die are waited for.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPlatform } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { metricRows } from '../../src/base/metric-table.ts';
import { version } from '../../src/version.ts';
import { bind, numbersOf, statusOfText, subscribeBySocket } from '../practice/subscriptions/socket-client.ts';
import { testLog } from '../support/cluster.ts';
import { isRunning, makeDataDir } from '../support/embedded.ts';
import { callerOf, clientForm, makeApplication, makeFirm, postForm } from '../support/service.ts';
import { freePort, type Line, openLine, scrape, until, workersOf } from './node-workers.ts';
import { type Serving, serve } from './serving.ts';

const dataDir = makeDataDir({ after });
const platform = await openPlatform({
  config: readConfig({ PRAXIS_DATA_DIR: dataDir }),
  clock: systemClock,
  log: testLog,
});
const firm = await makeFirm({ platform, origin: '' }, 'maple');
const application = await makeApplication({ platform }, 'Vendor', ['acl/*'], [firm]);
after(() => platform.close());

interface Opened {
  readonly serving: Serving;
  readonly metricsPort: string;
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly patients: string;
}

async function open(
  t: { after(work: () => Promise<void>): void },
  settings: Record<string, string> = {},
): Promise<Opened> {
  const metricsPort = await freePort();
  const serving = await serve(dataDir, [], { PRAXIS_WORKERS: '2', PRAXIS_METRICS_PORT: metricsPort, ...settings });
  t.after(async () => {
    if (serving.child.exitCode === null && serving.child.signalCode === null) serving.child.kill('SIGTERM');
    await serving.ended;
  });
  const url = `${serving.origin}/auth/realms/sandbox/protocol/openid-connect/token`;
  const { json } = await postForm(url, clientForm(application), application.clientKey);
  const headers = { authorization: `Bearer ${json.access_token}`, 'x-api-key': application.clientKey };
  const patients = `${serving.origin}/sandbox/firm/maple/pm/fhir/v2/Patient`;
  return { serving, metricsPort, token: json.access_token, headers, patients };
}

const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Stone' }] });

/** Lines with a connection each, opened one after another: with two workers, every other one is at the same worker. */
async function openLines({ patients, headers }: Opened, count: number): Promise<Line[]> {
  const lines = Array.from({ length: count }, openLine);
  for (const line of lines) assert.equal((await line.send('GET', patients, headers)).status, 200);
  return lines;
}

interface Tally {
  readonly statuses: Map<string, number>;
  answered(): number;
  stop(): Promise<void>;
}

/** Callers that read and write without pause and repeat nothing. */
function load({ patients, headers }: Opened, callers: number): Tally {
  const statuses = new Map<string, number>();
  let isStopped = false;
  const calling = Array.from({ length: callers }, async (_, caller) => {
    const line = openLine();
    const sent = { ...headers, 'content-type': 'application/fhir+json' };
    while (!isStopped) {
      const { status } =
        caller % 2 === 0
          ? await line.send('GET', `${patients}?_count=1`, headers)
          : await line.send('POST', patients, sent, body);
      statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
    }
    line.close();
  });
  return {
    statuses,
    answered: () => (statuses.get('200') ?? 0) + (statuses.get('201') ?? 0),
    async stop() {
      isStopped = true;
      await Promise.all(calling);
    },
  };
}

const otherThan = (statuses: ReadonlyMap<string, number>, ...known: string[]): string[] =>
  [...statuses.keys()].filter((status) => !known.includes(status));

const replaced = (opened: Opened, reason: string): Promise<number> =>
  until(`a worker replaced: ${reason}`, async () => {
    const count = (await scrape(opened.metricsPort)).get(`praxis_worker_replacements_total{reason="${reason}"}`) ?? 0;
    const serving = await scrape(opened.metricsPort);
    const isWhole = ['1', '2'].every((worker) => serving.get(`praxis_worker_up{worker="${worker}"}`) === 1);
    return count > 0 && isWhole ? count : undefined;
  });

test('connections are spread evenly, and what callers did at any worker is added up on one page', async (t) => {
  const opened = await open(t);
  const lines = await openLines(opened, 6);
  const metrics = await until('three connections at each', async () => {
    const now = await scrape(opened.metricsPort);
    const each = ['1', '2'].map((worker) => now.get(`praxis_worker_connections{worker="${worker}"}`));
    return each.every((count) => (count ?? 0) >= 3) ? now : undefined;
  });
  const ofFhir = [...metrics].filter(([name]) =>
    /^praxis_http_request_duration_seconds_count\{.*route="fhir"/.test(name),
  );
  assert.deepEqual(
    ofFhir.map(([, count]) => count),
    [6],
  );
  assert.equal(metrics.get('praxis_token_requests_total{flow="client_credentials",outcome="issued"}'), 1);
  const runners = [...metrics].filter(([name, value]) => name.startsWith('praxis_worker_jobs{') && value === 1);
  assert.equal(runners.length, 1, 'one worker does the jobs');
  for (const line of lines) line.close();
});

test('the page of a node has every metric of the table, those of its workers as one', async (t) => {
  const opened = await open(t);
  const text = await (await fetch(`http://127.0.0.1:${opened.metricsPort}/metrics`)).text();
  const families = [...text.matchAll(/^# TYPE (praxis_\w+) (\w+)$/gm)].map(([, name, kind]) => `${name} ${kind}`);
  assert.deepEqual(families.toSorted(), metricRows.map(({ name, kind }) => `${name} ${kind}`).toSorted());
  const metrics = await scrape(opened.metricsPort);
  assert.equal(metrics.get('praxis_ready'), 1);
  assert.equal(metrics.get(`praxis_build_info{version="${version}"}`), 1);
  // One worker alone asks the database.
  for (const environment of ['sandbox', 'training', 'prod'])
    assert.equal(metrics.get(`praxis_subscriptions_due{environment="${environment}"}`), 0);
});

test('lines of requests of several workers come whole and in full, also the last ones', async (t) => {
  const opened = await open(t, { PRAXIS_ACCESS_LOG: 'true', PRAXIS_LOG_LEVEL: 'info' });
  const lines = await openLines(opened, 4);
  const asked = 100;
  const ask = async (line: Line): Promise<void> => {
    for (let count = 1; count < asked; count += 1)
      await line.send('GET', `${opened.patients}?family=Stone`, opened.headers);
  };
  await Promise.all(lines.map(ask));
  for (const line of lines) line.close();
  opened.serving.child.kill('SIGTERM');
  await opened.serving.ended;
  const said = opened.serving
    .logged()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ofFhir = said.filter(({ msg, route }) => msg === 'request' && route === 'fhir');
  assert.equal(ofFhir.length, asked * lines.length);
  assert.deepEqual(new Set(ofFhir.map(({ worker }) => worker)), new Set([1, 2]));
  for (const { level, path, environment } of ofFhir)
    assert.deepEqual(
      [level, path, environment],
      ['info', '/{environment}/firm/{firm}/{product}/fhir/v2/Patient', 'sandbox'],
    );
});

test('each worker says in /health/live which one it is, so that every one of them can be probed', async (t) => {
  const opened = await open(t);
  const lines = await openLines(opened, 4);
  const answers = await Promise.all(lines.map((line) => line.send('GET', `${opened.serving.origin}/health/live`, {})));
  assert.deepEqual(new Set(answers.map(({ headers }) => headers['x-worker'])), new Set(['1', '2']));
  for (const line of lines) line.close();
});

test('a token that was revoked at one worker is refused at all of them by the next request', async (t) => {
  const opened = await open(t);
  const lines = await openLines(opened, 4);
  const { clientId, clientSecret, clientKey } = application;
  const form = { token: opened.token, client_id: clientId, client_secret: clientSecret };
  const revoke = `${opened.serving.origin}/auth/realms/sandbox/protocol/openid-connect/revoke`;
  assert.equal((await postForm(revoke, form, clientKey)).status, 200);
  for (const line of lines) {
    assert.equal((await line.send('GET', opened.patients, opened.headers)).status, 401);
    line.close();
  }
});

test('requests at one worker count against the limit at the other', async (t) => {
  const limit = 30;
  // The counters begin anew with each minute.
  if (Date.now() % 60_000 > 40_000) await delay(60_000 - (Date.now() % 60_000));
  const opened = await open(t, { PRAXIS_RATE_LIMIT: String(limit) });
  const [first, second] = await openLines(opened, 2);
  if (first === undefined || second === undefined) return assert.fail();
  for (let count = 0; count < limit; count += 1) await first.send('GET', opened.patients, opened.headers);
  assert.equal((await first.send('GET', opened.patients, opened.headers)).status, 429);
  let own = 0;
  await until('a refusal at the second worker', async () => {
    own += 1;
    return (await second.send('GET', opened.patients, opened.headers)).status === 429 || undefined;
  });
  assert.ok(own < limit, `${own} requests of its own`);
  for (const line of [first, second]) line.close();
});

test('a worker that is killed is replaced; only what it had not answered is lost', async (t) => {
  const opened = await open(t);
  const callers = 8;
  const tally = load(opened, callers);
  await until('answers', () => (tally.answered() > 100 ? true : undefined));
  const [victim, other] = workersOf(opened.serving);
  assert.ok(victim !== undefined && other !== undefined);
  const before = await scrape(opened.metricsPort);
  process.kill(victim, 'SIGKILL');
  assert.equal(await replaced(opened, 'died'), 1);
  const answered = tally.answered();
  await until('answers', () => (tally.answered() > answered + 100 ? true : undefined));
  await tally.stop();
  assert.deepEqual(otherThan(tally.statuses, '200', '201', 'undefined'), []);
  // A caller has one request under way, and half of them were at the worker.
  assert.ok((tally.statuses.get('undefined') ?? 0) <= callers / 2 + 1, JSON.stringify([...tally.statuses]));
  const workers = workersOf(opened.serving);
  assert.equal(workers.length, 2);
  assert.ok(workers.includes(other) && !workers.includes(victim));
  for (const [name, count] of await scrape(opened.metricsPort))
    if (/^praxis_\w+_(total|count|sum)\b/.test(name)) assert.ok(count >= (before.get(name) ?? 0), `${name} fell`);
});

test('a worker that holds a websocket is killed: its client binds at another one and is told of all events', async (t) => {
  const opened = await open(t);
  const caller = callerOf({ base: opened.patients.replace('/Patient', '') }, opened.token, application.clientKey);
  const id = await subscribeBySocket(caller, 'https://praxis.health/fhir/SubscriptionTopic/patient-changed');
  const first = await bind(t, caller, id);
  await first.next();
  await until('an active subscription', async () =>
    (await caller.get(`Subscription/${id}`)).json.status === 'active' ? true : undefined,
  );
  await caller.send('POST', 'Patient', { resourceType: 'Patient' });
  assert.deepEqual(numbersOf([await first.next()]), ['1']);
  for (const worker of workersOf(opened.serving)) {
    if (first.socket.readyState === first.socket.CLOSED) break;
    process.kill(worker, 'SIGKILL');
    await Promise.race([first.closed, delay(1_000)]);
  }
  assert.equal((await first.closed).code, 1006);
  for (const _ of [2, 3]) {
    const made = await until('a worker', async () =>
      caller.send('POST', 'Patient', { resourceType: 'Patient' }).catch(() => undefined),
    );
    assert.equal(made.status, 201);
  }
  const second = await bind(t, caller, id);
  assert.equal(statusOfText(await second.next()).type, 'handshake');
  // The first event comes again where its worker had not noted yet that it was taken.
  const numbers = (): string[] => numbersOf(second.received).filter((number) => number !== '1');
  await until('the events', () => (numbers().length >= 2 ? true : undefined));
  assert.deepEqual(numbers(), ['2', '3']);
});

test('a worker that hangs is replaced; new connections are answered all along', async (t) => {
  const opened = await open(t);
  const [victim] = workersOf(opened.serving);
  assert.ok(victim !== undefined);
  process.kill(victim, 'SIGSTOP');
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const line = openLine();
      const { status } = await line.send('GET', opened.patients, opened.headers);
      line.close();
      return status;
    }),
  );
  assert.deepEqual(new Set(answers), new Set([200]));
  assert.equal(await replaced(opened, 'hung'), 1);
  assert.equal(isRunning(victim), false);
});

test('SIGHUP replaces all workers by new ones and fails no request', async (t) => {
  const opened = await open(t);
  const before = workersOf(opened.serving);
  const tally = load(opened, 8);
  await until('answers', () => (tally.answered() > 100 ? true : undefined));
  opened.serving.child.kill('SIGHUP');
  await until('two other workers', () => {
    const now = workersOf(opened.serving);
    return now.length === 2 && now.every((pid) => !before.includes(pid)) ? true : undefined;
  });
  const answered = tally.answered();
  await until('answers', () => (tally.answered() > answered + 100 ? true : undefined));
  await tally.stop();
  assert.deepEqual(otherThan(tally.statuses, '200', '201'), [], JSON.stringify([...tally.statuses]));
  assert.equal((await scrape(opened.metricsPort)).get('praxis_worker_replacements_total{reason="restart"}'), 2);
});

test('a worker over its memory limit is replaced by reason memory, and fails no request', async (t) => {
  const opened = await open(t, { PRAXIS_WORKER_MEMORY_MB: '50', PRAXIS_WORKERS: '2' });
  const tally = load(opened, 4);
  assert.ok((await replaced(opened, 'memory')) > 0);
  await tally.stop();
  assert.deepEqual(otherThan(tally.statuses, '200', '201'), [], JSON.stringify([...tally.statuses]));
});

test('the only worker is killed: connections wait for the next one', async (t) => {
  const opened = await open(t, { PRAXIS_WORKERS: '1' });
  const [victim] = workersOf(opened.serving);
  assert.ok(victim !== undefined);
  process.kill(victim, 'SIGKILL');
  while (isRunning(victim)) await delay(1);
  const line = openLine();
  assert.equal((await line.send('GET', opened.patients, opened.headers)).status, 200);
  line.close();
});

test('SIGTERM ends all workers; the supervisor killed with SIGKILL leaves none, and its port is free', async (t) => {
  const port = await freePort();
  const first = await open(t, { PRAXIS_PORT: port });
  const [worker] = workersOf(first.serving);
  const killed = workersOf(first.serving);
  process.kill(first.serving.pid, 'SIGKILL');
  const second = await open(t, { PRAXIS_PORT: port });
  assert.equal(second.serving.origin, first.serving.origin);
  await until('an end of the workers', () => (killed.some(isRunning) ? undefined : true));
  assert.notEqual(worker, undefined);
  const stopped = workersOf(second.serving);
  assert.equal(stopped.length, 2);
  second.serving.child.kill('SIGTERM');
  await second.serving.ended;
  assert.equal(second.serving.child.exitCode, 0);
  assert.deepEqual(stopped.filter(isRunning), []);
});
