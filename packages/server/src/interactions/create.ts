/**
 * create: a new resource with an id of the server (https://hl7.org/fhir/R4/http.html#create).
 */

import { fail } from '../base/errors.ts';
import { newResourceId } from '../base/ids.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from './context.ts';
import { requireGrants } from './denials.ts';
import { requireWritable } from './writable.ts';
import { requireResource, resourceWrite, writtenResponse } from './writing.ts';

export const create: Interaction = {
  authorize(context, request) {
    requireWritable(request.type);
    requireGrants(context, request.type, 'c');
  },
  answer,
};

/**
 * 201 with Location; an id in the body is ignored, as R4 demands.
 * @throws PraxisError `resource-type-mismatch`, `resource-invalid`, `invariant-broken`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  if (request.ifNoneExist !== undefined) {
    fail('header-invalid', {
      diagnostics: 'If-None-Exist is not served: create without it',
      expression: ['If-None-Exist'],
    });
  }
  const resource = requireResource(await request.body(), request.type);
  const write = resourceWrite(context, 'create', request.type, newResourceId(context.clock), resource, 0);
  const outcome = await context.store.write(context.scope, write);
  if (outcome.outcome !== 'written') fail('conflict', { diagnostics: 'The new id is taken: repeat the request' });
  return writtenResponse(context, request, 'c', write, 201);
}
