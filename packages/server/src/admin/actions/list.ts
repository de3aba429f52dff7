/** Every action of the administration API, one line for each area, in the order of its documentation. */
import type { Action } from '../../actions/action.ts';
import type { Fields } from '../../actions/schema.ts';
import { practiceActions } from '../../practice/features.ts';
import type { AdminContext, SessionContext } from '../context.ts';
import { accountActions } from './account.ts';
import { legacyAccountActions } from './accounts.ts';
import { administratorActions } from './administrators.ts';
import { applicationActions } from './applications.ts';
import { auditActions } from './audit.ts';
import { authorisationActions } from './authorisations.ts';
import { clientActions } from './clients.ts';
import { clockActions } from './clock.ts';
import { entryActions } from './entries.ts';
import { environmentActions } from './environments.ts';
import { erasureActions } from './erasures.ts';
import { exportActions } from './exports.ts';
import { firmActions } from './firms.ts';
import { importActions } from './imports.ts';
import { invariantActions } from './invariants.ts';
import { jobActions } from './jobs.ts';
import { keyActions } from './keys.ts';
import { legacyActions } from './legacy.ts';
import { signingKeyActions } from './signing-keys.ts';

/** Those that the command line has, too: all but those on what is the caller's own. */
export const commandActions: readonly Action<string, Fields, AdminContext>[] = [
  ...administratorActions,
  ...environmentActions,
  ...firmActions,
  ...erasureActions,
  ...practiceActions,
  ...exportActions,
  ...importActions,
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

export const actions: readonly Action<string, Fields, SessionContext>[] = [...accountActions, ...commandActions];
