/** A straight line through points, by least squares. */

export interface FittedLine {
  /** By how much the line rises for one of x. */
  readonly slope: number;
  /** Of the slope; for points whose errors do not depend on each other. */
  readonly standardError: number;
  /** By how much it rises from the first point to the last. */
  readonly rise: number;
}

/** Fits it. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): FittedLine {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const covariance = mean(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  const variance = mean(points.map(([x]) => (x - meanX) ** 2));
  const slope = variance === 0 ? 0 : covariance / variance;
  const squares = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  const standardError = variance === 0 ? 0 : Math.sqrt(squares / (points.length - 2) / (variance * points.length));
  return { slope, standardError, rise: slope * ((points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0)) };
}
