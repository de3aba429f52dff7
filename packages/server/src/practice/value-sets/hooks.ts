/** The judgement of resources by the codes that the firm keeps (docs/decisions/0205), for one caller. */

import type { BindingContext, ResourceHooks } from '../../engine/hooks.ts';
import { type FirmCodesContext, listBoundMembers, listCodesOutsideBinding } from './binding.ts';
import { decorateTypes } from './expanded-types.ts';
import { readKeptCodes } from './store.ts';

export const valueSetHooks: ResourceHooks = {
  bindings: {
    membersOf: listBoundMembers,
    find: (context, type, before, after) => listCodesOutsideBinding(codesContext(context), type, before, after),
  },
};

/** What is added to ValueSets that are read. */
export const expandedTypesHooks: ResourceHooks = { types: ['ValueSet'], decorate: decorateTypes };

/** Codes are named to those who may read any ValueSet in full. */
function codesContext({ scope, store, policy, budget }: BindingContext): FirmCodesContext {
  const grants = (['r', 's'] as const).flatMap((letter) => policy.grants('ValueSet', letter));
  const maySeeCodes = grants.some(({ criteria, elements }) => criteria.length === 0 && elements === 'all');
  return { keptCodes: (ids) => readKeptCodes(store, scope, ids), maySeeCodes, budget };
}
