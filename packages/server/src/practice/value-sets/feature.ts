import type { PracticeFeature } from '../feature.ts';
import { valueSetActions } from './actions.ts';
import { expandedTypesHooks, valueSetHooks } from './hooks.ts';
import { valueSet } from './value-set.ts';

/** Value sets of the practice, and the elements that are bound to them. */
export const valueSetsFeature: PracticeFeature = {
  behaviours: [valueSet],
  hooks: [valueSetHooks, expandedTypesHooks],
  actions: valueSetActions,
};
