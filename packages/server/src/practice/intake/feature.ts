import type { PracticeFeature } from '../feature.ts';
import { intakeActions } from './actions.ts';
import { reconciliation } from './operations.ts';
import { intakeHooks } from './proposing.ts';
import { intakeStates } from './task-states.ts';

/** Intake: what an application proposes, staff accept or reject. */
export const intakeFeature: PracticeFeature = {
  states: [intakeStates],
  hooks: [intakeHooks],
  operations: [reconciliation],
  actions: intakeActions,
};
