/**
 * Loads that take turns, so that all see the same machine: round by round, and in odd rounds those of a row in reverse.
 */
import { parseArgs } from 'node:util';
import { type Figures, type Load, run, type Server, type Workload } from './load.ts';

export interface Turn {
  readonly server: Server;
  readonly workload: Workload;
  /** Where it differs from that of the others. */
  readonly load?: Partial<Load>;
}

/** `seconds` are those of each turn. */
export interface TurnOptions extends Load {
  readonly rounds: number;
}

/**
 * Runs all turns in each round, row after row; the turns of a row are compared with each other. Odd rounds take the turns of
 * each row in reverse, and the rows in the same order: each turn then comes first as often as the others, after the same row.
 * What a row leaves the machine to do burdens the turn that comes next. Round 0 warms up and does not count.
 * @returns what was measured by turn, a round each
 */
export async function runInTurns(
  rows: readonly (readonly Turn[])[],
  options: TurnOptions,
): Promise<Map<Turn, readonly Figures[]>> {
  const figures = new Map<Turn, Figures[]>();
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const turn of rows.flatMap((row) => (round % 2 === 0 ? row : row.toReversed()))) {
      const load = { ...options, ...turn.load };
      const seconds = round === 0 ? Math.min(1, load.seconds) : load.seconds;
      const measured = await run(turn.server, turn.workload, { ...load, seconds });
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

/** What a command line says beside the options of rows: texts by name, and the flags that are set. */
export interface MoreOptions {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
}

/** Options of the benches whose rows are workloads; `texts` and `flags` are those that only one of them has. */
export function readRowOptions(
  args: readonly string[],
  defaults: Readonly<Record<'rounds' | 'seconds', string> & { rows?: string; patients?: string }>,
  texts: readonly string[] = [],
  flags: readonly string[] = [],
): MoreOptions & { readonly options: RowOptions } {
  const known = { connections: '16', patients: '2000', rows: '', ...defaults };
  const described = Object.entries(known).map(([name, value]) => [name, { type: 'string', default: value }] as const);
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries([...described, ...texts.map((name) => [name, { type: 'string' }] as const)]),
      ...Object.fromEntries(flags.map((name) => [name, { type: 'boolean' }] as const)),
    },
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
  return { options, values: text, flags: new Set(flags.filter((name) => text[name] !== undefined)) };
}

/** Whether the row is wanted. */
export function isWanted({ rows }: RowOptions, { name }: Workload): boolean {
  return rows.length === 0 || rows.some((word) => name.includes(word));
}
