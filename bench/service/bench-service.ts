/**
 * `npm run bench`: a node of the service by real HTTP beside the floor of the machine, both on one database, all from one run, so
 * that each figure is a ratio: own ÷ floor, 1.0 is as fast as the floor. They take turns round by round; of each figure the
 * median of the rounds counts. The CPU time is that of all processes, the database's among them.
 *
 *     npm run bench [-- --rounds 7 --seconds 1 --connections 16 --patients 2500 --workers 1 --rows create,update]
 *     npm run bench -- [--judge] [--json FILE] [--profile DIRECTORY]
 *     npm run bench -- --against DIRECTORY [--profile DIRECTORY]
 *     npm run bench -- --against URL (against-server/bench-server.ts)
 *
 * `--judge`: ends with an error when a row is beyond its bar by more than the uncertainty of its ratio. `--json`: writes the
 * figures of every round there. `--against`: beside the service of another checkout of the project instead, whose node_modules
 * are installed, each with a database of its own; ends with an error when a row is slower than there by more than 3 %.
 * `--profile`: a CPU profile of each process of the product is left in that directory.
 */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openLog } from '../../packages/server/src/base/log.ts';
import { openDatabase } from '../../packages/server/src/database/database.ts';
import { benchServer, namesServer } from '../against-server/bench-server.ts';
import { cpuMicrosOfTrees } from '../cpu.ts';
import { type BookingCost, measureBookings } from './booking-cost.ts';
import { type Caller, openCaller } from './caller.ts';
import { compare, contestantOf, statusOf } from './comparison.ts';
import { tidyGround } from './fill-ledger.ts';
import { buildPlan, findFirm, type PlannedRow, planRows, verifyWrites } from './floor/make-plan.ts';
import { planVariable } from './floor/plan.ts';
import type { Server, Workload } from './load.ts';
import { type Ground, openGround, startNode } from './nodes.ts';
import { inYard, startProduct, startScript, type Yard } from './processes.ts';
import type { Row } from './rows/row.ts';
import { openRows } from './rows/rows.ts';
import { formatTables, listBroken, type MeasuredRow, toJson } from './table.ts';
import { isWanted, type MoreOptions, type RowOptions, readRowOptions, runInTurns, type Turn } from './turns.ts';

const root = path.join(import.meta.dirname, '..', '..');
/** Of the other checkout's rate. */
const rateMin = 0.97;
/** After a turn of the product, until the ledger has the rows of its reads and has sealed them. */
const settleMs = 1_200;
/** Of the time of a turn, that of one at one connection. */
const shareOfOne = 0.3;
/** What bookings are measured under. */
const bookingRow = 'booking';

