/** Every action of the administration API, one line for each area, in the order of its documentation. */
import type { Action } from '../action.ts';
import { accountActions } from './account.ts';
import { legacyAccountActions } from './accounts.ts';
import { administratorActions } from './administrators.ts';
import { applicationActions } from './applications.ts';
import { auditActions } from './audit.ts';
import { authorisationActions } from './authorisations.ts';
import { calendarActions } from './calendars.ts';
import { chargeActions } from './charges.ts';
import { clientActions } from './clients.ts';
import { clockActions } from './clock.ts';
import { entryActions } from './entries.ts';
import { environmentActions } from './environments.ts';
import { firmActions } from './firms.ts';
import { holidayActions } from './holidays.ts';
import { intakeActions } from './intake.ts';
import { invariantActions } from './invariants.ts';
import { jobActions } from './jobs.ts';
import { keyActions } from './keys.ts';
import { legacyActions } from './legacy.ts';
import { signingKeyActions } from './signing-keys.ts';
import { valueSetActions } from './value-sets.ts';

export const actions: readonly Action[] = [
  ...accountActions,
  ...administratorActions,
  ...environmentActions,
  ...firmActions,
  ...calendarActions,
  ...holidayActions,
  ...valueSetActions,
  ...chargeActions,
  ...intakeActions,
  ...invariantActions,
  ...authorisationActions,
  ...applicationActions,
  ...keyActions,
  ...clientActions,
  ...legacyAccountActions,
  ...legacyActions,
  ...signingKeyActions,
  ...entryActions,
  ...auditActions,
  ...clockActions,
  ...jobActions,
];
