/**
 * The one door to every interaction: HTTP requests and Bundle entries pass here with the same types.
 */

import { openAudit, recordSearchedPatients } from './audit-recorder.ts';
import type { FhirCall, FhirResponse, Interaction, InteractionContext, InteractionName } from './context.ts';
import { historyInstance } from './history/history-instance.ts';
import { historySystem, historyType } from './history/history-type.ts';
import { read } from './read/read.ts';
import { vread } from './read/vread.ts';
import { searchSystem } from './search/search-system.ts';
import { searchType } from './search/search-type.ts';
import { conditionalDelete, conditionalPatch, conditionalUpdate } from './write/conditional-writes.ts';
import { create } from './write/create.ts';
import { deleteResource } from './write/delete.ts';
import { withIdempotency } from './write/idempotency.ts';
import { patch } from './write/patch.ts';
import { update } from './write/update.ts';

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

const writes = new Set([create, update, patch, deleteResource, conditionalUpdate, conditionalPatch, conditionalDelete]);

/** Answers `call` with the rights of `context`, and leaves a row for the ledger; throws PraxisError for every refusal. */
export async function dispatch(context: InteractionContext, call: FhirCall): Promise<FhirResponse> {
  const audit = openAudit(context, call);
  try {
    return audit.answered(await answerInteraction(audit.inside, call));
  } catch (error) {
    throw audit.refused(error);
  }
}

async function answerInteraction(context: InteractionContext, call: FhirCall): Promise<FhirResponse> {
  const interaction = interactions[call.interaction];
  interaction.authorize(context, call);
  const request = await call.open();
  recordSearchedPatients(context, request);
  if (!writes.has(interaction)) return await interaction.answer(context, request);
  return await withIdempotency(context, request, (once) => interaction.answer(once, request));
}
