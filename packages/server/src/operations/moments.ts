/** Moments that callers name: dates and instants (https://hl7.org/fhir/R4/datatypes.html#dateTime). */
import type { InteractionContext } from '../engine/context.ts';
import { parseDate, toDateRange } from '../search/kinds/date-range.ts';
import { refuseParameter } from './parameter-problem.ts';

const microsecondsPerMs = 1000;

/** Milliseconds since 1970 at which a date or an instant begins; undefined: the text is neither. */
export function parseMoment({ scope }: Pick<InteractionContext, 'scope'>, text: string): number | undefined {
  // A + that was not percent-encoded arrives as a space.
  const parts = parseDate(text.replace(/ (?=\d\d:\d\d$)/, '+'));
  if (parts === undefined) return undefined;
  return Math.max(0, Math.floor(Number(toDateRange(parts, scope.timeZone).lo) / microsecondsPerMs));
}

/** The same. @throws PraxisError `operation-parameter-invalid` */
export function readInstant(context: Pick<InteractionContext, 'scope'>, name: string, text: string): number {
  const ms = parseMoment(context, text);
  return ms ?? refuseParameter(name, 'takes a date or an instant such as 2026-11-21T09:30:00Z');
}
