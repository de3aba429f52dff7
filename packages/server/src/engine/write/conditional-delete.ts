/**
 * conditional delete (https://hl7.org/fhir/R4/http.html#cdelete): of the one resource that matches the criteria.
 */
import { makeManyValues } from '../../base/worst-case.ts';
import type { Interaction } from '../context.ts';
import { requireGrants } from '../rights/denials.ts';
import { withMatch } from './conditional.ts';
import { deleteResource } from './delete.ts';

export const conditionalDelete: Interaction = {
  worstCase: {
    because: 'criteria that no index serves, before a deletion',
    request: () => ({ method: 'DELETE', path: `Patient?${makeManyValues('name:contains', (n) => `qq${n}`)}` }),
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
