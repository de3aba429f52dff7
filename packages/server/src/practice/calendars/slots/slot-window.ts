/**
 * When slots are asked for: every `date` and `start` of a search as stretches of time, in which the slots have to begin
 * (https://hl7.org/fhir/R4/search.html#date). Slots are derived for a few days at a time, so both ends have to be named.
 */

import type { InteractionLimits } from '../../../engine/context.ts';
import { parseDateValue } from '../../../search/kinds/date.ts';
import type { ValueContext } from '../../../search/kinds/kind.ts';
import { splitValues } from '../../../search/query/criteria.ts';
import { refuseValue } from '../../../search/query/search-values.ts';

/** [fromMs, toMs) in milliseconds since 1970; infinite where an end is open. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

const hourMs = 3_600_000;

/** Days that a search may span. */
export const windowDaysMax = 5;

/** Clocks may be set back once in such a span. */
const windowMaxMs = windowDaysMax * 24 * hourMs + hourMs;

const microsPerMs = 1000;

/** The spans of one parameter: commas separate those of which any will do. */
export function parseSpans(value: string, context: ValueContext, limits: InteractionLimits): readonly TimeSpan[] {
  return splitValues(value, { name: context.name, limits }).map((each) => spanOf(each, context));
}

/** Starts are instants, so each prefix is one span, but for `ne`, which leaves out what it names. */
function spanOf(value: string, context: ValueContext): TimeSpan {
  const { prefix, range } = parseDateValue(value, context);
  const lo = Math.ceil(Number(range.lo) / microsPerMs);
  const hi = Math.ceil(Number(range.hi) / microsPerMs);
  switch (prefix) {
    case 'eq':
    case 'ap':
      return { fromMs: lo, toMs: hi };
    case 'ge':
      return { fromMs: lo, toMs: Number.POSITIVE_INFINITY };
    case 'gt':
    case 'sa':
      return { fromMs: hi, toMs: Number.POSITIVE_INFINITY };
    case 'lt':
    case 'eb':
      return { fromMs: Number.NEGATIVE_INFINITY, toMs: lo };
    case 'le':
      return { fromMs: Number.NEGATIVE_INFINITY, toMs: hi };
    case 'ne':
      return refuseValue(context.name, 'takes no ne for slots that are derived: name the two ends of a window');
  }
}

/** What lies in a span of each: the searched time in order, without gaps where there are none. */
export function intersectSpans(given: readonly (readonly TimeSpan[])[]): readonly TimeSpan[] {
  const all: readonly TimeSpan[] = [{ fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY }];
  return given.reduce((spans, more) => common(spans, united(more)), all);
}

/** In order, without overlap: so that what many parameters have in common stays as few spans as they have. */
function united(spans: readonly TimeSpan[]): readonly TimeSpan[] {
  const made: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of spans.toSorted((one, other) => (one.fromMs < other.fromMs ? -1 : 1))) {
    const last = made.at(-1);
    if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs);
    else made.push({ fromMs, toMs });
  }
  return made;
}

/** Both in order, without overlap; so is what is returned. */
function common(spans: readonly TimeSpan[], others: readonly TimeSpan[]): readonly TimeSpan[] {
  const made: TimeSpan[] = [];
  let at = 0;
  for (const one of spans) {
    let other = others[at];
    while (other !== undefined && other.toMs <= one.fromMs) other = others[++at];
    for (let next = at; other !== undefined && other.fromMs < one.toMs; other = others[++next])
      made.push({ fromMs: Math.max(one.fromMs, other.fromMs), toMs: Math.min(one.toMs, other.toMs) });
  }
  return made;
}

/**
 * The spans with the ends that were left out: they begin at `nowMs`, and end as many days after their beginning as a search may
 * span. For applications that keep the habit of leaving one out (docs/decisions/0339).
 */
export function closeSpans(spans: readonly TimeSpan[], nowMs: number): readonly TimeSpan[] {
  return spans.flatMap((span) => {
    if (Number.isFinite(span.fromMs) && Number.isFinite(span.toMs)) return [span];
    const fromMs = Number.isFinite(span.fromMs) ? span.fromMs : nowMs;
    const toMs = Math.min(span.toMs, fromMs + windowDaysMax * 24 * hourMs);
    return fromMs < toMs ? [{ fromMs, toMs }] : [];
  });
}

/**
 * The window around all spans; undefined where they have nothing in common.
 * @throws PraxisError `search-invalid` for a window that is open or too long
 */
export function computeSearchWindow(spans: readonly TimeSpan[]): TimeSpan | undefined {
  if (spans.length === 0) return undefined;
  const fromMs = Math.min(...spans.map((span) => span.fromMs));
  const toMs = Math.max(...spans.map((span) => span.toMs));
  if (!Number.isFinite(fromMs) || !Number.isFinite(toMs))
    return refuseValue(
      'date',
      `needs both ends of a window of at most ${windowDaysMax} days, such as date=2026-03-02 or date=ge2026-03-02&date=le2026-03-06 (start takes the same)`,
    );
  if (toMs - fromMs > windowMaxMs) {
    const hours = Math.round((toMs - fromMs) / hourMs);
    refuseValue(
      'date',
      `spans ${hours} hours; a search for slots spans at most ${windowDaysMax} days, the last one included`,
    );
  }
  return { fromMs, toMs };
}

export function isWithin(spans: readonly TimeSpan[], ms: number): boolean {
  return spans.some(({ fromMs, toMs }) => ms >= fromMs && ms < toMs);
}
