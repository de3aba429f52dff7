/**
 * A whole practice as a stream: deterministic by seed, firm and day, valid R4, in constant memory for any size. References
 * point only to resources that came before, or to patients, which come before the calendar.
 */

import type { JsonObject } from '@praxis/fhir';
import { calendar } from './calendar.ts';
import { patientRecord } from './patient-record.ts';
import { type PracticeOptions, planPractice } from './plan.ts';
import type { SyntheticResource } from './resource.ts';
import { calendarRules, holidayRules } from './rules.ts';
import { staff } from './staff.ts';

export type { PracticeOptions } from './plan.ts';
export type { SyntheticResource } from './resource.ts';

/** All resources of a practice, each with its id: staff, then patients, then two years of calendar. */
export function* syntheticPractice(options: PracticeOptions): Generator<SyntheticResource> {
  const plan = planPractice(options);
  yield* staff(plan);
  for (let index = 0; index < plan.patients; index += 1) yield* patientRecord(plan, index);
  yield* calendar(plan);
}

/** When the practice can be booked: documents as `praxis calendar set` and `praxis holidays set` take them. */
export interface PracticeRules {
  readonly calendars: Iterable<JsonObject>;
  readonly holidays: JsonObject;
}

/** The rules of the practice that the options make; they name resources of it. */
export function practiceRules(options: PracticeOptions): PracticeRules {
  return { calendars: calendarRules(planPractice(options)), holidays: holidayRules };
}
