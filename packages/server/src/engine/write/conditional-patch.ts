/**
 * conditional patch (https://hl7.org/fhir/R4/http.html#patch): of the one resource that matches the criteria.
 */

import { fail } from '../../base/errors.ts';
import { buildJsonRequest, makeManyValues } from '../../base/worst-case.ts';
import type { Interaction } from '../context.ts';
import { requireGrants } from '../rights/denials.ts';
import { withMatch } from './conditional.ts';
import { patch } from './patch.ts';

export const conditionalPatch: Interaction = {
  worstCase: {
    because: 'criteria that no index serves, before a patch',
    request: () => {
      const patch = [{ op: 'add', path: '/active', value: true }];
      return buildJsonRequest(
        'PATCH',
        `Patient?${makeManyValues('name:contains', (n) => `qq${n}`)}`,
        patch,
        'application/json-patch+json',
      );
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
