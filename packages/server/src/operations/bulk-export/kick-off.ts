/** $export: begins a bulk export (https://hl7.org/fhir/uv/bulkdata/export.html#bulk-data-kick-off-request). */

import { fail } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildGetRequest, makeMany } from '../../base/worst-case.ts';
import type { AskedExport } from '../../bulk-export/bulk-export.ts';
import { beginExport, readMoment } from '../../bulk-export/store.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { type RightsContext, refuse, requireGrants } from '../../engine/rights/denials.ts';
import { encodeQuery } from '../../engine/search/search-links.ts';
import { declareOutput, type Operation, type OperationRequest } from '../operation.ts';
import { exportParameters, listExportTypes, patientsParameter, readExportParameters } from './parameters.ts';
import { membersMax, readMembers, readPatients } from './patients.ts';

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
  async answer(context, request) {
    requireAsynchronous(request);
    return await begin(context, request, await readExportParameters(context, request, 'system'));
  },
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
  parameters: [...shared.parameters, patientsParameter],
  async answer(context, request) {
    requireAsynchronous(request);
    const asked = await readExportParameters(context, request, 'patient');
    return await begin(context, request, withPatients(asked, await readPatients(context, request)));
  },
};

export const groupExport: Operation<'instance'> = {
  ...shared,
  url: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export',
  worstCase: {
    because: 'a Group of as many patients as an export takes',
    stored: () => [buildLargestGroup()],
    request: () => ({ ...buildGetRequest('Group/exported/$export'), headers }),
  },
  levels: ['instance'],
  types: ['Group'],
  parameters: [...shared.parameters, patientsParameter],
  authorize(context) {
    requireSomeType(context, 'group');
    if (!context.policy.allows('Group', 'r')) requireGrants(context, 'Group', 's');
  },
  async answer(context, request) {
    requireAsynchronous(request);
    const members = await readMembers(context, request.place.id);
    const asked = await readExportParameters(context, request, 'group');
    const patients = await readPatients(context, request, members);
    return await begin(context, request, withPatients(asked, patients ?? [...members]));
  },
};

function withPatients(asked: Omit<AskedExport, 'url' | 'patients'>, patients: readonly string[] | undefined) {
  return patients === undefined ? asked : { ...asked, patients };
}

function requireSomeType(context: RightsContext, level: AskedExport['level']): void {
  if (listExportTypes(context, level).length === 0)
    refuse(context, 'A bulk export', ['an access entry with search on some type']);
}

/** @throws PraxisError `header-invalid` */
function requireAsynchronous({ prefer }: OperationRequest): void {
  if (prefer.respondAsync === true) return;
  fail('header-invalid', {
    diagnostics: 'A bulk export is answered later: send Prefer: respond-async',
    expression: ['Prefer'],
  });
}

/** A Group of as many patients as an export takes; they need not exist. */
function buildLargestGroup() {
  const member = makeMany(membersMax, (n) => ({ entity: { reference: `Patient/member-${n}` } }));
  return { resourceType: 'Group', id: 'exported', type: 'person', actual: true, member };
}

/**
 * 202; Content-Location says where to ask for the files.
 * @throws PraxisError `stale-access`
 */
async function begin(
  context: InteractionContext,
  request: OperationRequest,
  asked: Omit<AskedExport, 'url'>,
): Promise<FhirResponse> {
  const { store, scope, clock, policy, baseUrl } = context;
  const createdMs = clock.now();
  // Read before the moment: all that is older has been committed by then.
  const transactionTimeMs = (await store.completeUntil(scope)) || createdMs - uncertainMs;
  const moment = await readMoment(store, scope);
  const id = makeUuid();
  const { place } = request;
  const path = ['type' in place ? place.type : [], 'id' in place ? place.id : [], '$export'].flat().join('/');
  const query = encodeQuery(request.parameters);
  const url = `${baseUrl}/${path}${query === '' ? '' : `?${query}`}`;
  const begun = { id, createdMs, transactionTimeMs, policy: policy.fingerprint, asked: { ...asked, url }, moment };
  await beginExport(store, scope, begun);
  return { status: 202, headers: { 'content-location': `${baseUrl}/$export-status?job=${id}` } };
}
