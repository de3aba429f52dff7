/** What those who arrive do, and how often: calendars more than all else, and nine of ten requests only read. */
import type { Random } from '../../packages/server/src/synthetic/random.ts';
import { addObservation, changePatient, renewToken } from './changing.ts';
import {
  followChanges,
  lookForSlots,
  lookUpPatient,
  readAgain,
  readOne,
  searchLastUpdated,
  seeAppointments,
  seeDay,
  seeDaysAhead,
  seeEncounters,
  seeObservations,
} from './looking.ts';
import { book, cancel, reschedule } from './scheduling.ts';
import { steps } from './steps.ts';
import type { Step, Visit } from './visit.ts';

export interface Errand {
  /** In proportion to the others. */
  readonly weight: number;
  /** The requests that it sends, when nothing comes in between. */
  readonly steps: readonly Step[];
  readonly run: (visit: Visit) => Promise<void>;
}

export const errands: readonly Errand[] = [
  { weight: 180, steps: [steps.read], run: readOne },
  { weight: 110, steps: [steps.conditional], run: readAgain },
  { weight: 170, steps: [steps.day], run: seeDay },
  { weight: 50, steps: [steps.week], run: seeDaysAhead },
  { weight: 40, steps: [steps.find], run: lookForSlots },
  { weight: 70, steps: [steps.byName], run: lookUpPatient('name') },
  { weight: 30, steps: [steps.byBirthDate], run: lookUpPatient('birthDate') },
  { weight: 60, steps: [steps.byIdentifier], run: lookUpPatient('identifier') },
  { weight: 70, steps: [steps.encounters], run: seeEncounters },
  { weight: 50, steps: [steps.observations], run: seeObservations },
  { weight: 50, steps: [steps.appointments], run: seeAppointments },
  { weight: 40, steps: [steps.changes], run: followChanges },
  { weight: 40, steps: [steps.lastUpdated], run: searchLastUpdated },
  { weight: 22, steps: [steps.find, steps.hold, steps.book], run: book },
  { weight: 8, steps: [steps.find, steps.reschedule], run: reschedule },
  { weight: 10, steps: [steps.cancel], run: cancel },
  { weight: 20, steps: [steps.readBefore, steps.update], run: changePatient },
  { weight: 26, steps: [steps.create], run: addObservation },
  { weight: 4, steps: [steps.token], run: renewToken },
];

const weightOfAll = errands.reduce((sum, { weight }) => sum + weight, 0);

/** Requests of an arrival, in the mean. */
export const requestsPerArrival = errands.reduce((sum, each) => sum + each.weight * each.steps.length, 0) / weightOfAll;

/** One of the errands, as often as their weights say. */
export function drawErrand(random: Random): Errand {
  return drawWeighted(errands, ({ weight }) => weight / weightOfAll, random);
}

/** One of the items. @param shareOf of all of them, 1 together */
export function drawWeighted<T>(items: readonly T[], shareOf: (item: T) => number, random: Random): T {
  let left = random.next();
  for (const item of items) {
    left -= shareOf(item);
    if (left < 0) return item;
  }
  const last = items.at(-1);
  if (last === undefined) throw new RangeError('there is nothing to draw from');
  return last;
}
