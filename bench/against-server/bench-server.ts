/**
 * `npm run bench -- --against URL`: this service beside any FHIR server, with the same reads and searches on the same data, in turns.
 *
 *     npm run bench -- --against URL [--header "name: value"]... [--patients 60] [--rounds 5] [--seconds 1] [--connections 4] [--json FILE]
 *
 * URL is the FHIR base. The server must be one for tests: a synthetic practice is stored there and stays. Ids begin with `bench-`, so
 * that other data does not matter. All questions are asked of both first. Ends with an error when answers disagree.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median } from '../cpu.ts';
import { openCaller } from '../service/caller.ts';
import { computeRatio, formatRatio } from '../service/comparison.ts';
import type { Figures, Workload } from '../service/load.ts';
import { inYard, startProduct } from '../service/processes.ts';
import { takeInTurn } from '../service/rows/row.ts';
import { runInTurns, type TurnOptions } from '../service/turns.ts';
import { type Agreement, compareAnswers } from './agreement.ts';
import { buildDataSet } from './data-set.ts';
import { type Endpoint, load, openEndpoint, openOwnEndpoint } from './endpoint.ts';
import { listQuestions, type Question } from './questions.ts';

const root = path.join(import.meta.dirname, '..', '..');

/** Characters of a difference that are printed. */
const differenceMax = 1_000;

/** Whether these arguments of `npm run bench` name a server, and not a directory. */
export function namesServer(args: readonly string[]): boolean {
  return args.some(
    (arg, index) => /^(--against=)?https?:\/\//.test(arg) && (arg[0] === '-' || args[index - 1] === '--against'),
  );
}

/** Runs the bench with these arguments; returns the exit status. */
export async function benchServer(args: readonly string[]): Promise<number> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      against: text(''),
      header: { type: 'string', multiple: true, default: [] },
      patients: text('60'),
      rounds: text('5'),
      seconds: text('1'),
      connections: text('4'),
      json: { type: 'string' },
    },
  });
  const options = {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
  };
  return await inYard(async (yard) => {
    // The firm is empty but for its staff: what is asked for is loaded as to the other server.
    const { prepared, server } = await startProduct(yard, root, 0);
    const pair = [
      openEndpoint(values.against, values.header),
      openOwnEndpoint(await openCaller(server.origin, prepared)),
    ] as const;
    const resources = buildDataSet(Number(values.patients));
    for (const endpoint of pair) {
      const beganMs = performance.now();
      await load(endpoint, resources);
      console.log(
        `${endpoint.name}: ${resources.length} resources in ${((performance.now() - beganMs) / 1000).toFixed(1)} s`,
      );
    }
    const questions = listQuestions(resources);
    const agreements = await compareAnswers(pair, questions);
    const rows = await measure(pair, questions, options);
    report(rows, agreements);
    const json = rows.map((row) => ({ ...row, ...agreements.get(row.question) }));
    if (values.json !== undefined)
      writeFileSync(values.json, `${JSON.stringify({ ...options, rows: json }, undefined, 1)}\n`);
    return [...agreements.values()].some(({ differences }) => differences.length > 0) ? 1 : 0;
  });
}

interface MeasuredQuestion {
  readonly question: Question;
  /** A round each. */
  readonly other: readonly Figures[];
  readonly own: readonly Figures[];
}

async function measure(
  pair: readonly [Endpoint, Endpoint],
  questions: readonly Question[],
  options: TurnOptions,
): Promise<readonly MeasuredQuestion[]> {
  const turnOf = (endpoint: Endpoint, { name, asked }: Question) => {
    const calls = asked.map((what) => endpoint.call('GET', what));
    const workload: Workload = { name, status: 200, call: (index) => takeInTurn(calls, index) };
    // What it costs the other one is not known.
    return { server: { origin: endpoint.origin, cpuMicros: async () => Number.NaN }, workload };
  };
  const rows = questions.map((question) => ({
    question,
    other: turnOf(pair[0], question),
    own: turnOf(pair[1], question),
  }));
  const figures = await runInTurns(
    rows.map(({ other, own }) => [other, own]),
    options,
  );
  return rows.map(({ question, other, own }) => ({
    question,
    other: figures.get(other) ?? [],
    own: figures.get(own) ?? [],
  }));
}

function report(rows: readonly MeasuredQuestion[], agreements: ReadonlyMap<Question, Agreement>): void {
  const of = (rounds: readonly Figures[], figure: keyof Figures): number[] => rounds.map((round) => round[figure]);
  console.log(
    '\n| | other: requests/s | this | this ÷ other | p50 ms | this | p99 ms | this | answers that agree | resources |',
  );
  console.log(`|---|${'---:|'.repeat(9)}`);
  for (const { question, other, own } of rows) {
    const [otherRates, ownRates] = [of(other, 'requestsPerSecond'), of(own, 'requestsPerSecond')];
    const pair = (figure: keyof Figures): readonly string[] =>
      [other, own].map((rounds) => median(of(rounds, figure)).toFixed(2));
    const count = question.asked.length;
    const { resources = 0, differences = [] } = agreements.get(question) ?? {};
    const cells = [
      question.name,
      ...[otherRates, ownRates].map((rates) => median(rates).toFixed(0)),
      formatRatio(computeRatio(otherRates, ownRates, 0.5)),
      ...pair('p50Ms'),
      ...pair('p99Ms'),
      `${count - differences.length} of ${count}`,
      String(resources),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const all = [...agreements.values()].flatMap(({ differences }) => differences);
  if (all.length > 0) console.log('\nThe other server and this one disagree:\n');
  for (const difference of all) console.log(`- ${difference.slice(0, differenceMax)}`);
}
