/**
 * `npm run bench`: the service by real HTTP beside its floor, all from one run on one machine, so that each figure is a
 * ratio. Floor and product take turns round by round; the median round of each counts.
 *
 *     npm run bench [-- --rounds 3 --seconds 2 --connections 16 --patients 2000 --rows create,update]
 *     npm run bench -- --against DIRECTORY [--profile DIRECTORY]
 *
 * `--against`: beside the service of another checkout of the project instead, whose node_modules are installed, each with a
 * database of its own; ends with an error when a row is slower than there by more than 3 %. `--profile`: a CPU profile of
 * each product process is left in that directory.
 */
import os from 'node:os';
import path from 'node:path';
import { compare, contestantOf, statusOf } from './comparison.ts';
import { inYard, type Product, startProduct, startScript, type Yard } from './processes.ts';
import { rowsOf } from './report.ts';
import { isWanted, type RowOptions, readRowOptions, runInTurns } from './turns.ts';
import { floorWorkloads, productWorkloads } from './workloads.ts';

const root = path.join(import.meta.dirname, '..', '..');
/** Of the other checkout's rate. */
const rateMin = 0.97;

/** Runs the bench with these arguments; returns the exit status. */
export async function benchService(args: readonly string[]): Promise<number> {
  const { options, values } = readRowOptions(args, { rounds: '3', seconds: '2' }, ['against', 'profile']);
  const { rounds, seconds, connections, patients } = options;
  console.log(
    `${os.cpus().length} × ${os.cpus()[0]?.model}, Node ${process.version}, ${connections} connections, ${rounds} rounds of ${seconds} s`,
  );
  const nodeOptions =
    values['profile'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(values['profile'])}`];
  return await inYard(async (yard) => {
    const product = await startProduct(yard, root, patients, nodeOptions);
    console.log(`${product.prepared.resources} resources in the firm\n`);
    if (values['against'] === undefined) return await besideFloor(yard, product, options);
    const other = await startProduct(yard, values['against'], patients, nodeOptions);
    return await besideOther(product, other, options);
  });
}

async function besideFloor(yard: Yard, { prepared, server }: Product, options: RowOptions): Promise<number> {
  const floor = await startScript(yard, path.join(import.meta.dirname, 'floor.ts'), prepared.floorEnvironment);
  const pairs = (await productWorkloads(server.origin, prepared)).filter(({ workload }) => isWanted(options, workload));
  const floors = floorWorkloads(prepared);
  const turns = [
    ...floors.map((workload) => ({ server: floor, workload })),
    ...pairs.map(({ workload }) => ({ server, workload })),
  ];
  const figures = await runInTurns(turns, options);
  const byWorkload = new Map([...figures].map(([{ workload }, rounds]) => [workload, rounds]));
  for (const line of rowsOf(floors, pairs, byWorkload)) console.log(line);
  return 0;
}

async function besideOther(own: Product, other: Product, options: RowOptions): Promise<number> {
  const pair = [
    await contestantOf('other', other.server, other.prepared, options),
    await contestantOf('this', own.server, own.prepared, options),
  ] as const;
  return statusOf(await compare(pair, options, { rateMin }));
}
