/** What a phase of the siege came to, in figures. */
import type { Struck } from './attacks.ts';
import type { Deed } from './victim.ts';

export interface Figures {
  readonly requests: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Answers without an error a second. */
  readonly goodput: number;
}

/** What refuses nobody: a slot that another has taken is an answer as well as a booking. */
const expected: ReadonlySet<number> = new Set([200, 201, 204, 409]);

export function isError({ status }: Pick<Deed, 'status'>): boolean {
  return !expected.has(status);
}

export function figuresOf(deeds: readonly Deed[], seconds: number): Figures {
  const ms = deeds.map((deed) => deed.ms).sort((left, right) => left - right);
  const at = (share: number): number => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? 0;
  const errors = deeds.filter(isError).length;
  return {
    requests: deeds.length,
    errors,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    longestMs: ms.at(-1) ?? 0,
    goodput: (deeds.length - errors) / seconds,
  };
}

/** By attack: how often, the statuses, the longest answer; the slowest first. */
export function attackTable(struck: readonly Struck[]): string[] {
  const byName = Map.groupBy(struck, ({ name }) => name);
  return [...byName]
    .map(([name, all]) => ({ name, all, longestMs: Math.max(...all.map(({ ms }) => ms)) }))
    .sort((left, right) => right.longestMs - left.longestMs)
    .map(
      ({ name, all, longestMs }) =>
        `  ${name}: ${all.length} sent, ${statusesOf(all)}, longest ${Math.round(longestMs)} ms`,
    );
}

/** By kind of request of the practice: how many, median and longest; the slowest kind first. */
export function victimTable(deeds: readonly Deed[]): string[] {
  return [...Map.groupBy(deeds, ({ kind }) => kind)]
    .map(([kind, all]) => ({ kind, all, figures: figuresOf(all, 1) }))
    .sort((left, right) => right.figures.longestMs - left.figures.longestMs)
    .map(
      ({ kind, all, figures: { p50Ms, p99Ms, longestMs } }) =>
        `  ${kind} of the practice: ${all.length}, ${statusesOf(all)}, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, longest ${longestMs.toFixed(1)} ms`,
    );
}

/** `200 ×3, 422 ×5`; 0 is no answer. */
export function statusesOf(all: readonly { readonly status: number }[]): string {
  const byStatus = Map.groupBy(all, ({ status }) => status);
  return [...byStatus]
    .sort(([left], [right]) => left - right)
    .map(([status, those]) => `${status} ×${those.length}`)
    .join(', ');
}
