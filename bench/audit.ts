/**
 * What the audit ledger costs point reads: the same service answers `GET Patient/{id}` with its ledger and without it, turn
 * by turn, so that the two differ in nothing else. By HTTP from another thread, a real database beside; the medians of
 * all rounds count. CPU time is told of the thread that serves and (on Linux) of the database's processes, each with what
 * remains to be written and sealed after the last answer of a round; it depends least on what else the machine does.
 * Run: node bench/audit.ts [rounds]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const rounds = Number(process.argv[2] ?? 20);
const roundMs = 1000;
const connections = 16;
const patients = 2000;

interface Asked {
  readonly port: number;
  readonly paths: readonly string[];
  readonly headers: string;
}

interface Round {
  readonly readsPerSecond: number;
  /** CPU time a read, in µs: of the thread that serves, and of the database. */
  readonly serving: number;
  readonly database: number;
}

if (isMainThread) await measureBoth();
else serveRounds(workerData);

/** In the thread of the callers: each message asks for a round. */
function serveRounds({ port, paths, headers }: Asked): void {
  parentPort?.on('message', async () => {
    const endMs = performance.now() + roundMs;
    const counts = await Promise.all(
      Array.from({ length: connections }, (_, at) => callUntil(endMs, port, paths, headers, at)),
    );
    parentPort?.postMessage(counts.reduce((sum, count) => sum + count, 0));
  });
}

/** One connection that asks again as soon as it is answered. */
function callUntil(
  endMs: number,
  port: number,
  paths: readonly string[],
  headers: string,
  first: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let received = '';
    const socket = connect(port, '127.0.0.1');
    const ask = (): void =>
      void socket.write(`GET ${paths[(first * 127 + count * 31) % paths.length]} HTTP/1.1\r\n${headers}`);
    socket.setEncoding('latin1');
    socket.on('connect', ask);
    socket.on('error', reject);
    socket.on('data', (text: string) => {
      received += text;
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
      if (received.length < head + 4 + length) return;
      if (!received.startsWith('HTTP/1.1 200')) return reject(new Error(received));
      received = '';
      count += 1;
      if (performance.now() < endMs) return ask();
      socket.destroy();
      resolve(count);
    });
  });
}

async function measureBoth(): Promise<void> {
  const { openTestService, makeFirm, makeApplication, openCaller } = await import(
    '../packages/server/test/support/service.ts'
  );
  const { median, openDatabaseCpu } = await import('./cpu.ts');
  const closing: (() => Promise<void> | void)[] = [];
  const dataDir = mkdtempSync(path.join(tmpdir(), 'praxis-bench-'));
  closing.push(() => rmSync(dataDir, { recursive: true }));
  const service = await openTestService(
    { after: (work) => void closing.push(work) },
    { PRAXIS_AUDIT_SEAL_MS: '1000', PRAXIS_DATA_DIR: dataDir },
  );
  const firm = await makeFirm(service, 'maple');
  const caller = await openCaller(service, await makeApplication(service, 'Reader', ['acl/*'], [firm]), firm);
  const paths: string[] = [];
  for (let at = 0; at < patients; at++) {
    const name = [{ family: `Family ${at}`, given: ['Ada', 'Mary'] }];
    const { json } = await caller.send('POST', 'Patient', { resourceType: 'Patient', name, birthDate: '1970-01-02' });
    paths.push(new URL(`${firm.base}/Patient/${json.id}`).pathname);
  }
  const lines = Object.entries({ host: 'localhost', ...caller.headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const data: Asked = { port: Number(new URL(service.origin).port), paths, headers: `${lines.join('')}\r\n` };
  const callers = new Worker(new URL(import.meta.url), { workerData: data });
  const { parts, jobs } = service.service;
  const ledger = parts.ledger;
  const none = { ...ledger, keep: () => undefined, touch: () => undefined };
  const databaseMicros = await openDatabaseCpu(service.database.owner);
  const settle = async (): Promise<void> => {
    await ledger.flush();
    await jobs.settle();
  };
  const measured: Record<'with' | 'without', Round[]> = { with: [], without: [] };
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
    for (const kind of order) {
      Object.assign(parts, { ledger: kind === 'with' ? ledger : none });
      const one = await oneRound(callers, databaseMicros, settle);
      if (round > 0) measured[kind].push(one); // the first warms up
    }
  }
  await callers.terminate();
  report(measured.with, measured.without, median);
  for (const close of closing.toReversed()) await close();
}

async function oneRound(callers: Worker, databaseMicros: () => number, settle: () => Promise<void>): Promise<Round> {
  const [cpu, database, beginMs] = [process.threadCpuUsage(), databaseMicros(), performance.now()];
  const requests = await new Promise<number>((resolve, reject) => {
    callers.once('message', resolve);
    callers.once('error', reject);
    callers.postMessage('go');
  });
  const seconds = (performance.now() - beginMs) / 1000;
  await settle();
  const used = process.threadCpuUsage(cpu);
  return {
    readsPerSecond: requests / seconds,
    serving: (used.user + used.system) / requests,
    database: (databaseMicros() - database) / requests,
  };
}

function report(
  withLedger: readonly Round[],
  without: readonly Round[],
  median: (values: readonly number[]) => number,
): void {
  const of = (rounds: readonly Round[]) => ({
    readsPerSecond: median(rounds.map(({ readsPerSecond }) => readsPerSecond)),
    serving: median(rounds.map(({ serving }) => serving)),
    database: median(rounds.map(({ database }) => database)),
  });
  const [one, other] = [of(withLedger), of(without)];
  for (const [name, { readsPerSecond, serving, database }] of [
    ['with the ledger', one],
    ['without it', other],
  ] as const)
    console.log(
      `${name.padEnd(16)} ${readsPerSecond.toFixed(0).padStart(6)} reads/s; CPU a read: ${serving.toFixed(1)} µs serving, ${database.toFixed(1)} µs database`,
    );
  const all = ({ serving, database }: Round): number => serving + database;
  console.log(
    `ratio ${(one.readsPerSecond / other.readsPerSecond).toFixed(3)}; CPU ${(one.serving / other.serving).toFixed(3)} serving, ${(one.database / other.database).toFixed(3)} database, ${(all(one) / all(other)).toFixed(3)} both`,
  );
}
