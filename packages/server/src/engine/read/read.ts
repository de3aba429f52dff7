/**
 * read: the current version of a resource (https://hl7.org/fhir/R4/http.html#read).
 */

import { fail } from '../../base/errors.ts';
import { buildGetRequest, makeLargePatient } from '../../base/worst-case.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { findHook } from '../hooks.ts';
import { parseEntityTags } from '../preconditions.ts';
import { refuseNotFound, requireGrants } from '../rights/denials.ts';
import { discloseRow, parseElementFilter } from '../rights/disclosing.ts';

export const read: Interaction = {
  worstCase: {
    because: 'a large resource, written as indented XML',
    stored: () => [makeLargePatient('siege-large', 1_000)],
    request: () => buildGetRequest('Patient/siege-large?_format=xml&_pretty=true'),
  },
  authorize: (context, request) => requireGrants(context, request.type, 'r'),
  answer,
};

/**
 * 200 with the masked resource; 304 when If-None-Match or If-Modified-Since holds.
 * @throws PraxisError `resource-not-found` (also for rows outside the caller's criteria),
 *   `resource-deleted` (only to callers without row criteria: others cannot know that it existed).
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const filter = parseElementFilter(request.parameters);
  const computed = await findHook('computed', request.type)?.read(context, request.id);
  if (computed !== undefined) {
    const body = discloseRow(context, 'r', computed, filter);
    return body === undefined ? refuseNotFound(request.type, request.id) : { status: 200, body };
  }
  const row = await context.store.read(context.scope, request.type, request.id);
  if (!row) return refuseNotFound(request.type, request.id);
  if (row.deleted) return refuseDeleted(context, row);
  const body = discloseRow(context, 'r', row, filter);
  if (body === undefined) return refuseNotFound(request.type, request.id);
  const facts = { versionId: row.versionId, lastUpdatedMs: row.lastUpdatedMs };
  if (isUnmodified(request, row)) return { status: 304, ...facts };
  const decorate = findHook('decorate', request.type)?.(context, request);
  return { status: 200, body: decorate === undefined ? body : await decorate('r', row, body, filter), ...facts };
}

/** 410 for those who could have read the resource, 404 for everybody else. */
export function refuseDeleted(context: InteractionContext, row: StoredResource): never {
  if (!seesAllRows(context, row.type)) return refuseNotFound(row.type, row.id);
  return fail('resource-deleted', {
    diagnostics: `${row.type}/${row.id} was deleted with version ${row.versionId}`,
    expression: [row.type],
  });
}

/** Whether the caller may read rows of the type without row criteria, and so may know of deletions. */
export function seesAllRows(context: InteractionContext, type: string): boolean {
  return context.policy.grants(type, 'r').some((grant) => grant.criteria.length === 0);
}

/** RFC 9110 §13.2.2: If-None-Match decides; If-Modified-Since only where the former is absent. */
function isUnmodified(request: FhirRequest, row: StoredResource): boolean {
  const tags = parseEntityTags(request.ifNoneMatch, 'If-None-Match');
  if (tags !== undefined) return tags === '*' || tags.includes(row.versionId);
  const since = Date.parse(request.ifModifiedSince ?? '');
  return !Number.isNaN(since) && Math.floor(row.lastUpdatedMs / 1000) * 1000 <= since;
}