/** Runs the bench with these arguments; returns the exit status. */
export async function benchService(args: readonly string[]): Promise<number> {
  if (namesServer(args)) return await benchServer(args);
  const defaults = { rounds: '7', seconds: '1', patients: '2500' };
  const read = readRowOptions(args, defaults, ['against', 'profile', 'json', 'workers'], ['judge']);
  const { options, values } = read;
  const { rounds, seconds, connections } = options;
  console.log(
    `${os.cpus().length} × ${os.cpus()[0]?.model}, Node ${process.version}, ${connections} connections, ${rounds} rounds of ${seconds} s`,
  );
  const profile =
    values['profile'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(values['profile'])}`];
  return await inYard(async (yard) =>
    values['against'] === undefined
      ? await besideFloor(yard, read, profile)
      : await besideOther(yard, values['against'], options, profile),
  );
}

async function besideOther(
  yard: Yard,
  directory: string,
  options: RowOptions,
  profile: readonly string[],
): Promise<number> {
  const own = await startProduct(yard, root, options.patients, profile);
  console.log(`${own.prepared.resources} resources in the firm\n`);
  const other = await startProduct(yard, directory, options.patients, profile);
  const pair = [
    await contestantOf('other', other.server, other.prepared, options),
    await contestantOf('this', own.server, own.prepared, options),
  ] as const;
  return statusOf(await compare(pair, options, { rateMin }));
}

async function besideFloor(
  yard: Yard,
  { options, values, flags }: MoreOptions & { readonly options: RowOptions },
  profile: readonly string[],
): Promise<number> {
  const ground = await openGround(yard, options.patients);
  const workers = Number(values['workers'] ?? 1);
  const environment = profile.length === 0 ? {} : { NODE_OPTIONS: profile.join(' ') };
  const node = await startNode(yard, ground, workers, environment);
  console.log(`${ground.prepared.resources} resources in the firm, workers: ${workers}\n`);
  const caller = await openCaller(node.origin, ground.prepared);
  const all = await openRows(caller, ground.prepared);
  const rows = all.filter(({ workload }) => isWanted(options, workload));
  const { floor, planned } = await startFloor(yard, ground, caller, rows);
  await tidyGround(ground);
  const measured = await measureRows(node, floor, { rows, planned }, options);
  const isBooked = options.rows.length === 0 || options.rows.some((word) => bookingRow.includes(word));
  const bookings: readonly BookingCost[] = isBooked
    ? await measureBookings(caller, node, { rounds: options.rounds, settleMs })
    : [];
  for (const line of formatTables(measured, bookings, options.connections)) console.log(line);
  const file = values['json'];
  if (file !== undefined)
    writeFileSync(file, toJson(measured, bookings, { ...options, workers, resources: ground.prepared.resources }));
  const status = statusOf(listBroken(measured, bookings));
  return flags.has('judge') ? status : 0;
}

/** Starts the floor on the same database, once it is known what it has to do. */
async function startFloor(
  yard: Yard,
  ground: Ground,
  caller: Caller,
  rows: readonly Row[],
): Promise<{ readonly floor: Server; readonly planned: readonly PlannedRow[] }> {
  const owner = await openDatabase({
    connection: ground.connections.owner,
    rowSecurity: 'bypassed',
    poolMax: 2,
    statementTimeoutMs: 60_000,
    log: openLog('warn'),
  });
  try {
    const source = { caller, owner, firm: await findFirm(owner) };
    const planned = await planRows(source, rows);
    const file = path.join(yard.directory(), 'plan.json');
    writeFileSync(file, JSON.stringify(buildPlan(source, ground, planned)));
    const script = path.join(import.meta.dirname, 'floor', 'floor.ts');
    const { origin, pid } = await startScript(yard, script, { [planVariable]: file });
    await verifyWrites(source, origin, planned);
    return { floor: { origin, cpuMicros: async () => cpuMicrosOfTrees([pid, ground.pid]) }, planned };
  } finally {
    await owner.close();
  }
}

/** The turns of a workload: at all connections, and at one. */
interface Turns {
  readonly many: Turn;
  readonly one: Turn;
}

async function measureRows(
  node: Server,
  floor: Server,
  { rows, planned }: { readonly rows: readonly Row[]; readonly planned: readonly PlannedRow[] },
  options: RowOptions,
): Promise<readonly MeasuredRow[]> {
  const one = { connections: 1, seconds: options.seconds * shareOfOne };
  const turnsOf = (server: Server, workload: Workload): Turns => {
    const many = { settleMs: server === node ? settleMs : 0 };
    return { many: { server, workload, load: many }, one: { server, workload, load: one } };
  };
  const listed = rows.map((row) => {
    const { workload, base, bar } = row;
    const held = base.kind === 'product' ? base.workload : planned.find((each) => each.row === row)?.workload;
    if (held === undefined) throw new Error(`${workload.name} has nothing to be held against`);
    const server = base.kind === 'product' ? node : floor;
    return { name: workload.name, own: turnsOf(node, workload), base: turnsOf(server, held), bar };
  });
  const lines = [
    ...listed,
    ...listAlone(rows).map((workload) => {
      return { name: workload.name, own: undefined, base: turnsOf(floor, workload), bar: undefined };
    }),
  ];
  const sides = lines.map(({ own, base }) => (own === undefined ? [base] : [base, own]));
  const rowsAt = (side: keyof Turns): Turn[][] => sides.map((compared) => compared.map((turns) => turns[side]));
  // Those at one connection come together: what they leave to be done is little.
  const figures = await runInTurns([...rowsAt('many'), ...rowsAt('one')], options);
  const figuresOf = (turns: Turns) => ({ many: figures.get(turns.many) ?? [], one: figures.get(turns.one) ?? [] });
  return lines.map(({ name, own, base, bar }) => {
    return { name, own: own && figuresOf(own), base: figuresOf(base), bar };
  });
}

/** What is measured of the floor alone: beside creates, what the least durable write costs. */
function listAlone(rows: readonly Row[]): readonly Workload[] {
  const create = rows.find(({ workload }) => workload.name === 'create');
  if (create === undefined) return [];
  const call = { ...create.workload.call(0), path: '/insert' };
  return [{ name: 'durable insert of two rows', status: 201, call: () => call }];
}
