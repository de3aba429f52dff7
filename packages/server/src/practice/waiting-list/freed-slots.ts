/** The slots that a freed time makes possible: also longer ones that it had stood in the way of. */
import { type FreeSlotsContext, freeSlots, type ScheduledCalendar } from '../calendars/free-slots.ts';
import type { OfferedSlot } from '../calendars/slots.ts';
import { minuteMs } from '../calendars/zone.ts';
import type { FreedTime } from './store.ts';

/** Free slots that overlap the freed time, in the order of their starts. @param calendars of its practitioner */
export async function freeSlotsOver(
  context: FreeSlotsContext,
  calendars: readonly ScheduledCalendar[],
  { startMs, endMs }: FreedTime,
): Promise<readonly OfferedSlot[]> {
  const longest = Math.max(
    0,
    ...calendars.flatMap(({ calendar }) => calendar.appointmentTypes.map(({ minutes }) => minutes)),
  );
  const wanted = { fromMs: startMs - longest * minuteMs, toMs: endMs };
  const found: OfferedSlot[] = [];
  for await (const slot of freeSlots(context, calendars, wanted)) if (slot.endMs > startMs) found.push(slot);
  return found;
}
