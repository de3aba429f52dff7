/** What became of the requests of a practice day, by kind and hour. */
import { hours, isBurst } from './arrivals.ts';

export interface Latencies {
  readonly requests: number;
  /** Bytes of the body of an answer, in the mean. */
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly longestMs: number;
}

export interface DayFigures {
  readonly seconds: number;
  /** Requests that were due per second. */
  readonly offered: number;
  /** Answers per second until the end of the day. */
  readonly answered: number;
  readonly readShare: number;
  /** What others had done first: slots that were taken meanwhile. */
  readonly conflicts: number;
  /** Requests that were sent again, since their connection had ended. */
  readonly repeated: number;
  /** What must not be: how often, by what was said. */
  readonly errors: Readonly<Record<string, number>>;
  readonly all: Latencies;
  readonly burst: Latencies;
  readonly kinds: Readonly<Record<string, Latencies>>;
  readonly hours: readonly Latencies[];
}

/** An answer, or what came in place of one. */
export interface Entry {
  readonly kind: string;
  readonly isRead: boolean;
  /** From the begin of the day, in ms. */
  readonly dueMs: number;
  readonly answeredMs: number;
  readonly bytes: number;
  readonly isConflict: boolean;
  /** Undefined: it is as it should be. */
  readonly error: string | undefined;
}

interface Noted extends Pick<Entry, 'kind' | 'dueMs' | 'bytes'> {
  readonly tookMs: number;
}

export class Journal {
  readonly #entries: Noted[] = [];
  readonly #errors: Record<string, number> = {};
  #reads = 0;
  #conflicts = 0;
  #inTime = 0;
  readonly #seconds: number;

  /** @param seconds of the day; answers after it count for latency alone */
  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  note({ kind, isRead, dueMs, answeredMs, bytes, isConflict, error }: Entry): void {
    this.#entries.push({ kind, dueMs, tookMs: answeredMs - dueMs, bytes });
    if (isRead) this.#reads += 1;
    if (isConflict) this.#conflicts += 1;
    if (answeredMs <= this.#seconds * 1000) this.#inTime += 1;
    if (error !== undefined) this.#errors[error] = (this.#errors[error] ?? 0) + 1;
  }

  computeFigures(): Omit<DayFigures, 'repeated'> {
    const seconds = this.#seconds;
    const shareOf = ({ dueMs }: { readonly dueMs: number }): number => Math.min(1, dueMs / 1000 / seconds);
    const hourOf = (entry: { readonly dueMs: number }): number =>
      Math.min(hours - 1, Math.floor(shareOf(entry) * hours));
    const byHour = Map.groupBy(this.#entries, hourOf);
    const byKind = [...Map.groupBy(this.#entries, ({ kind }) => kind)].toSorted(([one], [other]) =>
      one < other ? -1 : 1,
    );
    return {
      seconds,
      offered: this.#entries.length / seconds,
      answered: this.#inTime / seconds,
      readShare: this.#reads / this.#entries.length,
      conflicts: this.#conflicts,
      errors: this.#errors,
      all: computeLatencies(this.#entries),
      burst: computeLatencies(this.#entries.filter((entry) => isBurst(shareOf(entry)))),
      kinds: Object.fromEntries(byKind.map(([kind, entries]) => [kind, computeLatencies(entries)])),
      hours: Array.from({ length: hours }, (_, hour) => computeLatencies(byHour.get(hour) ?? [])),
    };
  }
}

function computeLatencies(entries: readonly Noted[]): Latencies {
  const sorted = Float64Array.from(entries, ({ tookMs }) => tookMs).sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0) / entries.length;
  return { requests: sorted.length, bytes, p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), longestMs: at(1) };
}
