/** Every action of the administration API, one line for each area, in the order of its documentation. */
import type { Action } from '../action.ts';
import { accountActions } from './account.ts';
import { legacyAccountActions } from './accounts.ts';
import { administratorActions } from './administrators.ts';
import { applicationActions } from './applications.ts';
import { auditActions } from './audit.ts';
import { authorisationActions } from './authorisations.ts';
import { clientActions } from './clients.ts';
import { entryActions } from './entries.ts';
import { environmentActions } from './environments.ts';
import { firmActions } from './firms.ts';
import { keyActions } from './keys.ts';
import { legacyActions } from './legacy.ts';
import { signingKeyActions } from './signing-keys.ts';

export const actions: readonly Action[] = [
  ...accountActions,
  ...administratorActions,
  ...environmentActions,
  ...firmActions,
  ...authorisationActions,
  ...applicationActions,
  ...keyActions,
  ...clientActions,
  ...legacyAccountActions,
  ...legacyActions,
  ...signingKeyActions,
  ...entryActions,
  ...auditActions,
];
