/**
 * The size and shape of one synthetic practice, from its options: who works where, and the ids of everything that others
 * refer to. Ids are computed, not remembered, so a practice of any size streams in constant memory.
 */
import type { Term } from './vocabulary.ts';
import { type Day, openZone, toDay, type Zone } from './zoned-time.ts';

export interface PracticeOptions {
  /** The same seed, firm and day give the same resources. */
  readonly seed: string;
  readonly firm: string;
  readonly name: string;
  readonly timeZone: string;
  readonly patients: number;
  /** "Today": two years of appointments lie before it, open slots after it. */
  readonly todayMs: number;
}

export interface PracticePlan extends PracticeOptions {
  readonly zone: Zone;
  readonly today: Day;
  readonly locations: number;
  readonly practitioners: number;
  readonly payers: number;
  readonly referrers: number;
}

const patientsPerPractitioner = 250;
const practitionersPerLocation = 3;

export function planPractice(options: PracticeOptions): PracticePlan {
  const practitioners = Math.max(2, Math.ceil(options.patients / patientsPerPractitioner));
  return {
    ...options,
    zone: openZone(options.timeZone),
    today: toDay(options.todayMs),
    practitioners,
    locations: Math.max(1, Math.ceil(practitioners / practitionersPerLocation)),
    payers: 8,
    referrers: Math.max(4, practitioners * 2),
  };
}

/** Ids by kind; decimal as in existing practice systems, valid in R4. */
export const ids = {
  practice: 'practice',
  payer: (index: number): string => `pay-${1300 + index}`,
  referrer: (index: number): string => `${900 + index}`,
  location: (index: number): string => `${10 + index}`,
  practitioner: (index: number): string => `${100 + index}`,
  plan: (index: number): string => `${7000 + index}`,
  patient: (index: number): string => `${450_000 + index}`,
} as const;

/** The location where a practitioner works. */
export function assignLocation(plan: PracticePlan, practitioner: number): number {
  return practitioner % plan.locations;
}

/** One place in a practitioner's day. */
export interface Place {
  readonly id: string;
  readonly day: Day;
  readonly practitioner: number;
  readonly startMinutes: number;
  readonly minutes: number;
  readonly type: Term;
}
