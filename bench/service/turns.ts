/**
 * Loads that take turns, so that all see the same machine: round by round, each odd round in reverse.
 */
import { parseArgs } from 'node:util';
import { type Figures, run, type Server, type Workload } from './load.ts';

export interface Turn {
  readonly server: Server;
  readonly workload: Workload;
}

export interface TurnOptions {
  readonly rounds: number;
  /** Of each turn. */
  readonly seconds: number;
  readonly connections: number;
}

/** Runs them all in each round; returns what was measured by turn, a round each. Round 0 warms up and does not count. */
export async function runInTurns(turns: readonly Turn[], options: TurnOptions): Promise<Map<Turn, readonly Figures[]>> {
  const figures = new Map<Turn, Figures[]>();
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) {
      const seconds = round === 0 ? Math.min(1, options.seconds) : options.seconds;
      const measured = await run(turn.server, turn.workload, options.connections, seconds);
      if (round > 0) figures.set(turn, [...(figures.get(turn) ?? []), measured]);
    }
  }
  return figures;
}

export interface RowOptions extends TurnOptions {
  readonly patients: number;
  /** Words of the names of the rows that are wanted; none: all rows. */
  readonly rows: readonly string[];
}

/** Options of the benches whose rows are workloads; `rest` are those that only one of them has. */
export function readRowOptions(
  args: readonly string[],
  defaults: Readonly<Record<'rounds' | 'seconds', string> & { rows?: string }>,
  rest: readonly string[] = [],
): { readonly options: RowOptions; readonly values: Readonly<Record<string, string | undefined>> } {
  const known = { connections: '16', patients: '2000', rows: '', ...defaults };
  const described = Object.entries(known).map(([name, value]) => [name, { type: 'string', default: value }] as const);
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries([...described, ...rest.map((name) => [name, { type: 'string' }] as const)]),
  });
  const text = values as Readonly<Record<string, string | undefined>>;
  const number = (name: string): number => Number(text[name]);
  const options = {
    rounds: number('rounds'),
    seconds: number('seconds'),
    connections: number('connections'),
    patients: number('patients'),
    rows: (text['rows'] ?? '').split(',').filter((word) => word !== ''),
  };
  return { options, values: text };
}

/** Whether the row is wanted. */
export function isWanted({ rows }: RowOptions, { name }: Workload): boolean {
  return rows.length === 0 || rows.some((word) => name.includes(word));
}
