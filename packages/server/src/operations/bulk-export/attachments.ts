/**
 * Content of documents in a bulk export (https://hl7.org/fhir/uv/bulkdata/export.html#attachments): a URL that leads to the bytes
 * with the token of the export, for who may read the resource; and Binaries that belong to somebody, as DocumentReferences
 * (docs/decisions/0314).
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '@praxis/fhir';
import { type Disclosed, markServerWritten, unwrapDisclosed } from '../../access/disclosure.ts';
import { withoutMember } from '../../access/json-members.ts';
import type { ElementFilter } from '../../access/mask.ts';
import { fail } from '../../base/errors.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { refuseNotFound, requireGrants } from '../../engine/rights/denials.ts';
import { discloseRow } from '../../engine/rights/disclosing.ts';
import { findText } from '../../search/json-values.ts';
import { isResourceType } from '../../search/numbers.ts';
import { readTextInput } from '../input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { requireExporter } from './export-status.ts';

export const exportAttachment: Operation<'system'> = {
  name: 'export-attachment',
  standsAlone: true,
  url: 'https://praxis.health/fhir/OperationDefinition/export-attachment',
  worstCase: {
    because: 'reads a resource by its key',
    request: ({ patient }) =>
      buildGetRequest(`$export-attachment?of=Patient/${patient}&content=00000000-0000-4000-8000-000000000000`),
  },
  levels: ['system'],
  types: 'all',
  affectsState: false,
  methods: ['GET', 'HEAD'],
  answers: { 302: { description: 'Where the content lies, for some minutes.', headers: ['Location'] } },
  parameters: [
    declareInput('of', 'string', 'The resource that holds the content, as Type/id.', { min: 1 }),
    declareInput('content', 'string', 'The id of the content.', { min: 1 }),
    declareOutput('return', 'Binary', 'Nothing: Location leads to the content.'),
  ],
  authorize: requireExporter,
  answer,
};

const holderPattern = /^([A-Z][A-Za-z]{0,63})\/([A-Za-z0-9\-.]{1,64})$/;
const contentPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * 302 to a URL of the content that ends soon, as a read of the resource has it: with the rights of now.
 * @throws PraxisError `access-denied`, `resource-not-found` (also where the resource holds no such content, or does not show it),
 *   `operation-parameter-invalid`
 */
async function answer(context: InteractionContext, { input }: OperationRequest): Promise<FhirResponse> {
  const [, type, id] = holderPattern.exec(readTextInput(input, 'of') ?? '') ?? [];
  if (type === undefined || id === undefined || !isResourceType(type))
    return refuseParameter('of', 'takes a resource such as DocumentReference/23');
  const content = readTextInput(input, 'content') ?? '';
  if (!contentPattern.test(content))
    refuseParameter('content', 'takes the id of content, as files of an export have it');
  requireGrants(context, type, 'r');
  const row = await context.store.read(context.scope, type, id);
  const shown = row === undefined || row.deleted ? undefined : discloseRow(context, 'r', row, {});
  if (shown === undefined) return refuseNotFound(type, id);
  const url = findUrl(unwrapDisclosed(shown), `/content/${content}?`);
  if (url === undefined) {
    return fail('resource-not-found', {
      diagnostics: `${type}/${id} has no such content any more: export it again`,
      expression: ['content'],
    });
  }
  return { status: 302, headers: { location: url } };
}

/** The string of a JSON text that has `part` in it; URLs have nothing that is escaped. */
function findUrl(text: string, part: string): string | undefined {
  const at = text.indexOf(part);
  return at < 0 ? undefined : text.slice(text.lastIndexOf('"', at) + 1, text.indexOf('"', at));
}

/**
 * The context in which resources of a type are shown in a file. Who may read them gets URLs of their content that lead there as
 * long as the token does.
 */
export function withAttachments(context: InteractionContext, type: string): InteractionContext {
  if (!context.policy.allows(type, 'r')) return context;
  const contentUrlOf = (holder: string, content: string): string =>
    `${context.baseUrl}/$export-attachment?of=${holder}&content=${content}`;
  return { ...context, contentUrlOf };
}

/** The id of the DocumentReference that stands for a Binary: no other resource has it. */
export function makeDocumentId(binary: string): string {
  return `binary-${createHash('sha256').update(binary).digest('hex').slice(0, 40)}`;
}

/**
 * A Binary that was disclosed, as a DocumentReference of whom it belongs to. Who may read Binaries gets a URL, others the data.
 * @param filter of the members that are not mandatory
 */
export function buildBinaryDocument(
  { policy, baseUrl }: Pick<InteractionContext, 'policy' | 'baseUrl'>,
  binary: Disclosed<string>,
  { elements }: ElementFilter,
): Disclosed<string> {
  const hasUrl = policy.allows('Binary', 'r');
  const text = unwrapDisclosed(binary);
  const { id, meta, contentType, data, securityContext }: JsonObject = JSON.parse(
    hasUrl ? withoutMember(text, 'data') : text,
  );
  const reference = typeof securityContext === 'object' && securityContext !== null ? securityContext : {};
  const isOfPatient = /(?:^|\/)Patient\/[^/]+$/.test(findText(reference, 'reference') ?? '');
  const owner = isOfPatient ? { subject: reference } : { context: { related: [reference] } };
  const isWanted = ([name]: readonly [string, unknown]): boolean => elements?.has(name) ?? true;
  return markServerWritten(
    JSON.stringify({
      resourceType: 'DocumentReference',
      id: makeDocumentId(String(id)),
      ...(meta === undefined ? {} : { meta }),
      status: 'current',
      ...Object.fromEntries(Object.entries(owner).filter(isWanted)),
      content: [{ attachment: { contentType, ...(hasUrl ? { url: `${baseUrl}/Binary/${String(id)}` } : { data }) } }],
    }),
  );
}
