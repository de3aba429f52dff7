/** Two workers beside one: days, and what callers get who do not wait, in turns. */
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../cpu.ts';
import { computeRatio, formatRatio, type Ratio } from '../service/comparison.ts';
import { type BenchNode, type RunningPlace, startNode } from '../service/nodes.ts';
import type { Yard } from '../service/processes.ts';
import { type Cost, openMeter } from './cost.ts';
import { openStaff, runAtCapacity, runDay, type Staff } from './day.ts';
import { openInstallations, settlePlace } from './installations.ts';
import type { DayFigures } from './journal.ts';
import type { DayPlan } from './plan.ts';
import { formatContents, listBrokenAnswers } from './report.ts';

export interface CompareOptions {
  readonly rounds: number;
  /** Of each day. */
  readonly seconds: number;
  readonly capacitySeconds: number;
  readonly connections: number;
  readonly rate: number;
}

/** What one side did in one round. */
interface Turn {
  readonly day: DayFigures;
  readonly dayCost: Cost;
  readonly capacity: DayFigures;
  readonly capacityCost: Cost;
}

interface Side {
  readonly workers: number;
  readonly node: BenchNode;
  readonly place: RunningPlace;
  readonly staff: Staff;
  readonly turns: Turn[];
}

/** A figure of the turns, and its bound for two workers ÷ one. */
interface Row {
  readonly name: string;
  readonly digits: number;
  readonly read: (turn: Turn) => number;
  readonly min?: number;
  readonly max?: number;
}

const rows: readonly Row[] = [
  { name: 'as fast as possible: requests/s', digits: 0, read: ({ capacity }) => capacity.answered, min: 1 },
  { name: 'CPU µs/request', digits: 0, read: ({ capacityCost }) => capacityCost.all, max: 1.1 },
  { name: 'p50 ms', digits: 2, read: ({ capacity }) => capacity.all.p50Ms },
  { name: 'p99 ms', digits: 1, read: ({ capacity }) => capacity.all.p99Ms },
  { name: 'practice day: CPU µs/request', digits: 0, read: ({ dayCost }) => dayCost.all, max: 1.1 },
  { name: 'of these the service', digits: 0, read: ({ dayCost }) => dayCost.service },
  { name: 'of these the database', digits: 0, read: ({ dayCost }) => dayCost.database },
  { name: 'p50 ms', digits: 2, read: ({ day }) => day.all.p50Ms },
  { name: 'p99 ms', digits: 1, read: ({ day }) => day.all.p99Ms },
  { name: "p50 ms at 8 o'clock", digits: 2, read: ({ day }) => day.burst.p50Ms },
  { name: "p99 ms at 8 o'clock", digits: 1, read: ({ day }) => day.burst.p99Ms },
];

/** With fewer rounds the uncertainty is not known, and only answers are judged. */
const judgedRoundsMin = 5;
/** Between the turns, so that what one leaves behind does not burden the other. */
const restMs = 500;

/** Runs the rounds and prints the table. */
export async function compareWorkers(
  yard: Yard,
  plan: DayPlan,
  options: CompareOptions,
): Promise<{ readonly json: object; readonly broken: readonly string[] }> {
  const { contents, places } = await openInstallations(yard, plan, 2);
  console.log(formatContents(contents));
  const sides: Side[] = [];
  for (const [index, place] of places.entries()) {
    const workers = index + 1;
    const node = await startNode(yard, place, workers);
    sides.push({ workers, node, place, staff: await openStaff(node.origin, contents), turns: [] });
  }
  for (const { place } of sides) await settlePlace(place);
  // Round 0 warms up and does not count.
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const turn = await runTurn(side, options, round);
      if (round > 0) side.turns.push(turn);
      await delay(restMs);
    }
  }
  return judge(sides, options);
}

async function runTurn({ node, place, staff }: Side, options: CompareOptions, round: number): Promise<Turn> {
  const dayMeter = openMeter(node, place);
  const day = await runDay(staff, { seconds: options.seconds, rate: options.rate, number: round });
  const dayCost = await dayMeter.read(day.all.requests);
  const capacityMeter = openMeter(node, place);
  const { connections, capacitySeconds: seconds } = options;
  const capacity = await runAtCapacity(staff, { seconds, connections, number: round });
  return { day, dayCost, capacity, capacityCost: await capacityMeter.read(capacity.all.requests) };
}

function judge(sides: readonly Side[], options: CompareOptions) {
  const [one, two] = sides.map(({ turns }) => turns);
  if (one === undefined || two === undefined) throw new RangeError('there are not two sides');
  const measured = rows.map((row) => {
    const [base, own] = [one.map(row.read), two.map(row.read)];
    const ratios = own.map((value, round) => value / (base[round] ?? Number.NaN));
    return { row, base: median(base), own: median(own), ratio: computeRatio([1], ratios, 0.5) };
  });
  console.log(
    `${options.rounds} rounds: days of ${options.seconds} s with ${options.rate} requests/s, and ${options.capacitySeconds} s with ${options.connections} callers who do not wait\n`,
  );
  const isOver = ({ row, ratio }: (typeof measured)[number]): boolean =>
    options.rounds >= judgedRoundsMin && isBroken(row, ratio);
  console.log('| | one worker | two | ratio, median of the rounds | bound |\n|---|---:|---:|---:|---:|');
  for (const each of measured) {
    const { row, base, own, ratio } = each;
    const cells = [row.name, base.toFixed(row.digits), own.toFixed(row.digits)];
    console.log(`| ${[...cells, `${formatRatio(ratio)}${isOver(each) ? ' ✗' : ''}`, formatBound(row)].join(' | ')} |`);
  }
  const days = [...one, ...two].flatMap(({ day, capacity }) => [day, capacity]);
  const broken = [
    ...measured.filter(isOver).map(({ row }) => row.name),
    ...new Set(days.flatMap(({ errors }) => Object.keys(errors))),
    ...days.flatMap(listBrokenAnswers),
  ];
  const ratios = measured.map(({ row: { name, min, max }, base, own, ratio }) => ({
    name,
    min,
    max,
    base,
    own,
    ...ratio,
  }));
  const json = { ...options, ratios, sides: sides.map(({ workers, turns }) => ({ workers, turns })) };
  return { json, broken };
}

function isBroken({ min, max }: Row, { ratio, uncertainty }: Ratio): boolean {
  return (min !== undefined && ratio + uncertainty < min) || (max !== undefined && ratio - uncertainty > max);
}

function formatBound({ min, max }: Row): string {
  return min !== undefined ? `≥ ${min}` : max !== undefined ? `≤ ${max}` : '';
}
