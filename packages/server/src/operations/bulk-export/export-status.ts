/**
 * $export-status: how far a bulk export is, and its manifest (https://hl7.org/fhir/uv/bulkdata/export.html#bulk-data-status-request);
 * by DELETE it is removed (#bulk-data-delete-request). Content-Location of the kick-off leads here.
 */
import { markServerWritten } from '../../access/disclosure.ts';
import { toInstant } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import { type BulkExport, computeExpiry, isPlanned } from '../../bulk-export/bulk-export.ts';
import { planPortion } from '../../bulk-export/planning.ts';
import { findExport, listFiles, removeExport } from '../../bulk-export/store.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { type RightsContext, refuse } from '../../engine/rights/denials.ts';
import { readTextInput } from '../input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { listExportTypes } from './parameters.ts';

/** When the next look is worth it, in seconds: each plans a portion. */
const retrySeconds = 1;

/** Number of the file that tells what was ignored; those of resources follow. */
export const notesNumber = 0;

/** The parameter of the status and of files that names the export. */
export const jobParameter = declareInput('job', 'string', 'Which export, as Content-Location of $export says.', {
  min: 1,
});

const shared = {
  name: 'export-status',
  standsAlone: true,
  levels: ['system'],
  types: 'all',
  authorize: requireExporter,
} satisfies Partial<Operation<'system'>>;

export const exportStatus: Operation<'system'> = {
  ...shared,
  url: 'https://praxis.health/fhir/OperationDefinition/export-status',
  worstCase: { because: 'a portion of planning', request: () => buildGetRequest(`$export-status?job=${unknownJob}`) },
  rateUnits: 4,
  affectsState: false,
  methods: ['GET'],
  answers: {
    200: { description: 'The manifest: which files there are.', headers: ['Expires'], body: 'json' },
    202: { description: 'Files are still planned.', headers: ['X-Progress', 'Retry-After'] },
  },
  parameters: [jobParameter, declareOutput('return', 'Binary', 'The manifest, as JSON; 202 while files are planned.')],
  answer: answerStatus,
};

export const exportRemoval: Operation<'system'> = {
  ...shared,
  url: 'https://praxis.health/fhir/OperationDefinition/export-removal',
  worstCase: {
    because: 'removes some rows by their keys',
    request: () => ({ method: 'DELETE', path: `$export-status?job=${unknownJob}` }),
  },
  affectsState: true,
  methods: ['DELETE'],
  answers: { 202: { description: 'The export is removed.', headers: [] } },
  parameters: [jobParameter, declareOutput('return', 'Parameters', 'Nothing: 202.', { min: 0 })],
  answer: answerRemoval,
};

const unknownJob = '00000000-0000-4000-8000-000000000000';

/** Whoever may export anything. @throws PraxisError `access-denied` */
export function requireExporter(context: RightsContext): void {
  if (listExportTypes(context, 'system').length === 0)
    refuse(context, 'A bulk export', ['an access entry with search on some type']);
}

/** @throws PraxisError `resource-not-found`, `export-ended`, `operation-parameter-invalid` */
async function answerStatus(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  // Where others plan at the same time, or the export was removed, it is read again.
  await planPortion(context, await requireExport(context, request));
  const found = await requireExport(context, request);
  if (!isPlanned(found)) {
    const progress = `${found.planned.files} files planned`;
    return { status: 202, headers: { 'x-progress': progress, 'retry-after': String(retrySeconds) } };
  }
  const manifest = await buildManifest(context, found);
  const expires = new Date(computeExpiry(found)).toUTCString();
  return { status: 200, body: markServerWritten(JSON.stringify(manifest)), isPlainJson: true, headers: { expires } };
}

async function buildManifest({ store, scope, baseUrl }: InteractionContext, found: BulkExport) {
  const { id, asked, transactionTimeMs } = found;
  const files = await listFiles(store, scope, id);
  const urlOf = (number: number): string => `${baseUrl}/$export-file?job=${id}&file=${number}`;
  const listed = files.map(({ number, type, asDocuments, isOfGone, resources }) => ({
    type: isOfGone ? 'Bundle' : asDocuments ? 'DocumentReference' : type,
    url: urlOf(number),
    count: isOfGone ? 1 : resources,
  }));
  const { notes = [] } = asked;
  const error = notes.length === 0 ? [] : [{ type: 'OperationOutcome', url: urlOf(notesNumber), count: notes.length }];
  const output = listed.filter((_, at) => files[at]?.isOfGone === false);
  const deleted = listed.filter((_, at) => files[at]?.isOfGone === true);
  return {
    transactionTime: toInstant(transactionTimeMs),
    request: asked.url,
    requiresAccessToken: true,
    output,
    ...(asked.sinceMs === undefined ? {} : { deleted }),
    error,
  };
}

/** 202, as the guide says: nothing can be fetched any more. @throws PraxisError `resource-not-found` */
async function answerRemoval({ store, scope }: InteractionContext, { input }: OperationRequest): Promise<FhirResponse> {
  if (!(await removeExport(store, scope, readJob(input)))) refuseUnknownExport();
  return { status: 202 };
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function readJob(input: OperationRequest['input']): string {
  const job = readTextInput(input, 'job') ?? '';
  if (!uuidPattern.test(job)) refuseParameter('job', 'takes the id in Content-Location of $export');
  return job;
}

/**
 * The export that the request names, of this application and under the rights of this request.
 * @throws PraxisError `resource-not-found`, `export-ended`, `operation-parameter-invalid`
 */
export async function requireExport(
  { store, scope, clock, policy }: InteractionContext,
  { input }: OperationRequest,
): Promise<BulkExport> {
  const found = await findExport(store, scope, readJob(input), clock.now());
  if (found === undefined) return refuseUnknownExport();
  if (found.policy === policy.fingerprint) return found;
  return fail('export-ended', {
    diagnostics:
      'The rights of the token differ from those that the export was begun under: fetch it with a token of the same scope, or begin another one',
    expression: ['job'],
  });
}

function refuseUnknownExport(): never {
  return fail('resource-not-found', {
    diagnostics: 'The application has no such export at this firm, or it has expired: begin another one',
    expression: ['job'],
  });
}
