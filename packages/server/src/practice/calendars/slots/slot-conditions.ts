/**
 * What a search asks of derived slots. All but the time depends on calendar, appointment type and status alone, and is asked
 * of a sample of each by its index rows: so the same functions decide as in a search of stored resources.
 */

import type { StepBudget } from '@praxis/fhir';
import type { InteractionContext } from '../../../engine/context.ts';
import { isIncludeName } from '../../../search/includes/include.ts';
import { type IndexRows, indexElements } from '../../../search/index/index-rows.ts';
import { hasToken } from '../../../search/index/match.ts';
import type { Parameter, ValueContext } from '../../../search/kinds/kind.ts';
import { getSearchableParameters } from '../../../search/parameters.ts';
import { splitValues } from '../../../search/query/criteria.ts';
import type { SearchQuery } from '../../../search/query/query.ts';
import { resultParameterNames } from '../../../search/query/result-parameters.ts';
import { refuseValue } from '../../../search/query/search-values.ts';
import type { AppointmentTypeRule, Calendar } from '../calendar.ts';
import { findSlotIdentifierSystem, type SlotStatus, slotIdentifierSystems, toSlotResource } from './slot-resource.ts';
import { intersectSpans, parseSpans, type TimeSpan } from './slot-window.ts';

/** The slots of one type in one calendar that have one status. */
export interface SlotSample {
  readonly calendar: Calendar;
  readonly rows: IndexRows;
}

export interface SlotConditions {
  readonly admits: (sample: SlotSample) => boolean;
  /** When slots begin. */
  readonly spans: readonly TimeSpan[];
  /** Undefined: of any id. */
  readonly ids: ReadonlySet<string> | undefined;
}

type Ask = (sample: SlotSample) => boolean;

/** @throws PraxisError `search-invalid` for what derived slots cannot be searched by */
export function readSlotConditions(context: InteractionContext, query: SearchQuery): SlotConditions {
  const asks: Ask[] = [];
  const spans: (readonly TimeSpan[])[] = [];
  let ids: ReadonlySet<string> | undefined;
  for (const [name, value] of query.applied) {
    const [code = '', ...modifiers] = name.split(':');
    if (resultParameterNames.has(code) || isIncludeName(name)) continue;
    const modifier = modifiers.join(':');
    if ((code === 'date' || code === 'start') && modifier === '')
      spans.push(parseSpans(value, valueContext(context, query, code), context.limits));
    else if (code === '_id' && modifier === '') {
      const asked = splitValues(value, { name, limits: context.limits });
      ids = new Set(asked.filter((id) => ids?.has(id) ?? true));
    } else asks.push(askOf(context, name, { code, modifier, value }));
  }
  return { admits: (sample) => asks.every((ask) => ask(sample)), spans: intersectSpans(spans), ids };
}

/** Not tokens, and asked of derived slots nevertheless. */
const ownCodes: ReadonlySet<string> = new Set(['date', 'start', '_id', 'schedule']);

/** Whether derived slots are searched by the parameter; also of one that is unknown, which is refused as in every search. */
export function isAskedOfSlots({ scope }: InteractionContext, name: string): boolean {
  const [code = ''] = name.split(':');
  if (resultParameterNames.has(code) || isIncludeName(name) || ownCodes.has(code)) return true;
  const parameter = getSearchableParameters('Slot', scope.searchParameters).get(code);
  return parameter === undefined || parameter.kind.table === 'token';
}

function valueContext({ scope, baseUrl }: InteractionContext, { nowMs }: SearchQuery, name: string): ValueContext {
  const parameter = getSearchableParameters('Slot', scope.searchParameters).get(name);
  if (parameter === undefined) throw new TypeError(`Slot has no search parameter ${name}`);
  return { parameter, name, nowMs, timeZone: scope.timeZone, baseUrl };
}

function askOf(
  context: InteractionContext,
  name: string,
  { code, modifier, value }: { readonly code: string; readonly modifier: string; readonly value: string },
): Ask {
  const parameter = getSearchableParameters('Slot', context.scope.searchParameters).get(code);
  const values = splitValues(value, { name, limits: context.limits });
  if (parameter?.kind.table === 'token' && ['', 'not', 'missing'].includes(modifier)) {
    const asked = code === 'identifier' ? values.map((each) => identifierValue(name, each)) : values;
    return tokenAsk(parameter, name, modifier, asked);
  }
  if (code === 'schedule' && parameter !== undefined) {
    if (modifier === 'identifier')
      return ({ rows }) => hasToken(rows, parameter.numberIn('identifier'), parameter.facts, name, values);
    if (modifier === 'missing') {
      const isWanted = isThere(name, values);
      return () => isWanted;
    }
    if (modifier === '' || modifier === 'Schedule') return scheduleAsk(context, values);
  }
  return refuseValue(
    name,
    'is not searched by where slots are derived from calendars; they are by appointment-type, date, identifier, start, status, schedule and _id',
  );
}

function tokenAsk({ number, facts }: Parameter, name: string, modifier: string, values: readonly string[]): Ask {
  if (modifier !== 'missing') return ({ rows }) => hasToken(rows, number, facts, name, values) === (modifier === '');
  const isWanted = isThere(name, values);
  return ({ rows }) => rows.tokenParam.includes(number) === isWanted;
}

/** A value of `identifier` with its system spelt as slots have it. @throws PraxisError `search-invalid` for another system */
function identifierValue(name: string, value: string): string {
  const at = value.indexOf('|');
  if (at < 1) return value;
  const system = findSlotIdentifierSystem(value.slice(0, at));
  return system === undefined
    ? refuseValue(name, `takes one of the systems that slots have: ${Object.values(slotIdentifierSystems).join(', ')}`)
    : system + value.slice(at);
}

/** Of `:missing`: whether there has to be a value. */
function isThere(name: string, [value, ...more]: readonly string[]): boolean {
  if (more.length > 0 || (value !== 'true' && value !== 'false')) return refuseValue(name, 'takes true or false');
  return value === 'false';
}

/** A reference to a Schedule of this server, in any form that R4 gives it. */
function scheduleAsk({ baseUrl }: InteractionContext, values: readonly string[]): Ask {
  return ({ calendar: { schedule } }) =>
    schedule !== undefined &&
    [schedule, `Schedule/${schedule}`, `${baseUrl}/Schedule/${schedule}`].some((form) => values.includes(form));
}

/** By appointment type, which is one object as long as its document is remembered; then by calendar and status. */
const samples = new WeakMap<AppointmentTypeRule, Map<string, SlotSample>>();

/** What can be asked of the slots of the type in the calendar that have the status. */
export function getSlotSample(
  calendar: Calendar,
  type: AppointmentTypeRule,
  status: SlotStatus,
  budget: StepBudget,
): SlotSample {
  const key = `${calendar.firm} ${calendar.number} ${status}`;
  const ofType = samples.get(type) ?? new Map<string, SlotSample>();
  samples.set(type, ofType);
  const known = ofType.get(key);
  if (known !== undefined) return known;
  const never = { startMs: 0, endMs: 0 };
  const slot = { ...never, id: 'sample', calendar, timeZone: 'UTC', type, occupied: never, capacity: 1 };
  const rows = indexElements('Slot', toSlotResource(slot, status), { timeZone: 'UTC' }, budget);
  const made = { calendar, rows };
  ofType.set(key, made);
  return made;
}
