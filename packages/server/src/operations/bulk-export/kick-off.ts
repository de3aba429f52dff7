/** $export: begins a bulk export (https://hl7.org/fhir/uv/bulkdata/export.html#bulk-data-kick-off-request). */

import { fail } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import type { AskedExport } from '../../bulk-export/bulk-export.ts';
import { beginExport, readMoment } from '../../bulk-export/store.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { type RightsContext, refuse } from '../../engine/rights/denials.ts';
import { encodeQuery } from '../../engine/search/search-links.ts';
import { declareOutput, type Operation, type OperationRequest } from '../operation.ts';
import { exportParameters, listExportTypes, readExportParameters } from './parameters.ts';

/**
 * Where the service does not tell up to when searches are complete: no request of before is still under way. The next export
 * repeats the changes of that time.
 */
const uncertainMs = 600_000;

/** Without them the request is refused. */
const headers = { prefer: 'respond-async' } as const;

const shared = {
  name: 'export',
  standsAlone: true,
  rateUnits: 4,
  // Of resources; a key for requests that take effect once would not keep the answer, which is a header.
  affectsState: false,
  methods: ['GET', 'POST'],
  answers: { 202: { description: 'The export has begun.', headers: ['Content-Location'] } },
  parameters: [
    ...exportParameters,
    declareOutput('return', 'Parameters', 'Nothing: Content-Location says where to ask for the files.', { min: 0 }),
  ],
} satisfies Partial<Operation>;

export const systemExport: Operation<'system'> = {
  ...shared,
  url: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/export',
  worstCase: { because: 'all types', request: () => ({ ...buildGetRequest('$export'), headers }) },
  levels: ['system'],
  types: 'all',
  authorize: (context) => requireSomeType(context, 'system'),
  answer: (context, request) => begin(context, request, 'system'),
};

export const patientExport: Operation<'type'> = {
  ...shared,
  url: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/patient-export',
  worstCase: {
    because: 'all types of the compartment',
    request: () => ({ ...buildGetRequest('Patient/$export'), headers }),
  },
  levels: ['type'],
  types: ['Patient'],
  authorize: (context) => requireSomeType(context, 'patient'),
  answer: (context, request) => begin(context, request, 'patient'),
};

function requireSomeType(context: RightsContext, level: AskedExport['level']): void {
  if (listExportTypes(context, level).length === 0)
    refuse(context, 'A bulk export', ['an access entry with search on some type']);
}

/**
 * 202; Content-Location says where to ask for the files.
 * @throws PraxisError `header-invalid` without Prefer: respond-async, `operation-parameter-invalid`, `access-denied`
 */
async function begin(
  context: InteractionContext,
  request: OperationRequest,
  level: AskedExport['level'],
): Promise<FhirResponse> {
  const { store, scope, clock, policy, baseUrl } = context;
  if (request.prefer.respondAsync !== true) {
    fail('header-invalid', {
      diagnostics: 'A bulk export is answered later: send Prefer: respond-async',
      expression: ['Prefer'],
    });
  }
  const asked = readExportParameters(context, request, level);
  const createdMs = clock.now();
  // Read before the moment: all that is older has been committed by then.
  const transactionTimeMs = (await store.completeUntil(scope)) || createdMs - uncertainMs;
  const moment = await readMoment(store, scope);
  const id = makeUuid();
  const path = level === 'system' ? '$export' : 'Patient/$export';
  const query = encodeQuery(request.parameters);
  const url = `${baseUrl}/${path}${query === '' ? '' : `?${query}`}`;
  const begun = { id, createdMs, transactionTimeMs, policy: policy.fingerprint, asked: { ...asked, url }, moment };
  await beginExport(store, scope, begun);
  return { status: 202, headers: { 'content-location': `${baseUrl}/$export-status?job=${id}` } };
}
