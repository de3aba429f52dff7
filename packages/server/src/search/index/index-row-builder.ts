/**
 * Collects the index rows of one resource as columns, ready for `unnest`. Rows are a set: what is added twice counts
 * once, since every index table has all its columns in its primary key.
 */

import type { DateRange, Microseconds } from '../kinds/date-range.ts';
import type { DecimalRange } from '../kinds/decimal.ts';
import { boundKey } from './bounded-key.ts';

/** The rows of one resource for the index tables, column by column. */
export class IndexRows {
  readonly tokenParam: number[] = [];
  /** `computeSystemNumber`, decimal text of a bigint. */
  readonly tokenSystem: string[] = [];
  readonly tokenCode: string[] = [];
  readonly referenceParam: number[] = [];
  /** `getTypeNumber`, or 0 when the target is no resource of this server. */
  readonly referenceTargetType: number[] = [];
  /** The id, or the whole URL where the type is 0. */
  readonly referenceTargetId: string[] = [];
  readonly dateParam: number[] = [];
  /** Microseconds since 1970 in UTC, half-open. */
  readonly dateLo: Microseconds[] = [];
  readonly dateHi: Microseconds[] = [];
  readonly stringParam: number[] = [];
  /** Folded. */
  readonly stringValue: string[] = [];
  /** As sent; empty where `:exact` must not find the row. */
  readonly stringOriginal: string[] = [];
  readonly numberParam: number[] = [];
  /** Text of a numeric, closed at both ends; `-Infinity` and `Infinity` where open. */
  readonly numberLo: string[] = [];
  readonly numberHi: string[] = [];
  readonly numberSystem: string[] = [];
  readonly numberCode: string[] = [];
}

export function makeIndexRows(): IndexRows {
  return new IndexRows();
}

export class IndexRowBuilder {
  readonly rows = new IndexRows();
  readonly #tokens = new LatestRows();
  readonly #references = new LatestRows();
  readonly #dates = new LatestRows();
  readonly #strings = new LatestRows();
  readonly #numbers = new LatestRows();

  /** Rows so far, of all tables. */
  get count(): number {
    const { tokenParam, referenceParam, dateParam, stringParam, numberParam } = this.rows;
    return tokenParam.length + referenceParam.length + dateParam.length + stringParam.length + numberParam.length;
  }

  token(param: number, system: string, code: string): void {
    const key = boundKey(code);
    if (this.#tokens.has(param, `${system}|${key}`)) return;
    this.rows.tokenParam.push(param);
    this.rows.tokenSystem.push(system);
    this.rows.tokenCode.push(key);
  }

  reference(param: number, targetType: number, targetId: string): void {
    const key = boundKey(targetId);
    if (this.#references.has(param, `${targetType}|${key}`)) return;
    this.rows.referenceParam.push(param);
    this.rows.referenceTargetType.push(targetType);
    this.rows.referenceTargetId.push(key);
  }

  date(param: number, range: DateRange): void {
    if (this.#dates.has(param, `${range.lo}|${range.hi}`)) return;
    this.rows.dateParam.push(param);
    this.rows.dateLo.push(range.lo);
    this.rows.dateHi.push(range.hi);
  }

  string(param: number, value: string, original: string): void {
    const key = boundKey(value);
    const exact = boundKey(original);
    if (this.#strings.has(param, `${key}|${exact}`)) return;
    this.rows.stringParam.push(param);
    this.rows.stringValue.push(key);
    this.rows.stringOriginal.push(exact);
  }

  number(param: number, range: DecimalRange, system: string, code: string): void {
    const key = boundKey(code);
    if (this.#numbers.has(param, `${range.lo}|${range.hi}|${system}|${key}`)) return;
    this.rows.numberParam.push(param);
    this.rows.numberLo.push(range.lo);
    this.rows.numberHi.push(range.hi);
    this.rows.numberSystem.push(system);
    this.rows.numberCode.push(key);
  }
}

/** Rows of one parameter up to which a look through all of them is quicker than a set. */
const linearMax = 24;

/** The rows that one table got for the parameter that is being indexed; parameters are indexed one after another. */
class LatestRows {
  #param: number | undefined;
  #keys: string[] = [];
  #set: Set<string> | undefined;

  /** Whether the row was added before; from now on it was. */
  has(param: number, key: string): boolean {
    if (this.#param !== param) {
      this.#param = param;
      this.#keys = [];
      this.#set = undefined;
    }
    if (this.#set === undefined && this.#keys.length === linearMax) this.#set = new Set(this.#keys);
    if (this.#set?.has(key) ?? this.#keys.includes(key)) return true;
    this.#set?.add(key);
    if (this.#set === undefined) this.#keys.push(key);
    return false;
  }
}
