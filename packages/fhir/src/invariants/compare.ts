/**
 * Equality and order of values. Decimals are compared by their digits, dates by what is known of them: an answer that would
 * depend on a precision or a time zone that is not given is undefined, as the empty collection.
 *
 * http://hl7.org/fhirpath/N1/#equality · #comparison
 */
import { isSubtypeOf } from '../definitions.ts';
import type { JsonObject, JsonValue, RawDecimal } from '../json.ts';
import { formatDecimal, isJsonObject, isRawDecimal } from '../json.ts';
import type { Item } from './item.ts';

/** A unit in terms of base units: a value means `value × factor + offset` of `base`. */
export interface ConvertibleUnit {
  readonly base: string;
  readonly factor: number;
  readonly offset: number;
}

/** The unit of a UCUM code in base units; undefined for what cannot be converted. */
export type FindUnit = (code: string) => ConvertibleUnit | undefined;

/** Negative, 0 or positive; undefined: it cannot be told. */
export type Order = number | undefined;

/** The order of two items; 'incomparable' for types that have none with each other. */
export function compareItems(left: Item, right: Item, findUnit: FindUnit | undefined): Order | 'incomparable' {
  const a = left.value;
  const b = right.value;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === 'string' && typeof b === 'string') {
    const isDate = dateTypes.has(left.type);
    if (isDate !== dateTypes.has(right.type)) return 'incomparable';
    return isDate ? compareDates(a, b) : compareTexts(a, b);
  }
  if (isSubtypeOf(left.type, 'Quantity') && isSubtypeOf(right.type, 'Quantity'))
    return compareQuantities(a, b, findUnit);
  return 'incomparable';
}

/** Whether two items are equal; undefined: it cannot be told. */
export function equalItems(left: Item, right: Item): boolean | undefined {
  const a = left.value;
  const b = right.value;
  if (typeof a === 'string' && typeof b === 'string' && dateTypes.has(left.type) && dateTypes.has(right.type)) {
    const order = compareDates(a, b);
    return order === undefined ? undefined : order === 0;
  }
  const plain = left.sibling === undefined && right.sibling === undefined;
  if (plain && typeof a !== 'object' && typeof b !== 'object') return a === b;
  // A computed value has no id and no extensions that it could differ in.
  const isComputed = left.definition === undefined || right.definition === undefined;
  return isComputed ? keyOfValue(a) === keyOfValue(b) : computeItemKey(left) === computeItemKey(right);
}

/** A text that equal items share. Of primitives with id or extensions these count, too. */
export function computeItemKey({ value, sibling }: Item): string {
  const key = keyOfValue(value);
  return sibling === undefined ? key : `${key}${keyOfValue(sibling)}`;
}

