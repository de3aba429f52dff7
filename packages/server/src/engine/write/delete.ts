/**
 * delete (https://hl7.org/fhir/R4/http.html#delete): operator-only; earlier versions stay in the history.
 */

import { getStoredText } from '../../access/disclosure.ts';
import { coversRow } from '../../access/mask.ts';
import { ownRowParameters } from '../../access/own-rows.ts';
import { fail } from '../../base/errors.ts';
import { makeLargePatient } from '../../base/worst-case.ts';
import { makeIndexRows } from '../../search/index/index-rows.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { requireMatch, requireNoneMatch } from '../preconditions.ts';
import { refuse } from '../rights/denials.ts';
import { compileCriterionTest } from '../rights/disclosing.ts';
import { buildAuditRow } from './build-write.ts';
import { requireWritable } from './read-only-types.ts';
import { attemptsMax, saveVersion } from './save-version.ts';

export const deleteResource: Interaction = {
  worstCase: {
    because: 'all index rows of a large resource go',
    stored: () => [makeLargePatient('siege-deleted', 1_000)],
    request: () => ({ method: 'DELETE', path: 'Patient/siege-deleted' }),
  },
  authorize(context, request) {
    requireWritable(request.type);
    if (!context.policy.mayDelete) refuse(context, `${request.type} delete`, ['acl/*']);
  },
  answer,
};

/**
 * 204, also when the resource was deleted before or never existed (R4: deleting again has no effect).
 * @throws PraxisError `precondition-failed`, `conflict`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const current = await readOwn(context, request);
    const live = current !== undefined && !current.deleted;
    requireMatch(request.ifMatch, live ? current.versionId : undefined);
    requireNoneMatch(request.ifNoneMatch, live ? current.versionId : undefined);
    if (!live) return { status: 204, ...(current ? { versionId: current.versionId } : {}) };
    const { type, id, versionId, content } = current;
    const write = {
      type,
      id,
      expectedVersion: versionId,
      lastUpdatedMs: context.clock.now(),
      content: null,
      index: makeIndexRows(),
      audit: buildAuditRow(context, 'delete', { type, id, text: getStoredText(content) }),
    };
    const outcome = await saveVersion(context, write, current);
    if (outcome.outcome === 'written') return { status: 204, versionId: outcome.versionId };
  }
  return fail('conflict', { diagnostics: `${request.type}/${request.id} is being changed by others: try again` });
}

/** The current version, deleted or not; of types with own rows alone (access/own-rows.ts) as if there were no others. */
async function readOwn(context: InteractionContext, { type, id }: FhirRequest): Promise<StoredResource | undefined> {
  const current = await context.store.read(context.scope, type, id);
  if (current === undefined || !ownRowParameters.has(type)) return current;
  const isOwn =
    !current.deleted && coversRow(context.policy, 'r', type, compileCriterionTest(context, type, current.content));
  return isOwn ? current : undefined;
}
