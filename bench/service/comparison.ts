/**
 * Two servers that answer the same workloads, row by row: the ratios of their rates and of their CPU time per request. Other
 * work on the machine only slows, so of each side the quartile of the rounds that were least disturbed counts.
 */
import { quantile } from '../cpu.ts';
import type { Figures, Server, Workload } from './load.ts';
import type { Prepared } from './prepare.ts';
import { openWorkloads } from './rows/rows.ts';
import { isWanted, type RowOptions, runInTurns, type TurnOptions } from './turns.ts';

export interface Contestant {
  readonly name: string;
  readonly server: Server;
  readonly workloads: readonly Workload[];
}

/** The rows of `npm run bench` that are wanted, at `server`. */
export async function contestantOf(
  name: string,
  server: Server,
  prepared: Prepared,
  options: RowOptions,
): Promise<Contestant> {
  const workloads = await openWorkloads(server.origin, prepared);
  return { name, server, workloads: workloads.filter((each) => isWanted(options, each)) };
}

/** What is promised of the second one ÷ the first one. */
export interface Bounds {
  readonly rateMin?: number;
  readonly cpuMax?: number;
}

/** A ratio with its uncertainty: two standard errors, by bootstrap. */
export interface Ratio {
  readonly ratio: number;
  readonly uncertainty: number;
}

/** Prints a row for each workload; returns the names of those whose bound is broken beyond the uncertainty of the ratio. */
export async function compare(
  [base, own]: readonly [Contestant, Contestant],
  options: TurnOptions,
  bounds: Bounds,
): Promise<readonly string[]> {
  const pairs = base.workloads.flatMap((workload, index) => {
    const other = own.workloads[index];
    return other === undefined ? [] : [[turnOf(base, workload), turnOf(own, other)] as const];
  });
  const figures = await runInTurns(pairs, options);
  const broken: string[] = [];
  console.log(
    `| | ${base.name}: requests/s | ${own.name} | ratio${boundText('≥', bounds.rateMin)} | CPU µs/request | ${own.name} | ratio${boundText('≤', bounds.cpuMax)} |`,
  );
  console.log('|---|---:|---:|---:|---:|---:|---:|');
  for (const [one, other] of pairs) {
    const [ofBase, ofOwn] = [figures.get(one) ?? [], figures.get(other) ?? []];
    const [baseRates, ownRates] = [ofBase.map(rateOf), ofOwn.map(rateOf)];
    const [baseCpu, ownCpu] = [ofBase.map(cpuOf), ofOwn.map(cpuOf)];
    const rate = computeRatio(baseRates, ownRates, upperQuartile);
    const cpu = computeRatio(baseCpu, ownCpu, lowerQuartile);
    const isBroken =
      (bounds.rateMin !== undefined && rate.ratio + rate.uncertainty < bounds.rateMin) ||
      (bounds.cpuMax !== undefined && cpu.ratio - cpu.uncertainty > bounds.cpuMax);
    if (isBroken) broken.push(one.workload.name);
    const cells = [
      one.workload.name,
      ...[baseRates, ownRates].map((rates) => quantile(rates, upperQuartile).toFixed(0)),
      formatRatio(rate),
      ...[baseCpu, ownCpu].map((costs) => quantile(costs, lowerQuartile).toFixed(0)),
      `${formatRatio(cpu)}${isBroken ? ' ✗' : ''}`,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  return broken;
}

/** Says what is broken; returns the exit status. */
export function statusOf(broken: readonly string[]): number {
  if (broken.length > 0) console.log(`\nBeyond the bound: ${broken.join(', ')}`);
  return broken.length > 0 ? 1 : 0;
}

const upperQuartile = 0.75;
const lowerQuartile = 0.25;
const resamples = 500;

const rateOf = ({ requestsPerSecond }: Figures): number => requestsPerSecond;
const cpuOf = ({ cpuMicros }: Figures): number => cpuMicros;

function turnOf({ server }: Contestant, workload: Workload) {
  return { server, workload };
}

/** The quantile `share` of the own values ÷ that of the base's. */
export function computeRatio(base: readonly number[], own: readonly number[], share: number): Ratio {
  const ratio = quantile(own, share) / quantile(base, share);
  const drawn = Array.from({ length: resamples }, () => quantile(redrawn(own), share) / quantile(redrawn(base), share));
  const mean = drawn.reduce((sum, each) => sum + each, 0) / drawn.length;
  const variance = drawn.reduce((sum, each) => sum + (each - mean) ** 2, 0) / drawn.length;
  return { ratio, uncertainty: 2 * Math.sqrt(variance) };
}

/** As many of the values, drawn at random, each as often as it comes: https://en.wikipedia.org/wiki/Bootstrapping_(statistics) */
function redrawn(values: readonly number[]): number[] {
  return values.map(() => values[Math.floor(Math.random() * values.length)] ?? Number.NaN);
}

/** The ratio as it is printed. */
export function formatRatio({ ratio, uncertainty }: Ratio): string {
  return `${ratio.toFixed(3)} ± ${uncertainty.toFixed(3)}`;
}

function boundText(sign: string, bound: number | undefined): string {
  return bound === undefined ? '' : ` (${sign} ${bound})`;
}
