/**
 * vread: one version of a resource (https://hl7.org/fhir/R4/http.html#vread).
 */
import { buildGetRequest, makeLargePatient } from '../../base/worst-case.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { refuseNotFound, requireGrants } from '../rights/denials.ts';
import { discloseRow, parseElementFilter } from '../rights/disclosing.ts';
import { refuseDeleted, seesAllRows } from './read.ts';

const versionPattern = /^[1-9]\d{0,8}$/;

export const vread: Interaction = {
  worstCase: {
    because: 'a large version, written as indented XML',
    stored: () => [makeLargePatient('siege-large', 1_000)],
    request: () => buildGetRequest('Patient/siege-large/_history/1?_format=xml&_pretty=true'),
  },
  authorize: (context, request) => requireGrants(context, request.type, 'r'),
  answer,
};

/** 200 with the masked version. @throws PraxisError as `read`; a version that is a deletion is `resource-deleted`. */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const filter = parseElementFilter(request.parameters);
  const row = versionPattern.test(request.versionId)
    ? await context.store.readVersion(context.scope, request.type, request.id, Number(request.versionId))
    : undefined;
  const unknown = (): never => refuseNotFound(request.type, `${request.id}/_history/${request.versionId}`);
  // A deletion carries nothing to hold the caller's criteria against: with criteria it is answered as if it were not there.
  if (!row || (row.deleted && !seesAllRows(context, request.type))) return unknown();
  if (row.deleted) return refuseDeleted(context, row);
  const body = discloseRow(context, 'r', row, filter);
  if (body === undefined) return unknown();
  return { status: 200, body, versionId: row.versionId, lastUpdatedMs: row.lastUpdatedMs };
}
