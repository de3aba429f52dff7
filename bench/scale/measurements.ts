/**
 * The measurements of the scale bench: searches in both data sets, pages far down, estimated totals. What is compared takes
 * turns call by call. Each call is repeated in rounds between which all others are made, so that the data set that is larger
 * than the buffers has lost its pages again; the fastest of them counts, since what else the machine does only adds.
 */
import type { InteractionContext } from '../../packages/server/src/engine/context.ts';
import { type Asked, ask, entriesOf, nextCursorOf } from './asking.ts';
import { type Figures, figuresOf } from './figures.ts';
import type { Samples } from './samples.ts';
import type { ScaleSearch } from './searches.ts';

/** A data set with what is needed to ask. */
export interface Askable {
  readonly contexts: readonly InteractionContext[];
  readonly samples: readonly Samples[];
}

type Pair = readonly [base: Asked, other: Asked];

/** Two ways of asking that are compared, with several arguments. */
export interface Comparison {
  readonly search: ScaleSearch;
  readonly pairs: readonly Pair[];
}

export interface Compared {
  readonly search: ScaleSearch;
  readonly base: Figures;
  readonly other: Figures;
  /** Of the medians. */
  readonly ratio: number;
}

/** Arguments of one search that are tried in each firm, at most. */
const triedPerFirm = 12;
/** Arguments that are measured, at most. */
const pairsMax = 100;
/** Rows of a page of the searches that are walked. */
const pageRows = 6;
const deepPage = 1000;
/** Pages from the second on, and as many up to the thousandth, that are compared. */
const pagesEach = 20;

/**
 * The search in the small and in the large data set, with arguments that find equally many resources in both: for each
 * number found, as many of the one as of the other.
 */
export async function betweenSizes(search: ScaleSearch, small: Askable, large: Askable): Promise<Comparison> {
  const ours = await byEntries(search, small);
  const theirs = await byEntries(search, large);
  const pairs = [...ours].flatMap(([entries, list]) => zipped(list, theirs.get(entries) ?? []));
  return comparison(search, pairs);
}

/** The same with any arguments, for searches whose results grow with the practice. */
export async function betweenPractices(search: ScaleSearch, small: Askable, large: Askable): Promise<Comparison> {
  return comparison(search, zipped(argumentsOf(search, small), argumentsOf(search, large)));
}

/** Page 2 beside page 1,000, in each of some firms; the pages between are walked once. */
export async function betweenPages(
  search: ScaleSearch,
  { contexts, samples }: Askable,
  firms: number,
): Promise<Comparison> {
  const pairs: Pair[] = [];
  for (const [index, context] of contexts.slice(0, firms).entries()) {
    const [sample] = samples[index]?.get(search.from) ?? [];
    const pages = await pagesOf({
      context,
      type: search.type,
      query: `${search.query(required(sample))}&_count=${pageRows}`,
    });
    pairs.push(...zipped(pages.slice(0, pagesEach), pages.slice(-pagesEach)));
  }
  return comparison(search, pairs);
}

/** Pages 2 to 1,000. */
async function pagesOf(first: Asked): Promise<readonly Asked[]> {
  const pages: Asked[] = [];
  for (let asked = first; pages.length < deepPage - 1; ) {
    const cursor = required(nextCursorOf(await ask(asked)));
    asked = { ...first, query: `${first.query}&_cursor=${cursor}` };
    pages.push(asked);
  }
  return pages;
}

/** The search beside the same with `_total=estimate`. */
export async function withEstimate(search: ScaleSearch, set: Askable): Promise<Comparison> {
  const asked = argumentsOf(search, set);
  return comparison(
    search,
    zipped(
      asked,
      asked.map((one) => ({ ...one, query: `${one.query}&_total=estimate` })),
    ),
  );
}

/** Different searches, the firms taking turns. */
function argumentsOf(search: ScaleSearch, { contexts, samples }: Askable): readonly Asked[] {
  const ofFirms = contexts.map((context, index) => {
    const queries = new Set(samples[index]?.get(search.from)?.map(search.query));
    return [...queries].slice(0, triedPerFirm).map((query): Asked => ({ context, type: search.type, query }));
  });
  return Array.from({ length: triedPerFirm }, (_, turn) => ofFirms.flatMap((list) => list[turn] ?? [])).flat();
}

async function byEntries(search: ScaleSearch, set: Askable): Promise<ReadonlyMap<number, readonly Asked[]>> {
  const found = new Map<number, Asked[]>();
  for (const asked of argumentsOf(search, set)) {
    const entries = entriesOf(await ask(asked));
    found.set(entries, [...(found.get(entries) ?? []), asked]);
  }
  return found;
}

function zipped(base: readonly Asked[], other: readonly Asked[]): readonly Pair[] {
  return base.flatMap((asked, index): readonly Pair[] => {
    const beside = other[index];
    return beside === undefined ? [] : [[asked, beside]];
  });
}

/** Of many arguments some, evenly picked. */
function comparison(search: ScaleSearch, pairs: readonly Pair[]): Comparison {
  if (pairs.length === 0) throw new Error(`${search.type}, ${search.name}: nothing to compare`);
  const step = Math.max(1, pairs.length / pairsMax);
  const length = Math.min(pairs.length, pairsMax);
  return { search, pairs: Array.from({ length }, (_, index) => required(pairs[Math.floor(index * step)])) };
}

export interface Effort {
  readonly rounds: number;
  /** Rounds in all for what is beyond the bound: other load of the machine, which passes, or growth, which does not. */
  readonly roundsMax: number;
  /** Ratio up to which a comparison needs no more rounds. */
  readonly ratioMax: number | undefined;
}

/** The fastest calls of each pair so far. */
interface Fastest extends Comparison {
  readonly base: number[];
  readonly other: number[];
}

export async function measure(comparisons: readonly Comparison[], effort: Effort): Promise<readonly Compared[]> {
  const { rounds, roundsMax, ratioMax = Number.POSITIVE_INFINITY } = effort;
  const all = comparisons.map(({ search, pairs }): Fastest => {
    const none = pairs.map(() => Number.POSITIVE_INFINITY);
    return { search, pairs, base: none, other: [...none] };
  });
  for (const fastest of all) await oneRound({ ...fastest, base: [], other: [] }, 0); // warms up
  for (let round = 1; round <= roundsMax; round += 1) {
    const left = round <= rounds ? all : all.filter((fastest) => !(compared(fastest).ratio <= ratioMax));
    for (const fastest of left) await oneRound(fastest, round);
  }
  return all.map(compared);
}

async function oneRound({ pairs, base, other }: Fastest, round: number): Promise<void> {
  for (const [index, pair] of pairs.entries()) {
    const [baseMs, otherMs] = await askBoth(pair, (index + round) % 2 === 1);
    base[index] = Math.min(base[index] ?? baseMs, baseMs);
    other[index] = Math.min(other[index] ?? otherMs, otherMs);
  }
}

function compared({ search, ...fastest }: Fastest): Compared {
  const [base, other] = [figuresOf(fastest.base), figuresOf(fastest.other)];
  return { search, base, other, ratio: other.p50 / base.p50 };
}

async function askBoth([base, other]: Pair, turned: boolean): Promise<readonly [baseMs: number, otherMs: number]> {
  if (!turned) return [(await ask(base)).ms, (await ask(other)).ms];
  const otherMs = (await ask(other)).ms;
  return [(await ask(base)).ms, otherMs];
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the data set is too small for this measurement');
  return value;
}
