/**
 * A whole practice as a stream: deterministic by seed, firm and day, valid R4, in constant memory for any size. References
 * point only to resources that came before, or to patients, which come before the calendar.
 */

import type { JsonObject } from '@praxis/fhir';
import { generateCalendar } from './calendar.ts';
import { generatePatientRecord } from './patient-record.ts';
import { type PracticeOptions, planPractice } from './plan.ts';
import type { SyntheticResource } from './resource.ts';
import { generateCalendarRules, holidayRules } from './rules.ts';
import { generateStaff } from './staff.ts';

export type { PracticeOptions } from './plan.ts';
export type { SyntheticResource } from './resource.ts';

/** All resources of a practice, each with its id: staff, then patients, then two years of calendar. */
export function* generatePractice(options: PracticeOptions): Generator<SyntheticResource> {
  const plan = planPractice(options);
  yield* generateStaff(plan);
  for (let index = 0; index < plan.patients; index += 1) yield* generatePatientRecord(plan, index);
  yield* generateCalendar(plan);
}

/** When the practice can be booked: documents as `praxis calendar set` and `praxis holidays set` take them. */
export interface PracticeRules {
  readonly calendars: Iterable<JsonObject>;
  readonly holidays: JsonObject;
}

/** The rules of the practice that the options make; they name resources of it. */
export function buildPracticeRules(options: PracticeOptions): PracticeRules {
  return { calendars: generateCalendarRules(planPractice(options)), holidays: holidayRules };
}
