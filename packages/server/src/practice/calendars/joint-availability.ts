/** Slots of several who are wanted at the same time. */
import type { ScheduledCalendar } from './slots/free-slots.ts';
import type { OfferedSlot } from './slots/slots.ts';

/** The calendar as it is for those who name rooms or equipment themselves: they alone will do where one of them would. */
export function restrictResources(scheduled: ScheduledCalendar, named: readonly string[]): ScheduledCalendar {
  const { calendar } = scheduled;
  const appointmentTypes = calendar.appointmentTypes.map((type) => ({
    ...type,
    needs: type.needs.map(({ anyOf }) => {
      const wanted = anyOf.filter((actor) => named.includes(actor));
      return { anyOf: wanted.length > 0 ? wanted : anyOf };
    }),
  }));
  return { ...scheduled, calendar: { ...calendar, appointmentTypes } };
}

/** The calendar as it is for those who need more than the appointment type does: all of `actors`, too. */
export function requireResourcesToo(scheduled: ScheduledCalendar, actors: readonly string[]): ScheduledCalendar {
  const { calendar } = restrictResources(scheduled, actors);
  const appointmentTypes = calendar.appointmentTypes.map((type) => {
    const known = new Set(type.needs.flatMap(({ anyOf }) => anyOf));
    const more = actors.filter((actor) => !known.has(actor)).map((actor) => ({ anyOf: [actor] }));
    return { ...type, needs: [...type.needs, ...more] };
  });
  return { ...scheduled, calendar: { ...calendar, appointmentTypes } };
}

/** Of walks in the order of starts, the slots of the first at whose start all the others have one, too. */
export async function* mergeSlots(walks: readonly AsyncGenerator<OfferedSlot>[]): AsyncGenerator<OfferedSlot> {
  const [first, ...others] = walks;
  if (first === undefined) return;
  const heads = await Promise.all(others.map(async (walk) => ({ walk, slot: await next(walk) })));
  for await (const slot of first) {
    let isCommon = true;
    for (const head of heads) {
      while (head.slot !== undefined && head.slot.startMs < slot.startMs) head.slot = await next(head.walk);
      isCommon &&= head.slot?.startMs === slot.startMs;
    }
    if (isCommon) yield slot;
  }
}

async function next(walk: AsyncGenerator<OfferedSlot>): Promise<OfferedSlot | undefined> {
  const { value, done } = await walk.next();
  return done === true ? undefined : value;
}
