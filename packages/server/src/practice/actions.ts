/** The administration of the practice's features, in the order of its documentation. */
import type { Action, ActionContext } from '../actions/action.ts';
import type { Fields } from '../actions/schema.ts';
import { calendarActions } from './calendars/actions/calendars.ts';
import { holidayActions } from './calendars/actions/holidays.ts';
import { chargeActions } from './charges/actions.ts';
import { intakeActions } from './intake/actions.ts';
import { valueSetActions } from './value-sets/actions.ts';

export const practiceActions: readonly Action<string, Fields, ActionContext>[] = [
  ...calendarActions,
  ...holidayActions,
  ...valueSetActions,
  ...chargeActions,
  ...intakeActions,
];
