/**
 * update: a new version of a resource, or its creation under a client's id (https://hl7.org/fhir/R4/http.html#update).
 */

import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { describeNextStep, listGrantingEntries } from '../../access/explain.ts';
import { coversRow } from '../../access/mask.ts';
import { ownRowParameters } from '../../access/own-rows.ts';
import { canReadAll } from '../../access/policy.ts';
import { fail } from '../../base/errors.ts';
import { buildJsonRequest, makeLargePatient } from '../../base/worst-case.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { findHook } from '../hooks.ts';
import { requireMatch, requireNoneMatch } from '../preconditions.ts';
import { denyAccess, type RightsContext, refuseNotFound, requireGrants } from '../rights/denials.ts';
import { compileCriterionTest } from '../rights/disclosing.ts';
import { requireReplaceable } from '../rights/write-rights.ts';
import {
  buildingWrite,
  buildWrite,
  buildWriteResponse,
  requireResource,
  requireResourceInSlices,
  requireValidId,
} from './build-write.ts';
import { normalizeForR4 } from './compatibility.ts';
import { withSafeNarrative } from './patched-narrative.ts';
import { requireWritable } from './read-only-types.ts';
import { attemptsMax, saveVersion } from './save-version.ts';

/** For those who send only what they want to change. */
const patchAdvice = 'PUT replaces the whole resource: to change some elements only, use PATCH';

export const update: Interaction = {
  worstCase: {
    because: 'all index rows of a large resource change',
    request: ({ next }) => {
      const names = 1_000 + (next() % 1_000);
      return buildJsonRequest('PUT', 'Patient/siege-updated', makeLargePatient('siege-updated', names));
    },
  },
  authorize(context, request) {
    requireWritable(request.type);
    requireGrants(context, request.type, 'u');
    requireReadable(context, request.type);
  },
  answer,
};

/**
 * 200 with the new version, 201 when it came into being.
 * @throws PraxisError `access-denied` (the new version leaves the caller's rows or elements), `resource-id-mismatch`,
 *   `resource-invalid`, `invariant-broken`, `resource-not-found`, `precondition-failed`, `conflict`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  requireValidId(request.id);
  const sent = await normalizeForR4(context, await request.body());
  if (context.settings.partialPut) return await replaceWith(context, request, partOf(context, request, sent));
  const resource = await requireResourceInSlices(sent, request.type, context.budget, patchAdvice);
  requireSameId(resource, request.id);
  return await replace(context, request, resource);
}

/** What a PUT of a part makes of the version before, which whoever may PUT reads in full. */
function partOf(
  { budget }: InteractionContext,
  { type, id }: FhirRequest,
  sent: JsonValue,
): (current: StoredResource | undefined) => JsonObject {
  return (current) => {
    const before = current && parseStored(current.content);
    const isPart = before !== undefined && isJsonObject(sent);
    const whole = isPart ? withSafeNarrative(before, { ...before, ...sent, id: sent.id ?? id }, true) : sent;
    const resource = requireResource(whole, type, budget, patchAdvice);
    requireSameId(resource, id);
    return resource;
  };
}

/** Stores `resource` as the next version of `request.id`. Or 202, where it waits for the practice. */
export async function replace(
  context: InteractionContext,
  request: FhirRequest,
  resource: JsonObject,
): Promise<FhirResponse> {
  return await replaceWith(context, request, () => resource);
}

/** @param made what is stored, from the live version before; undefined: there is none */
async function replaceWith(
  context: InteractionContext,
  request: FhirRequest,
  made: (current: StoredResource | undefined) => JsonObject,
): Promise<FhirResponse> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const current = await context.store.read(context.scope, request.type, request.id);
    const exists = requireCurrent(context, request, current);
    const resource = made(exists ? current : undefined);
    await context.budget.turn(buildingWrite);
    const expected = current?.versionId ?? 0;
    const write = await buildWrite(context, 'update', request.type, request.id, resource, expected, current);
    requireReplaceable(context, exists ? current?.content : undefined, write);
    const intercepted = await findHook('intercept', request.type)?.answer(context, request, { write, current });
    if (intercepted !== undefined) return intercepted;
    const outcome = await saveVersion(context, write, current);
    if (outcome.outcome === 'written') return buildWriteResponse(context, request, 'u', write, exists ? 200 : 201);
    if (request.ifMatch !== undefined) requireMatch(request.ifMatch, outcome.currentVersion);
  }
  return fail('conflict', {
    diagnostics: `${request.type}/${request.id} is being changed by others: read it again and repeat the change with If-Match`,
  });
}

/** A PUT replaces everything, so whoever cannot read everything would destroy what they cannot see. */
export function requireReadable({ policy }: RightsContext, type: string): void {
  if (canReadAll(policy, type)) return;
  const entries = listGrantingEntries(policy, type, 'r');
  denyAccess(
    `PUT replaces the whole ${type}, and the application may not read every element of it: use PATCH, or get ${entries.join(' or ')}; ${describeNextStep(policy, entries)}`,
  );
}

function requireSameId(resource: JsonObject, id: string): void {
  if (resource.id === id) return;
  const problem =
    resource.id === undefined
      ? `is missing: the body of an update carries the id of the path. ${patchAdvice}`
      : 'differs from the id in the path: the body of an update carries the same id';
  fail('resource-id-mismatch', { diagnostics: `id ${problem}`, expression: ['id'] });
}

/** Whether a live version exists, after the checks that need it. */
function requireCurrent(
  context: InteractionContext,
  request: FhirRequest,
  current: StoredResource | undefined,
): boolean {
  const live = current !== undefined && !current.deleted;
  if (
    live &&
    !coversRow(context.policy, 'u', request.type, compileCriterionTest(context, request.type, current.content))
  ) {
    refuseNotFound(request.type, request.id);
  }
  if (!live && !mayCreateUnder(context, request.type)) {
    if (context.policy.grants(request.type, 'r').some((grant) => grant.criteria.length === 0) && current?.deleted) {
      fail('resource-deleted', {
        diagnostics: `${request.type}/${request.id} was deleted: create it again with POST`,
        expression: [request.type],
      });
    }
    refuseNotFound(request.type, request.id);
  }
  requireMatch(request.ifMatch, live ? current.versionId : undefined);
  requireNoneMatch(request.ifNoneMatch, live ? current.versionId : undefined);
  return live;
}

/** Of types with own rows alone, a create under a chosen id would tell whether another application has one. */
export function mayCreateUnder({ policy }: RightsContext, type: string): boolean {
  return policy.mayUpdateAsCreate && !ownRowParameters.has(type);
}
