/**
 * read: the current version of a resource (https://hl7.org/fhir/R4/http.html#read).
 */

import { fail } from '../../base/errors.ts';
import { getting, largePatient } from '../../base/worst-case.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { hookOf } from '../hooks.ts';
import { parseEntityTags } from '../preconditions.ts';
import { notFound, requireGrants } from '../rights/denials.ts';
import { discloseRow, requestedElements } from '../rights/disclosing.ts';

export const read: Interaction = {
  worstCase: {
    because: 'a large resource, written as indented XML',
    stored: () => [largePatient('siege-large', 1_000)],
    request: () => getting('Patient/siege-large?_format=xml&_pretty=true'),
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
  const filter = requestedElements(request.parameters);
  const computed = await hookOf('computed', request.type)?.read(context, request.id);
  if (computed !== undefined) {
    const body = discloseRow(context, 'r', computed, filter);
    return body === undefined ? notFound(request.type, request.id) : { status: 200, body };
  }
  const row = await context.store.read(context.scope, request.type, request.id);
  if (!row) return notFound(request.type, request.id);
  if (row.deleted) return deleted(context, row);
  const body = discloseRow(context, 'r', row, filter);
  if (body === undefined) return notFound(request.type, request.id);
  const facts = { versionId: row.versionId, lastUpdatedMs: row.lastUpdatedMs };
  if (isUnmodified(request, row)) return { status: 304, ...facts };
  const decorate = hookOf('decorate', request.type)?.(context, request);
  return { status: 200, body: decorate === undefined ? body : await decorate('r', row, body, filter), ...facts };
}

/** 410 for those who could have read the resource, 404 for everybody else. */
export function deleted(context: InteractionContext, row: StoredResource): never {
  if (!seesAllRows(context, row.type)) return notFound(row.type, row.id);
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
