/**
 * What the audit ledger costs point reads: the same service answers `GET Patient/{id}` with its ledger and without it, turn
 * by turn, so that the two differ in nothing else. By HTTP from another thread, a real database beside; the sum of all
 * rounds counts.
 * Run: node bench/audit.ts [rounds]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const rounds = Number(process.argv[2] ?? 12);
const roundMs = 1500;
const connections = 16;
const patients = 2000;

interface Asked {
  readonly port: number;
  readonly paths: readonly string[];
  readonly headers: string;
}

interface Round {
  readonly requests: number;
  readonly seconds: number;
  /** Of the thread that serves. */
  readonly cpuMicros: number;
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
  const { parts } = service.service;
  const ledger = parts.ledger;
  const none = { ...ledger, keep: () => undefined, touch: () => undefined };
  const sums = { with: { requests: 0, seconds: 0, cpuMicros: 0 }, without: { requests: 0, seconds: 0, cpuMicros: 0 } };
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
    for (const kind of order) {
      Object.assign(parts, { ledger: kind === 'with' ? ledger : none });
      const measured = await oneRound(callers);
      await ledger.flush();
      if (round > 0) add(sums[kind], measured); // the first warms up
    }
  }
  await callers.terminate();
  report(sums.with, sums.without);
  for (const close of closing.toReversed()) await close();
}

async function oneRound(callers: Worker): Promise<Round> {
  const [cpu, beginMs] = [process.threadCpuUsage(), performance.now()];
  const requests = await new Promise<number>((resolve, reject) => {
    callers.once('message', resolve);
    callers.once('error', reject);
    callers.postMessage('go');
  });
  const used = process.threadCpuUsage(cpu);
  return { requests, seconds: (performance.now() - beginMs) / 1000, cpuMicros: used.user + used.system };
}

function add(sum: { requests: number; seconds: number; cpuMicros: number }, round: Round): void {
  sum.requests += round.requests;
  sum.seconds += round.seconds;
  sum.cpuMicros += round.cpuMicros;
}

function report(withLedger: Round, without: Round): void {
  const perSecond = ({ requests, seconds }: Round): number => requests / seconds;
  const cpu = ({ requests, cpuMicros }: Round): number => cpuMicros / requests;
  for (const [name, sum] of [
    ['with the ledger', withLedger],
    ['without it', without],
  ] as const)
    console.log(
      `${name.padEnd(16)} ${perSecond(sum).toFixed(0).padStart(6)} reads/s, ${cpu(sum).toFixed(0)} µs CPU a read`,
    );
  console.log(
    `ratio ${(perSecond(withLedger) / perSecond(without)).toFixed(3)}; CPU ${(cpu(withLedger) / cpu(without)).toFixed(3)}`,
  );
}
