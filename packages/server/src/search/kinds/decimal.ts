/**
 * Decimals as written, without loss, and the ranges that their precision implies:
 * https://hl7.org/fhir/R4/search.html#number.
 */

/** `digits × 10^exponent`, with the digits as written: 1.00e2 is 100 × 10^0, 100 the same, 1e2 is 1 × 10^2. */
export interface ExactDecimal {
  readonly digits: bigint;
  readonly exponent: number;
  /** Whether the digits before the exponent have no fraction: 1e2 in contrast to 1.0e2. */
  readonly bareExponent: boolean;
}

/** Bounds that PostgreSQL reads as numeric. */
export interface DecimalRange {
  readonly lo: string;
  readonly hi: string;
}

/** Longest decimal, and largest power of ten, that a value may have; beyond it is not a measurement. */
export const decimalLengthMax = 64;
export const exponentMax = 300;

/** Values and their precision stay within what a double holds (decision 0021). */
const magnitudeMax = 1e300;
const magnitudeMin = 1e-300;

const decimalPattern = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The decimal, or undefined when the text is none or beyond the limits. */
export function parseDecimal(text: string): ExactDecimal | undefined {
  if (text.length > decimalLengthMax) return undefined;
  const match = decimalPattern.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', power] = match;
  const exponent = Number(power ?? 0) - fraction.length;
  if (Math.abs(Number(power ?? 0)) > exponentMax) return undefined;
  const digits = BigInt(whole + fraction);
  const magnitude = Math.abs(Number(text));
  if (exponent < -exponentMax || magnitude > magnitudeMax || (digits !== 0n && magnitude < magnitudeMin))
    return undefined;
  return { digits: sign === '-' ? -digits : digits, exponent, bareExponent: fraction === '' && exponent > 0 };
}

/** Text that PostgreSQL reads as numeric. */
export function formatNumeric(decimal: ExactDecimal): string {
  return scaled(decimal.digits, decimal.exponent);
}

/**
 * Half a unit of the last written digit to each side: 100 → [99.5, 100.5), 5.40e-3 → [0.005395, 0.005405).
 * R4's own example for an exponent without a fraction, 1e2 → [95, 105), counts one digit more; it is followed.
 */
export function computeImpliedRange(decimal: ExactDecimal): DecimalRange {
  const { digits, exponent } = significant(decimal);
  return { lo: scaled(digits * 10n - 5n, exponent - 1), hi: scaled(digits * 10n + 5n, exponent - 1) };
}

/** A tenth of the value to each side, and at least its implied range: what `ap` means here. */
export function computeApproximateRange(decimal: ExactDecimal): DecimalRange {
  const { digits, exponent } = significant(decimal);
  const tenth = digits < 0n ? -digits : digits;
  if (tenth < 5n) return computeImpliedRange(decimal);
  return { lo: scaled(digits * 10n - tenth, exponent - 1), hi: scaled(digits * 10n + tenth, exponent - 1) };
}

function significant(decimal: ExactDecimal): Pick<ExactDecimal, 'digits' | 'exponent'> {
  return decimal.bareExponent ? { digits: decimal.digits * 10n, exponent: decimal.exponent - 1 } : decimal;
}

function scaled(digits: bigint, exponent: number): string {
  return exponent === 0 ? String(digits) : `${digits}e${exponent}`;
}
