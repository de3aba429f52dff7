/**
 * create: a new resource with an id of the server (https://hl7.org/fhir/R4/http.html#create), also only if no other
 * matches (#ccreate).
 */

import type { JsonObject } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import { makeResourceId } from '../../base/ids.ts';
import { buildJsonRequest, largeCreates, makeLargePatient } from '../../base/worst-case.ts';
import { parseParameters } from '../../search/query/query-string.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { findHook, listHooks } from '../hooks.ts';
import { buildMatchedOutcome } from '../outcome.ts';
import { requireGrants } from '../rights/denials.ts';
import { requireCreatable } from '../rights/write-rights.ts';
import {
  buildingWrite,
  buildReadableResponse,
  buildWrite,
  buildWriteResponse,
  requireResourceInSlices,
} from './build-write.ts';
import { normalizeForR4 } from './compatibility.ts';
import { withMatch } from './conditional.ts';
import { requireWritable } from './read-only-types.ts';
import { type SaveOptions, saveVersion } from './save-version.ts';

export const create: Interaction = {
  worstCase: {
    because: 'every element of a large body leaves index rows',
    request: ({ next }) => buildJsonRequest('POST', 'Patient', makeLargePatient(`siege-${next()}`, 15_000)),
    also: largeCreates,
  },
  authorize(context, request) {
    requireWritable(request.type);
    if (!isReplaceable(context, request.type)) requireGrants(context, request.type, 'c');
  },
  answer,
};

/**
 * 201 with Location; an id in the body is ignored, as R4 demands. With If-None-Exist: 200 with the one resource that
 * matches its criteria, as far as the caller may read it, instead of a second one.
 * @throws PraxisError `resource-type-mismatch`, `resource-invalid`, `invariant-broken`, `precondition-failed`, `access-denied`
 *   (rows or elements that the caller may not create)
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  if (isReplaceable(context, request.type)) {
    const answered = await findHook('replaceCreate', request.type)?.answer(context, request);
    if (answered !== undefined) return answered;
    requireGrants(context, request.type, 'c');
  }
  const resource = await readResource(context, request);
  if (request.ifNoneExist === undefined) return await createNew(context, request, resource);
  const criteria = parseParameters(request.ifNoneExist);
  return await withMatch(context, request.type, criteria, async (inside, match) =>
    match === undefined
      ? await createNew(inside, request, resource)
      : buildReadableResponse(inside, request, match, () => buildMatchedOutcome(match.type, match.id)),
  );
}

/** The body as a valid resource. @throws as `requireResource` */
export async function readResource(context: InteractionContext, request: FhirRequest) {
  const meant = await normalizeForR4(context, await request.body());
  return await requireResourceInSlices(meant, request.type, context.budget);
}

/** Stores `resource` under a new id: that of the request if it brings one. Or 202, where it waits for the practice. */
export async function createNew(
  context: InteractionContext,
  request: FhirRequest,
  resource: JsonObject,
  options: SaveOptions = {},
): Promise<FhirResponse> {
  const id = request.newId ?? makeResourceId(context.clock);
  await context.budget.turn(buildingWrite);
  const sent = await buildWrite(context, 'create', request.type, id, resource, 0);
  requireCreatable(context, sent);
  const completed = await complete(context, request.type, resource);
  const write = completed === resource ? sent : await buildWrite(context, 'create', request.type, id, completed, 0);
  const checked = { write, current: undefined };
  const intercepted = await findHook('intercept', request.type)?.answer(context, request, checked);
  if (intercepted !== undefined) return intercepted;
  const outcome = await saveVersion(context, write, undefined, options);
  if (outcome.outcome !== 'written')
    fail('conflict', { diagnostics: 'The new id is already in use: repeat the request' });
  return buildWriteResponse(context, request, 'c', write, 201);
}

function isReplaceable({ policy }: Pick<InteractionContext, 'policy'>, type: string): boolean {
  return findHook('replaceCreate', type)?.isAllowed(policy) === true;
}

async function complete(context: InteractionContext, type: string, resource: JsonObject): Promise<JsonObject> {
  let completed = resource;
  for (const hook of listHooks('complete', type)) completed = await hook(context, completed);
  return completed;
}
