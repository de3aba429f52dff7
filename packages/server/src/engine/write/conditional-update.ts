/**
 * conditional update (https://hl7.org/fhir/R4/http.html#cond-update): PUT to criteria instead of an id.
 */

import { fail } from '../../base/errors.ts';
import { buildJsonRequest, makeManyValues } from '../../base/worst-case.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { requireGrants } from '../rights/denials.ts';
import { requireResource, requireValidId } from './build-write.ts';
import { normalizeForR4 } from './compatibility.ts';
import { withMatch } from './conditional.ts';
import { createNew } from './create.ts';
import { requireWritable } from './read-only-types.ts';
import { replace, requireReadable } from './update.ts';

export const conditionalUpdate: Interaction = {
  worstCase: {
    because: 'criteria that no index serves, before a write',
    request: () => {
      const criteria = makeManyValues('name:contains', (n) => `qq${n}`);
      return buildJsonRequest('PUT', `Patient?${criteria}`, { resourceType: 'Patient', active: true });
    },
  },
  authorize(context, request) {
    requireWritable(request.type);
    requireGrants(context, request.type, 'u');
    requireGrants(context, request.type, 's');
    requireReadable(context, request.type);
  },
  answer,
};

/**
 * One match: updated (200). None: created (201), under the id in the body where the caller may choose ids, else under a new
 * one, for which `c` is needed.
 * @throws PraxisError `precondition-failed` when several match, `resource-id-mismatch`, and what create and update throw
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const resource = requireResource(
    normalizeForR4(context.settings, await request.body()),
    request.type,
    context.budget,
  );
  const { id } = resource;
  return await withMatch(context, request.type, request.parameters, async (inside, match) => {
    if (match === undefined) {
      if (typeof id !== 'string') {
        requireGrants(inside, request.type, 'c');
        return await createNew(inside, request, resource);
      }
      requireValidId(id);
      return await replace(inside, { ...request, id }, resource);
    }
    if (id !== undefined && id !== match.id) {
      fail('resource-id-mismatch', {
        diagnostics: 'id differs from that of the resource that matches the criteria: leave it out or send the same',
        expression: ['id'],
      });
    }
    return await replace(inside, { ...request, id: match.id }, { ...resource, id: match.id });
  });
}
