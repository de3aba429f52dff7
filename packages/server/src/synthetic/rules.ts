/**
 * When the practitioners of a practice can be booked, and for what: the opening hours that its appointments keep.
 */
import type { JsonObject } from '@praxis/fhir';
import { closesAtMinutes, opensAtMinutes } from './calendar.ts';
import { assignLocation, ids, type PracticePlan } from './plan.ts';
import { appointmentMinutes, appointmentTypes } from './vocabulary.ts';

/** One document for each practitioner. */
export function* generateCalendarRules(plan: PracticePlan): Generator<JsonObject> {
  for (let index = 0; index < plan.practitioners; index += 1) {
    yield {
      practitioner: ids.practitioner(index),
      location: ids.location(assignLocation(plan, index)),
      schedule: ids.practitioner(index),
      appointmentTypes: appointmentTypes.map(({ system, code, display }, kind) => ({
        ...{ system, code, display },
        minutes: appointmentMinutes[kind] ?? 30,
      })),
      weekly: [
        {
          days: ['mon', 'tue', 'wed', 'thu', 'fri'],
          from: timeText(opensAtMinutes),
          to: timeText(closesAtMinutes),
        },
      ],
    };
  }
}

export const holidayRules: JsonObject = {
  holidays: [
    { yearly: '01-01', name: "New Year's Day" },
    { yearly: '07-04', name: 'Independence Day' },
    { yearly: '12-24', name: 'Christmas Eve', from: '12:00', to: '24:00' },
    { yearly: '12-25', name: 'Christmas Day' },
  ],
};

function timeText(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
