/**
 * conditional update, patch and delete (https://hl7.org/fhir/R4/http.html#cond-update, #patch, #cdelete): of the one resource
 * that matches the criteria, which stand instead of an id.
 */
import { fail } from '../../base/errors.ts';
import { buildJsonRequest, makeManyValues } from '../../base/worst-case.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { requireGrants } from '../rights/denials.ts';
import { requireValidId } from './build-write.ts';
import { withMatch } from './conditional.ts';
import { createNew, readResource } from './create.ts';
import { deleteResource } from './delete.ts';
import { patch } from './patch.ts';
import { requireWritable } from './read-only-types.ts';
import { replace, requireReadable } from './update.ts';

/** Criteria that no index serves. */
const worstCriteria = () => `Patient?${makeManyValues('name:contains', (n) => `qq${n}`)}`;

export const conditionalUpdate: Interaction = {
  worstCase: {
    because: 'criteria that no index serves, before a write',
    request: () => buildJsonRequest('PUT', worstCriteria(), { resourceType: 'Patient', active: true }),
  },
  authorize(context, request) {
    requireWritable(request.type);
    requireGrants(context, request.type, 'u');
    requireGrants(context, request.type, 's');
    requireReadable(context, request.type);
  },
  answer: answerUpdate,
};

/**
 * One match: updated (200). None: created (201), under the id in the body where the caller may choose ids, else under a new
 * one, for which `c` is needed.
 * @throws PraxisError `precondition-failed` when several match, `resource-id-mismatch`, and what create and update throw
 */
async function answerUpdate(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const resource = await readResource(context, request);
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

export const conditionalPatch: Interaction = {
  worstCase: {
    because: 'criteria that no index serves, before a patch',
    request: () => {
      const change = [{ op: 'add', path: '/active', value: true }];
      return buildJsonRequest('PATCH', worstCriteria(), change, 'application/json-patch+json');
    },
  },
  authorize(context, request) {
    patch.authorize(context, request);
    requireGrants(context, request.type, 's');
  },
  /** As patch. @throws PraxisError `resource-not-found` when nothing matches, `precondition-failed` when several do */
  answer: (context, request) =>
    withMatch(context, request.type, request.parameters, async (inside, match) =>
      match === undefined
        ? fail('resource-not-found', { diagnostics: `No ${request.type} matches the criteria` })
        : await patch.answer(inside, { ...request, id: match.id }),
    ),
};

export const conditionalDelete: Interaction = {
  worstCase: {
    because: 'criteria that no index serves, before a deletion',
    request: () => ({ method: 'DELETE', path: worstCriteria() }),
  },
  authorize(context, request) {
    deleteResource.authorize(context, request);
    requireGrants(context, request.type, 's');
  },
  /** 204, also when nothing matches. @throws PraxisError `precondition-failed` when several match */
  answer: (context, request) =>
    withMatch(context, request.type, request.parameters, async (inside, match) =>
      match === undefined ? { status: 204 } : await deleteResource.answer(inside, { ...request, id: match.id }),
    ),
};
