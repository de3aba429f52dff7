/**
 * $export-file: a file of a bulk export, as lines (https://hl7.org/fhir/uv/bulkdata/export.html#bulk-data-output-file-request): the
 * versions that it names, under the rights of this request.
 */
import { type Disclosed, markServerWritten } from '../../access/disclosure.ts';
import type { ElementFilter } from '../../access/mask.ts';
import { fail } from '../../base/errors.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import { type AskedExport, type BulkExport, computeExpiry } from '../../bulk-export/bulk-export.ts';
import { findFile } from '../../bulk-export/store.ts';
import { openAudit, recordGone } from '../../engine/audit-recorder.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { discloseRows } from '../../engine/rights/disclosing.ts';
import { readLastContents, readVersions, type VersionKey } from '../../storage/versions-at.ts';
import { readIntegerInput } from '../input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../operation.ts';
import { buildBinaryDocument, makeDocumentId, withAttachments } from './attachments.ts';
import { jobParameter, notesNumber, requireExport, requireExporter } from './export-status.ts';

/** Resources that one row of the ledger tells of: few are about more than one patient, and a row names a thousand. */
const rowResources = 500;

export const exportFile: Operation<'system'> = {
  name: 'export-file',
  standsAlone: true,
  url: 'https://praxis.health/fhir/OperationDefinition/export-file',
  worstCase: {
    because: 'a file of many resources',
    request: () => buildGetRequest('$export-file?job=00000000-0000-4000-8000-000000000000&file=1'),
  },
  rateUnits: 9, // as many resources as several pages
  levels: ['system'],
  types: 'all',
  affectsState: false,
  methods: ['GET', 'HEAD'],
  answers: { 200: { description: 'The resources.', headers: ['Expires'], body: 'lines' } },
  isList: true,
  parameters: [
    jobParameter,
    declareInput('file', 'integer', 'Which file, as the manifest says.', { min: 1 }),
    declareOutput('return', 'Bundle', 'The resources, one a line.'),
  ],
  authorize: requireExporter,
  answer,
};

/** 200 with lines. @throws PraxisError `resource-not-found`, `export-ended`, `operation-parameter-invalid` */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const begun = await requireExport(context, request);
  const number = readIntegerInput(request.input, 'file') ?? 0;
  const resources = number === notesNumber ? listNotes(begun.asked) : await readFile(context, begun, number);
  if (resources === undefined) {
    return fail('resource-not-found', {
      diagnostics: `The export has no file ${number}: the manifest lists its files`,
      expression: ['file'],
    });
  }
  return {
    status: 200,
    body: markServerWritten('{}'),
    list: { resources, omitted: 0, links: [], isLinesOnly: true },
    headers: { expires: new Date(computeExpiry(begun)).toUTCString() },
  };
}

/** One OperationOutcome for each parameter that was ignored; undefined: none was. */
function listNotes({ notes }: AskedExport): readonly Disclosed<string>[] | undefined {
  return notes?.map((diagnostics) => {
    const issue = [{ severity: 'warning', code: 'not-supported', diagnostics }];
    return markServerWritten(JSON.stringify({ resourceType: 'OperationOutcome', issue }));
  });
}

/** The lines of a file; undefined: there is no such file. */
async function readFile(
  context: InteractionContext,
  { id, asked }: BulkExport,
  number: number,
): Promise<readonly Disclosed<string>[] | undefined> {
  const file = await findFile(context.store, context.scope, id, number);
  if (file === undefined) return undefined;
  const { type, asDocuments, content } = file;
  const told = asDocuments ? 'DocumentReference' : type;
  if ('gone' in content) {
    await recordGoneFor(context, type, content.gone);
    return [buildDeletions(told, asDocuments ? content.gone.map(makeDocumentId) : content.gone)];
  }
  const { elements } = asked;
  const filter: ElementFilter = elements === undefined ? {} : { elements: new Set(elements) };
  if (!asDocuments) return await disclose(context, type, content.keys, filter);
  const binaries = await disclose(context, type, content.keys, {});
  return binaries.map((binary) => buildBinaryDocument(context, binary, filter));
}

async function disclose(
  context: InteractionContext,
  type: string,
  keys: readonly VersionKey[],
  filter: ElementFilter,
): Promise<readonly Disclosed<string>[]> {
  const versions = await readVersions(context.store, context.scope, type, keys);
  const lines: Disclosed<string>[] = [];
  for (let first = 0; first < versions.length; first += rowResources) {
    const audit = openAudit(withAttachments(context, type), {
      interaction: '$export-file',
      type,
      id: '',
      versionId: '',
    });
    const shown = await discloseRows(audit.inside, 's', versions.slice(first, first + rowResources), filter);
    audit.answered({ status: 200 });
    lines.push(...shown.map(({ resource }) => resource));
  }
  return lines;
}

/** The ledger tells whom the deletions are about, as it does of resources. */
async function recordGoneFor(context: InteractionContext, type: string, ids: readonly string[]): Promise<void> {
  for (let first = 0; first < ids.length; ) {
    const audit = openAudit(context, { interaction: '$export-file', type, id: '', versionId: '' });
    const asked = ids.slice(first, first + rowResources);
    const { versions, taken } = await readLastContents(context.store, context.scope, type, asked);
    recordGone(audit.inside, versions);
    audit.answered({ status: 200 });
    first += taken;
  }
}

/** A Bundle whose requests a copy carries out: https://hl7.org/fhir/uv/bulkdata/export.html#response---complete-status. */
function buildDeletions(type: string, ids: readonly string[]): Disclosed<string> {
  const entry = ids.map((id) => ({ request: { method: 'DELETE', url: `${type}/${id}` } }));
  return markServerWritten(JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }));
}
