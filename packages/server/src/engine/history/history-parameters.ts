/**
 * Parameters of a history (https://hl7.org/fhir/R4/http.html#history): `_since`, `_at`, `_count`, and where a page begins.
 */
import { suggestName } from '@praxis/fhir';
import { type DateRange, parseDate, toDateRange } from '../../search/kinds/date-range.ts';
import { refuseValue } from '../../search/query/search-values.ts';
import type { HistoryPeriod } from '../../storage/store.ts';
import type { FhirRequest, InteractionContext } from '../context.ts';
import { isLenient } from '../search/searching.ts';

/** Versions of a page at most, and where `_count` is not given. */
export const historyRowsMax = 100;

export interface HistoryParameters {
  readonly period: HistoryPeriod;
  /** Versions of a page. */
  readonly count: number;
  /** Of an instance history: only versions below this one. */
  readonly beforeVersion: number | undefined;
  /** Of a type or system history: the sealed place where the page begins, unopened. */
  readonly cursor: string | undefined;
  /** The parameters that were understood, for links; `_count` as it is served, and nothing of where a page begins. */
  readonly applied: readonly (readonly [name: string, value: string])[];
}

const everywhere: readonly string[] = ['_since', '_at', '_count', '_elements', '_summary', '_format', '_pretty'];
const wholeNumber = /^\d{1,9}$/;
const microsPerMs = 1000;

/**
 * The parameters of a history.
 * @param position the parameter that says where a page begins
 * @throws PraxisError `search-invalid` (names the parameter and what would be right)
 */
export function readHistoryParameters(
  context: InteractionContext,
  request: FhirRequest,
  position: '_before' | '_cursor',
): HistoryParameters {
  const given = singleValues(context, request, new Set([...everywhere, position]));
  const asked = wholeNumberOf(given, '_count');
  const count = Math.min(historyRowsMax, Math.max(1, asked ?? historyRowsMax));
  if (given.get('_summary') === 'count')
    refuseValue('_summary', 'takes true, text, data or false here: the versions of a history are not counted');
  const applied = [...given]
    .filter(([name]) => name !== position)
    .map(([name, value]) => [name, name === '_count' ? String(count) : value] as const);
  return {
    period: periodOf(given, context.scope.timeZone),
    count,
    beforeVersion: wholeNumberOf(given, '_before'),
    cursor: given.get('_cursor'),
    applied,
  };
}

/** Unknown parameters are refused unless the caller or the application's setting asks for lenience; `_list` always is. */
function singleValues(
  context: InteractionContext,
  { parameters, prefer }: FhirRequest,
  known: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (name === '_list')
      refuseValue(name, 'is not served: read the List, and ask for the history of what it refers to');
    if (!known.has(name)) {
      if (isLenient(context, prefer)) continue;
      refuseValue(
        name,
        `is not a parameter of this history${suggestName(name, known) || ','} which takes ${[...known].join(', ')}`,
      );
    }
    if (given.has(name) && given.get(name) !== value) refuseValue(name, 'is given twice with different values');
    given.set(name, value);
  }
  return given;
}

function wholeNumberOf(given: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  return wholeNumber.test(text) ? Number(text) : refuseValue(name, 'must be a whole number');
}

/** A date means all the time that it leaves open: `_since` counts from its beginning, `_at` asks for all of it. */
function periodOf(given: ReadonlyMap<string, string>, timeZone: string): HistoryPeriod {
  const since = dateOf(given, '_since', timeZone);
  const at = dateOf(given, '_at', timeZone);
  return {
    ...(since === undefined ? {} : { sinceMs: Math.ceil(Number(since.lo) / microsPerMs) }),
    ...(at === undefined
      ? {}
      : {
          beforeMs: Math.ceil(Number(at.hi) / microsPerMs),
          currentAfterMs: Math.floor(Number(at.lo) / microsPerMs),
        }),
  };
}

function dateOf(given: ReadonlyMap<string, string>, name: string, timeZone: string): DateRange | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  // A + that was not percent-encoded arrives as a space.
  const parts = parseDate(text.replace(/ (?=\d\d:\d\d$)/, '+'));
  if (parts === undefined)
    return refuseValue(name, 'takes a date or an instant without a prefix, such as 2026-11-21T09:30:00Z');
  return toDateRange(parts, timeZone);
}
