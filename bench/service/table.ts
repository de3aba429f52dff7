/**
 * The table of a run: each row of the product beside what it is held against, with its bar, then the bookings; and the figures
 * of every round, as JSON.
 */
import { median } from '../cpu.ts';
import type { BookingCost } from './booking-cost.ts';
import { computeRatio, formatRatio, type Ratio } from './comparison.ts';
import type { Figures } from './load.ts';

/** A round each. */
export interface Measured {
  readonly many: readonly Figures[];
  /** At one connection. */
  readonly one: readonly Figures[];
}

export interface MeasuredRow {
  readonly name: string;
  /** Undefined: the floor alone is measured. */
  readonly own: Measured | undefined;
  readonly base: Measured;
  /** Rate of the product ÷ that of the base, at least. */
  readonly bar: number | undefined;
}

/** Lines of the tables in Markdown; `connections` are those of many. */
export function formatTables(
  rows: readonly MeasuredRow[],
  bookings: readonly BookingCost[],
  connections: number,
): string[] {
  const many = `p50 ms, ${connections} connections`;
  const lines =
    rows.length === 0
      ? []
      : [
          `| | own ÷ floor | at least | requests/s | floor | CPU µs/request | floor | ${many} | floor | p50 ms, 1 connection | floor |`,
          `|---|${'---:|'.repeat(10)}`,
          ...rows.map(formatRow),
        ];
  if (bookings.length > 0) lines.push('', ...formatBookings(bookings));
  return lines;
}

/** The names of the rows whose bars are broken beyond the uncertainty. */
export function listBroken(rows: readonly MeasuredRow[], bookings: readonly BookingCost[]): readonly string[] {
  return [...rows.filter(isBroken).map(({ name }) => name), ...bookings.filter(isTooCostly).map(({ name }) => name)];
}

/** All that was measured, with the ratios. */
export function toJson(rows: readonly MeasuredRow[], bookings: readonly BookingCost[], facts: object): string {
  const withRatios = rows.map((row) => ({ ...row, ratio: ratioOf(row) }));
  return `${JSON.stringify({ ...facts, rows: withRatios, bookings }, undefined, 1)}\n`;
}

function formatRow(row: MeasuredRow): string {
  const { name, own, base, bar } = row;
  const ratio = ratioOf(row);
  const pair = (part: keyof Measured, figure: keyof Figures, digits: number): readonly string[] =>
    [own, base].map((side) => (side === undefined ? '' : middle(side[part], figure).toFixed(digits)));
  const cells = [
    name,
    ratio === undefined ? '' : `${formatRatio(ratio)}${isBroken(row) ? ' ✗' : ''}`,
    bar === undefined ? '' : bar.toFixed(1),
    ...pair('many', 'requestsPerSecond', 0),
    ...pair('many', 'cpuMicros', 0),
    ...pair('many', 'p50Ms', 2),
    ...pair('one', 'p50Ms', 2),
  ];
  return `| ${cells.join(' | ')} |`;
}

function formatBookings(bookings: readonly BookingCost[]): readonly string[] {
  const lines = bookings.map((booking) => {
    const { name, cpuMs, bar, p50Ms } = booking;
    const cost = `${cpuMs.ratio.toFixed(1)} ± ${cpuMs.uncertainty.toFixed(1)}${isTooCostly(booking) ? ' ✗' : ''}`;
    return `| ${[name, cost, String(bar), p50Ms.toFixed(1)].join(' | ')} |`;
  });
  return ['| `$find` → `$hold` → `$book` | CPU ms | at most | p50 ms |', '|---|---:|---:|---:|', ...lines];
}

function ratioOf({ own, base }: MeasuredRow): Ratio | undefined {
  const rates = ({ many }: Measured): readonly number[] => many.map(({ requestsPerSecond }) => requestsPerSecond);
  return own && computeRatio(rates(base), rates(own), 0.5);
}

function isBroken(row: MeasuredRow): boolean {
  const ratio = ratioOf(row);
  return row.bar !== undefined && ratio !== undefined && ratio.ratio + ratio.uncertainty < row.bar;
}

function isTooCostly({ cpuMs, bar }: BookingCost): boolean {
  return cpuMs.ratio - cpuMs.uncertainty > bar;
}

function middle(rounds: readonly Figures[], figure: keyof Figures): number {
  return median(rounds.map((round) => round[figure]));
}
