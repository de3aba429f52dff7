import type { PracticeFeature } from '../feature.ts';
import { calendarActions } from './actions/calendars.ts';
import { holidayActions } from './actions/holidays.ts';
import { slotHooks } from './slots/derived-slots.ts';
import { slot } from './slots/slot.ts';
import { slotStates } from './slots/slot-states.ts';

/** Working hours, leave and holidays, and the slots that are computed from them. */
export const calendarsFeature: PracticeFeature = {
  behaviours: [slot],
  states: [slotStates],
  hooks: [slotHooks],
  actions: [...calendarActions, ...holidayActions],
};
