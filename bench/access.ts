/**
 * What access costs, in one run and as ratios: database time of the same rows with a restricted token and with full access
 * (limit 1.1), the field mask (limit 30 µs for a resource of 2 kB), and row-level security on a point read (limit 10 %).
 * The rounds of what is compared take turns; the median of their times counts. Of row-level security it is the median of the
 * CPU times of this thread and the database's processes together, where the system tells them (Linux): the times that pass
 * are those of other processes on a machine that does other things as well.
 *
 *     npm run bench -- access [--rounds 60] [--patients 600]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { boxStored } from '../packages/server/src/access/disclosure.ts';
import { disclose } from '../packages/server/src/access/mask.ts';
import { type AccessPolicy, compilePolicy, searchGrants } from '../packages/server/src/access/policy.ts';
import { openPlatform, type Platform } from '../packages/server/src/app.ts';
import { systemClock } from '../packages/server/src/base/clock.ts';
import { readConfig } from '../packages/server/src/base/config.ts';
import { makeSecret } from '../packages/server/src/base/ids.ts';
import { openLog } from '../packages/server/src/base/log.ts';
import { loadPractice } from '../packages/server/src/cli/sandbox/practice.ts';
import { type Database, openDatabase } from '../packages/server/src/database/database.ts';
import { startEmbeddedDatabase } from '../packages/server/src/database/embedded-postgres.ts';
import { type Sql, sql } from '../packages/server/src/database/sql.ts';
import { parseSearch } from '../packages/server/src/search/query/query.ts';
import { planPage } from '../packages/server/src/search/sql/plan.ts';
import { statements } from '../packages/server/src/storage/statements.ts';
import { toDayStart } from '../packages/server/src/synthetic/zoned-time.ts';
import { createFirm } from '../packages/server/src/tenancy/firms.ts';
import { openOperatorScope } from '../packages/server/src/tenancy/operator.ts';
import type { TenantScope } from '../packages/server/src/tenancy/scope.ts';
import { median, openDatabaseCpu } from './cpu.ts';

/** Calls of one side in one round. */
const callsPerRound = 50;
const firmsMax = 8;
const atOnce = 16;
const idOf = (index: number): string => `${450_000 + index}`;

interface Size {
  readonly rounds: number;
  /** Of the practice that is searched. */
  readonly patients: number;
}

type Call = (turn: number) => unknown;

/** Median times of one call of each side, in ms. Round 0 warms up. */
async function compare(rounds: number, sides: readonly Call[], calls = callsPerRound): Promise<readonly number[]> {
  const times: number[][] = sides.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [side, call] of sides.entries()) {
      for (let turn = 0; turn < calls; turn += 1) {
        const startMs = performance.now();
        await call(round * calls + turn);
        if (round > 0) times[side]?.push(performance.now() - startMs);
      }
    }
  }
  return times.map(median);
}

/** Median CPU times of one call of each side, in ms: this thread and the database together. Round 0 warms up. */
async function compareCpu(
  rounds: number,
  sides: readonly Call[],
  databaseMicros: () => number,
): Promise<readonly number[]> {
  const times: number[][] = sides.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [side, call] of sides.entries()) {
      const [database, thread] = [databaseMicros(), process.threadCpuUsage()];
      for (let turn = 0; turn < callsPerRound; turn += 1) await call(round * callsPerRound + turn);
      const used = process.threadCpuUsage(thread);
      const micros = used.user + used.system + databaseMicros() - database;
      if (round > 0) times[side]?.push(micros / 1000 / callsPerRound);
    }
  }
  return times.map(median);
}

/** One line, and whether the ratio is within its limit. */
function report(name: string, [one = 0, other = 0]: readonly number[], max: number): boolean {
  const ratio = other / one;
  const verdict = ratio <= max ? 'within' : 'OVER';
  console.log(
    `${name.padEnd(62)}${one.toFixed(3).padStart(8)}${other.toFixed(3).padStart(8)}  ${ratio.toFixed(3)}  ${verdict} ${max}`,
  );
  return ratio <= max;
}

interface Compared {
  readonly name: string;
  readonly type: string;
  /** With full access, and with the restricted token: both find the same rows. */
  readonly full: string;
  readonly own: string;
  readonly entries: readonly string[];
}

