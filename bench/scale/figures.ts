/** Times of one thing that is measured, in milliseconds. */
export interface Figures {
  readonly p50: number;
  readonly p95: number;
}

export function figuresOf(timesMs: readonly number[]): Figures {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
}
