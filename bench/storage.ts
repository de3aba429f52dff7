/**
 * Speed of storage beside its floors, in one run: creates, updates and deletes beside a durable two-row insert, reads
 * beside a bare SELECT by primary key as the owner (no row-level security, no access epoch).
 * The rounds of all are interleaved, so that each ratio compares like with like on a machine that others use too.
 * Usage: node bench/storage.ts [operations per round] [rounds]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { boxStored, getStoredText } from '../packages/server/src/access/disclosure.ts';
import { openLog } from '../packages/server/src/base/log.ts';
import { type Database, openDatabase } from '../packages/server/src/database/database.ts';
import { startEmbeddedDatabase } from '../packages/server/src/database/embedded-postgres.ts';
import { migrate } from '../packages/server/src/database/migrate.ts';
import { sql } from '../packages/server/src/database/sql.ts';
import { openStore, type ResourceStore, type ResourceWrite } from '../packages/server/src/storage/store.ts';
import { openScope, type TenantScope } from '../packages/server/src/tenancy/scope.ts';

const perRound = Number(process.argv[2] ?? 60);
const rounds = Number(process.argv[3] ?? 40);
const batchSize = 100;
const readersAtOnce = 32;

interface Workload {
  readonly name: string;
  /** Name of the workload that this one is a ratio of. */
  readonly floor?: string;
  /** Operations under way at once. */
  readonly atOnce: number;
  /** Operations per call of `run`. */
  readonly size: number;
  readonly run: () => Promise<unknown>;
}

interface Figures {
  readonly timesMs: number[];
  elapsedMs: number;
  cpuMicros: number;
  operations: number;
}

async function measure(workload: Workload, calls: number, figures: Figures): Promise<void> {
  let left = calls;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const startMs = performance.now();
      await workload.run();
      figures.timesMs.push(performance.now() - startMs);
    }
  };
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await Promise.all(Array.from({ length: workload.atOnce }, worker));
  figures.elapsedMs += performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpu);
  figures.cpuMicros += user + system;
  figures.operations += calls * workload.size;
}

const day = 86_400_000_000;
let serial = 0;

/** An appointment as a specialty practice has them: 1.2 kB, 15 index rows. */
function appointment(status: string, expectedVersion = 0, number = ++serial): ResourceWrite {
  const id = `bench-${number}`;
  const patient = (number * 2_654_435_761) % 5000;
  const content = {
    resourceType: 'Appointment',
    id,
    meta: { versionId: String(expectedVersion + 1), lastUpdated: '2026-01-01T00:00:00.000Z' },
    status,
    serviceType: Array.from({ length: 6 }, (_, index) => ({
      coding: [
        {
          system: 'http://example.org/service-type',
          code: `s${index}`,
          display: `Service number ${index}, thirty minutes`,
        },
      ],
    })),
    participant: ['Patient', 'Practitioner', 'Location'].map((type) => ({
      actor: { reference: `${type}/${patient}` },
      status: 'accepted',
    })),
  };
  const start = 1_767_225_600_000_000 + (number % 500) * day;
  return {
    type: 'Appointment',
    id,
    expectedVersion,
    lastUpdatedMs: 1_767_225_600_000 + number,
    content: boxStored(JSON.stringify(content)),
    index: {
      tokenParam: [201, 202, 203, 204, 205, 206, 207, 208],
      tokenSystem: ['0', '777', '778', '779', '777', '777', '777', '777'],
      tokenCode: [
        status,
        `c${number % 30}`,
        `s${number % 9}`,
        `identifier-${number}`,
        'c1',
        'c2',
        'c3',
        `tag${number % 3}`,
      ],
      referenceParam: [301, 302, 303, 304],
      referenceTargetType: [100, 101, 102, 103],
      referenceTargetId: [
        `patient-${patient}`,
        `practitioner-${number % 20}`,
        `location-${number % 5}`,
        `slot-${number}`,
      ],
      dateParam: [401, 402],
      dateLo: [start, start],
      dateHi: [start + 1, start + 1_800_000_000],
      stringParam: [501],
      stringValue: [`note ${number % 1000}`],
      stringOriginal: [`Note ${number % 1000}`],
      numberParam: [],
      numberLo: [],
      numberHi: [],
      numberSystem: [],
      numberCode: [],
    },
    audit: {
      atMs: 1_767_225_600_000,
      interaction: expectedVersion === 0 ? 'create' : 'update',
      subject: 'bench',
      tokenId: 'token-0123456789',
      requestId: 'request-0123456789',
    },
  };
}

/** Writes that must succeed: a conflict would make the figures meaningless. */
async function write(store: ResourceStore, scope: TenantScope, one: ResourceWrite): Promise<void> {
  const outcome = await store.write(scope, one);
  if (outcome.outcome !== 'written') throw new Error(`${one.id} was not written`);
}

