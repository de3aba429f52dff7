/**
 * The one door to every interaction: HTTP requests and Bundle entries pass here with the same types.
 */

import { conditionalDelete } from './conditional-delete.ts';
import { conditionalPatch } from './conditional-patch.ts';
import { conditionalUpdate } from './conditional-update.ts';
import type { FhirCall, FhirResponse, Interaction, InteractionContext, InteractionName } from './context.ts';
import { create } from './create.ts';
import { deleteResource } from './delete.ts';
import { historyInstance } from './history-instance.ts';
import { historySystem, historyType } from './history-type.ts';
import { patch } from './patch.ts';
import { read } from './read.ts';
import { searchSystem } from './search-system.ts';
import { searchType } from './search-type.ts';
import { update } from './update.ts';
import { vread } from './vread.ts';

/** Interaction → the function that answers it; the CapabilityStatement lists these names. */
export const interactions: Readonly<Record<InteractionName, Interaction>> = {
  read,
  vread,
  create,
  update,
  patch,
  delete: deleteResource,
  'history-instance': historyInstance,
  'history-type': historyType,
  'history-system': historySystem,
  'search-type': searchType,
  'search-system': searchSystem,
  'conditional-update': conditionalUpdate,
  'conditional-patch': conditionalPatch,
  'conditional-delete': conditionalDelete,
};

/** Answers `call` with the rights of `context`; throws PraxisError for every refusal. */
export async function dispatch(context: InteractionContext, call: FhirCall): Promise<FhirResponse> {
  const interaction = interactions[call.interaction];
  interaction.authorize(context, call);
  return interaction.answer(context, await call.open());
}