function keyOfValue(value: JsonValue | undefined): string {
  if (isNumber(value)) {
    const { sign, pointAt, digits } = partsOf(formatDecimal(value));
    return `n${sign}e${pointAt}d${digits}`;
  }
  if (Array.isArray(value)) return `[${value.map(keyOfValue).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${keyOfValue(value[name])}`).join()}}`;
}

function isNumber(value: JsonValue | undefined): value is number | RawDecimal {
  return typeof value === 'number' || isRawDecimal(value);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareNumbers(a: number | RawDecimal, b: number | RawDecimal): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const left = partsOf(formatDecimal(a));
  const right = partsOf(formatDecimal(b));
  if (left.sign !== right.sign) return left.sign - right.sign;
  const size = left.pointAt - right.pointAt || compareTexts(left.digits, right.digits);
  return size * left.sign;
}

interface DecimalParts {
  readonly sign: -1 | 0 | 1;
  /** Digits before the point, when written without exponent; negative for zeros after it. */
  readonly pointAt: number;
  /** Without zeros at both ends. */
  readonly digits: string;
}

function partsOf(text: string): DecimalParts {
  const [, minus, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  if (first < 0) return { sign: 0, pointAt: 0, digits: '' };
  let end = all.length;
  while (all.charCodeAt(end - 1) === 0x30 /* 0 */) end -= 1;
  const pointAt = whole.length - first + Number(exponent);
  return { sign: minus === '-' ? -1 : 1, pointAt, digits: all.slice(first, end) };
}

const dateTypes: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant', 'time']);

const dateTimePattern = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:\d{2})$/;

/** A date without time may be meant in any zone: from UTC−12:00 to UTC+14:00. */
const hourMs = 3_600_000;
const earliestStartMs = 14 * hourMs;
const latestEndMs = 12 * hourMs;

/** The order of dates, of times, and of moments. */
function compareDates(a: string, b: string): Order {
  const left = momentOf(a);
  const right = momentOf(b);
  if (left !== undefined && right !== undefined)
    return left.ms - right.ms || compareTexts(left.fraction, right.fraction);
  if (left !== undefined) return compareToDate(left.ms, b);
  if (right !== undefined) {
    const order = compareToDate(right.ms, a);
    return order === undefined ? undefined : -order;
  }
  const length = Math.min(a.length, b.length);
  const order = compareTexts(a.slice(0, length), b.slice(0, length));
  return order === 0 && a.length !== b.length ? undefined : order;
}

/** To the second, and the digits after it. */
function momentOf(text: string): { readonly ms: number; readonly fraction: string } | undefined {
  const [, day, minutes, seconds = '00', fraction = '', zone] = dateTimePattern.exec(text) ?? [];
  if (day === undefined) return undefined;
  // 60 is a leap second, which JavaScript does not know: the next one.
  const leap = seconds === '60';
  const ms = Date.parse(`${day}T${minutes}:${leap ? '59' : seconds}${zone}`) + (leap ? 1000 : 0);
  return Number.isNaN(ms) ? undefined : { ms, fraction: fraction.replace(/0+$/, '') };
}

/** Whether a moment is before or after a date, wherever the date is meant. */
function compareToDate(ms: number, date: string): Order {
  const [year = 0, month, day] = date.split('-').map(Number);
  const start = new Date(0);
  start.setUTCFullYear(year, (month ?? 1) - 1, day ?? 1);
  const end = new Date(start);
  if (day !== undefined) end.setUTCDate(end.getUTCDate() + 1);
  else if (month !== undefined) end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCFullYear(end.getUTCFullYear() + 1);
  if (ms < start.getTime() - earliestStartMs) return -1;
  return ms >= end.getTime() + latestEndMs ? 1 : undefined;
}

const ucum = 'http://unitsofmeasure.org';
/** Significant digits that a converted value keeps: less than a double has. */
const convertedDigits = 12;

/** In the same unit, or in units of UCUM of the same kind. One with a comparator says less than a value. */
function compareQuantities(a: JsonValue, b: JsonValue, findUnit: FindUnit | undefined): Order {
  if (!isJsonObject(a) || !isJsonObject(b) || !isNumber(a['value']) || !isNumber(b['value'])) return undefined;
  if (a['comparator'] !== undefined || b['comparator'] !== undefined) return undefined;
  const isSameUnit = (['system', 'code'] as const).every((name) => a[name] === b[name]);
  if (isSameUnit && (a['code'] !== undefined || a['unit'] === b['unit'])) return compareNumbers(a['value'], b['value']);
  const left = inBaseUnits(a, a['value'], findUnit);
  const right = inBaseUnits(b, b['value'], findUnit);
  if (left === undefined || right === undefined || left.base !== right.base) return undefined;
  return left.value - right.value;
}

function inBaseUnits({ system, code }: JsonObject, value: number | RawDecimal, findUnit: FindUnit | undefined) {
  if (system !== ucum || typeof code !== 'string') return undefined;
  const unit = findUnit?.(code);
  if (unit === undefined) return undefined;
  const converted = Number(formatDecimal(value)) * unit.factor + unit.offset;
  return { base: unit.base, value: Number(converted.toPrecision(convertedDigits)) };
}