const searches: readonly Compared[] = [
  {
    name: 'patients by name, some elements',
    type: 'Patient',
    full: 'family=s&_count=50',
    own: 'family=s&_count=50',
    entries: ['acl/pat_s_name_dob_gen'],
  },
  {
    name: 'patients born in a year, sorted, some elements',
    type: 'Patient',
    full: 'birthdate=ge1970&_sort=birthdate&_count=50',
    own: 'birthdate=ge1970&_sort=birthdate&_count=50',
    entries: ['acl/pat_s_name_dob_gen'],
  },
  {
    name: 'women, by a scope with a query',
    type: 'Patient',
    full: 'gender=female&_count=50',
    own: '_count=50',
    entries: ['system/Patient.rs?gender=female'],
  },
  {
    name: 'recalls, by subtype',
    type: 'Task',
    full: 'code=PMRECALL&_count=50',
    own: '_count=50',
    entries: ['acl/tsk_pmrecall_s'],
  },
  {
    name: 'recalls of a patient, by subtype',
    type: 'Task',
    full: `code=PMRECALL&patient=Patient/${idOf(1)}&_count=50`,
    own: `patient=Patient/${idOf(1)}&_count=50`,
    entries: ['acl/tsk_pmrecall_s'],
  },
  {
    name: 'payers, by subtype',
    type: 'Organization',
    full: 'type=pay&_count=50',
    own: '_count=50',
    entries: ['acl/org_pay_s'],
  },
];

function statementOf(platform: Platform, scope: TenantScope, policy: AccessPolicy, type: string, query: string): Sql {
  const parameters = [...new URLSearchParams(query)];
  const parsed = parseSearch(type, parameters, {
    timeZone: scope.timeZone,
    baseUrl: 'http://127.0.0.1/fhir/v2',
    nowMs: platform.clock.now(),
    limits: platform.config,
    searchParameters: [],
    rights: { rowsOf: () => undefined, refuse: () => Promise.reject() as never },
  });
  return planPage({
    scope,
    query: parsed,
    mandatory: searchGrants(policy, type, parsed.usedParameters).map(({ criteria }) => criteria),
    cursor: { secrets: platform.secrets, policyFingerprint: policy.fingerprint },
  }).buildStatement();
}

async function compareSearches(rounds: number, platform: Platform, scope: TenantScope): Promise<boolean> {
  const full = compilePolicy(['acl/*'], ['acl/*']);
  let within = true;
  for (const { name, type, full: asked, own, entries } of searches) {
    const restricted = compilePolicy(entries, ['acl/*']);
    const sides = [
      statementOf(platform, scope, full, type, asked),
      statementOf(platform, scope, restricted, type, own),
    ].map((statement) => () => platform.store.selectPage(scope, statement));
    const [one, other] = await Promise.all(sides.map((side) => side()));
    const ids = [one, other].map((rows) =>
      rows
        ?.map(({ id }) => id)
        .toSorted()
        .join(),
    );
    if (ids[0] !== ids[1]) throw new Error(`${name}: the two tokens find other rows`);
    within = report(`${name}: ${one?.length} rows`, await compare(rounds, sides, 10), 1.1) && within;
  }
  return within;
}

/** µs per resource, on a page of stored patients filled up to 2 kB. */
async function measureMask(rounds: number, platform: Platform, scope: TenantScope): Promise<boolean> {
  const policy = compilePolicy(['acl/pat_s_id', 'acl/pat_s_name_dob_gen'], ['acl/*']);
  const whole = compilePolicy(['acl/*'], ['acl/*']);
  const patient = { resourceType: 'Patient', id: 'one', name: [{ family: 'Stone' }], gender: 'female' };
  const filling = Array.from({ length: 12 }, (_, index) => ({
    system: 'phone',
    value: `+1 555 0100 ${index}`,
    use: 'home',
    extension: [{ url: 'http://example.org/note', valueString: 'a'.repeat(50) }],
  }));
  const text = JSON.stringify({ ...patient, telecom: filling, birthDate: '1970-01-31' });
  const calls = 20_000;
  const mask = (by: AccessPolicy) => (): void => {
    for (let at = 0; at < calls; at += 1) disclose(by, 's', 'Patient', boxStored(text), () => true);
  };
  const parsed = (): void => {
    for (let at = 0; at < calls; at += 1) JSON.stringify(JSON.parse(text));
  };
  const micros = (await compare(rounds, [parsed, mask(whole), mask(policy)], 1)).map((ms) => (ms * 1000) / calls);
  const [floor = 0, ofWhole = 0, ofSome = 0] = micros;
  console.log(
    `field mask, ${text.length} characters: ${ofSome.toFixed(1)} µs for some elements, ${ofWhole.toFixed(2)} µs for all; JSON.parse + JSON.stringify ${floor.toFixed(1)} µs (limit 30 µs)`,
  );
  // What a page costs in all, beside: its mask is a small part of the statement that finds it.
  await platform.store.read(scope, 'Patient', idOf(1));
  return ofSome <= 30;
}