function workloads(store: ResourceStore, scope: TenantScope, runtime: Database, owner: Database): Workload[] {
  const content = getStoredText(appointment('booked', 0, 0).content ?? boxStored(''));
  const versions = new Map<number, number>();
  let place = 0;
  const next = (): number => (place++ % serial) + 1;
  const update = (status: (version: number) => string) => (): Promise<void> => {
    const number = next();
    const version = versions.get(number) ?? 1;
    versions.set(number, version + 1);
    return write(store, scope, appointment(status(version), version, number));
  };
  const twoRows = () => runtime.query(sql`INSERT INTO bench_floor (content) VALUES (${content}), (${content})`);
  const bare = () =>
    owner.query(
      sql`SELECT vid, lu, content FROM resource WHERE firm = ${scope.firm} AND rtype = ${5} AND id = ${`bench-${next()}`}`,
      { short: true },
    );
  const read = () => store.read(scope, 'Appointment', `bench-${next()}`);
  return [
    { name: 'two-row insert', atOnce: 1, size: 1, run: twoRows },
    {
      name: 'create',
      floor: 'two-row insert',
      atOnce: 1,
      size: 1,
      run: () => write(store, scope, appointment('booked')),
    },
    {
      name: `create, batches of ${batchSize}`,
      floor: 'two-row insert',
      atOnce: 1,
      size: batchSize,
      run: () =>
        store.writeMany(
          scope,
          Array.from({ length: batchSize }, () => appointment('booked')),
        ),
    },
    {
      name: 'update, status changed',
      floor: 'two-row insert',
      atOnce: 1,
      size: 1,
      run: update((version) => `status-${version}`),
    },
    {
      name: 'update, nothing indexed changed',
      floor: 'two-row insert',
      atOnce: 1,
      size: 1,
      run: update(() => 'booked'),
    },
    { name: 'two-row insert, 8 at once', atOnce: 8, size: 1, run: twoRows },
    {
      name: 'create, 8 at once',
      floor: 'two-row insert, 8 at once',
      atOnce: 8,
      size: 1,
      run: () => write(store, scope, appointment('booked')),
    },
    { name: 'bare select', atOnce: 1, size: 1, run: bare },
    { name: 'read', floor: 'bare select', atOnce: 1, size: 1, run: read },
    { name: `bare select, ${readersAtOnce} at once`, atOnce: readersAtOnce, size: 1, run: bare },
    {
      name: `read, ${readersAtOnce} at once`,
      floor: `bare select, ${readersAtOnce} at once`,
      atOnce: readersAtOnce,
      size: 1,
      run: read,
    },
  ];
}

async function prepare(owner: Database): Promise<TenantScope> {
  await owner.query(
    sql`CREATE TABLE bench_floor (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text)`,
  );
  await owner.query(sql`GRANT INSERT ON bench_floor TO praxis_runtime`);
  const [ids] = await owner.query<{ firm: number; application: number }>(sql`
    WITH e AS (INSERT INTO environment (name, realm, kind) VALUES ('bench', 'bench', 'sandbox') RETURNING id),
      f AS (INSERT INTO firm (environment, prefix, name, time_zone) SELECT id, 'bench', 'Bench', 'UTC' FROM e RETURNING id),
      a AS (INSERT INTO application (environment, name) SELECT id, 'Bench' FROM e RETURNING id)
    SELECT f.id AS firm, a.id AS application FROM f, a`);
  if (ids === undefined) throw new Error('no firm');
  await owner.query(
    sql`INSERT INTO access_epoch (firm, application, epoch) VALUES (${ids.firm}, ${ids.application}, 1)`,
  );
  return openScope({
    ...ids,
    epoch: 1,
    environment: 'bench',
    firmPrefix: 'bench',
    product: 'pm',
    timeZone: 'UTC',
    searchParameters: [],
  });
}

function percentile(sorted: readonly number[], share: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(3);
}

function report(all: readonly Workload[], figures: ReadonlyMap<string, Figures>): void {
  const median = (name: string): number =>
    Number(
      percentile(
        [...(figures.get(name)?.timesMs ?? [])].sort((a, b) => a - b),
        0.5,
      ),
    );
  const perSecond = (name: string): number => {
    const found = figures.get(name);
    return found === undefined ? 0 : (found.operations / found.elapsedMs) * 1000;
  };
  console.log(
    `${'workload'.padEnd(34)}${'per s'.padStart(8)}${'p50 ms'.padStart(9)}${'p99 ms'.padStart(9)}${'CPU µs'.padStart(8)}  of its floor`,
  );
  for (const { name, floor } of all) {
    const { timesMs, cpuMicros, operations } = figures.get(name) ?? { timesMs: [], cpuMicros: 0, operations: 1 };
    const sorted = [...timesMs].sort((a, b) => a - b);
    const ratio =
      floor === undefined
        ? ''
        : `${((100 * perSecond(name)) / perSecond(floor)).toFixed(0)} % per s, ${(median(name) / median(floor)).toFixed(2)} × p50`;
    console.log(
      `${name.padEnd(34)}${perSecond(name).toFixed(0).padStart(8)}${percentile(sorted, 0.5).padStart(9)}${percentile(sorted, 0.99).padStart(9)}${(cpuMicros / operations).toFixed(0).padStart(8)}  ${ratio}`,
    );
  }
}

async function main(): Promise<void> {
  const log = openLog('error');
  const dataDir = await mkdtemp(path.join(tmpdir(), 'praxis-bench-'));
  const postgres = await startEmbeddedDatabase({ dataDir, log });
  try {
    await migrate({ connection: postgres.owner, log });
    const owner = await openDatabase({
      connection: postgres.owner,
      rowSecurity: 'bypassed',
      poolMax: 16,
      statementTimeoutMs: 10_000,
      log,
    });
    const runtime = await openDatabase({ connection: postgres.runtime, poolMax: 16, statementTimeoutMs: 10_000, log });
    const scope = await prepare(owner);
    const all = workloads(openStore(runtime), scope, runtime, owner);
    const figures = new Map<string, Figures>();
    // The first round warms up: plans, caches, the compiler.
    for (let round = 0; round <= rounds; round++) {
      if (round <= 1)
        for (const { name } of all) figures.set(name, { timesMs: [], elapsedMs: 0, cpuMicros: 0, operations: 0 });
      for (const workload of all) {
        const found = figures.get(workload.name);
        if (found) await measure(workload, Math.ceil((perRound * workload.atOnce ** 0.5) / workload.size), found);
      }
    }
    report(all, figures);
    await Promise.all([owner.close(), runtime.close()]);
  } finally {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

await main();