async function compareRowSecurity(
  { rounds, patients }: Size,
  runtime: Database,
  owner: Database,
  scopes: readonly TenantScope[],
): Promise<boolean> {
  const read = (database: Database, isFirm: boolean, scope: TenantScope, index: number): Promise<unknown> =>
    (isFirm ? database.forFirm(scope.firm) : database).query(statements.read(scope, 'Patient', idOf(index)), {
      short: true,
      idempotent: true,
    });
  const [first] = scopes;
  if (first === undefined) throw new Error('no firm');
  const one = (database: Database, isFirm: boolean) => (turn: number) =>
    read(database, isFirm, first, 1 + (turn % patients));
  const many = (database: Database, isFirm: boolean, among: readonly TenantScope[]) => (turn: number) =>
    Promise.all(
      Array.from({ length: atOnce }, (_, index) =>
        read(database, isFirm, among[(turn + index) % among.length] ?? first, 1 + ((turn + index) % 10)),
      ),
    );
  const micros = await openDatabaseCpu(owner);
  const cases: readonly (readonly [name: string, sides: readonly Call[]])[] = [
    ['one at once, one firm', [one(owner, false), one(runtime, true)]],
    [`${atOnce} at once, one firm`, [many(owner, false, [first]), many(runtime, true, [first])]],
    [`${atOnce} at once, ${scopes.length} firms in turn`, [many(owner, false, scopes), many(runtime, true, scopes)]],
  ];
  let within = true;
  for (const [name, sides] of cases) {
    const isCpuTold = !Number.isNaN(micros());
    const passed = report(`point read, ${name}`, await compare(rounds, sides), 1.1);
    const used = !isCpuTold || report(`point read, ${name}: CPU time`, await compareCpu(rounds, sides, micros), 1.1);
    within = (isCpuTold ? used : passed) && within;
  }
  return within;
}

/** 0 where every limit is kept, else 1. */
export async function benchAccess(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string', default: '60' }, patients: { type: 'string', default: '600' } },
  });
  const size: Size = { rounds: Number(values.rounds), patients: Number(values.patients) };
  const log = openLog('error');
  const dataDir = await mkdtemp(path.join(tmpdir(), 'praxis-bench-'));
  const embedded = await startEmbeddedDatabase({ dataDir, log });
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir, PRAXIS_SECRET_KEY: makeSecret() });
  const platform = await openPlatform({ config, clock: systemClock, log, connections: embedded });
  const pool = { poolMax: 8, statementTimeoutMs: 10_000, log };
  const owner = await openDatabase({ connection: embedded.owner, rowSecurity: 'bypassed', ...pool });
  const runtime = await openDatabase({ connection: embedded.runtime, ...pool });
  try {
    const scopes: TenantScope[] = [];
    for (let index = 0; index < firmsMax; index += 1) {
      const draft = { environment: 'sandbox', prefix: `bench-${index}`, name: 'Bench', timeZone: 'UTC' };
      const firm = await createFirm(platform.database, draft);
      const plan = {
        seed: `bench-${index}`,
        patients: index === 0 ? size.patients : 20,
        todayMs: toDayStart(Date.now()),
      };
      await loadPractice(platform, firm, plan);
      scopes.push(await openOperatorScope(platform.database, platform.clock, firm));
    }
    await owner.query(sql`ANALYZE`);
    const [scope] = scopes;
    if (scope === undefined) throw new Error('no firm');
    console.log(`${''.padEnd(62)}${'ms'.padStart(8)}${'ms'.padStart(8)}  ratio`);
    console.log('database time of the same rows: full access, restricted token');
    const searched = await compareSearches(size.rounds, platform, scope);
    const masked = await measureMask(size.rounds, platform, scope);
    console.log('row-level security: as the owner without it, as the runtime role with it');
    const secured = await compareRowSecurity(size, runtime, owner, scopes);
    return searched && masked && secured ? 0 : 1;
  } finally {
    await Promise.all([owner.close(), runtime.close()]);
    await platform.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
