/**
 * POST of a Binary without content answers with a URL that a file can be uploaded by, once and without any header, for a
 * while (docs/decisions/0192). acl/bnry_c_url allows that and nothing else of Binary.
 */

import { isJsonObject, type JsonObject, type JsonValue, type StepBudget } from '@praxis/fhir';
import { type Disclosed, markServerWritten } from '../../access/disclosure.ts';
import { explainDenial } from '../../access/explain.ts';
import { toInstant } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import { isTaken, mediaTypes } from '../../content/media-types.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from '../../engine/context.ts';
import type { ResourceHooks } from '../../engine/hooks.ts';
import { denyAccess } from '../../engine/rights/denials.ts';
import { requireResource } from '../../engine/write/build-write.ts';
import { buildContentLinkUrl, linkEndMs } from './content-links.ts';
import { buildContentBase } from './content-urls.ts';
import { offerUpload, type UploadOffer } from './store.ts';

/** Contents of one application at one firm that no resource holds: those asked for, and those uploaded. */
export const looseMax = 1_000;

/** A create of a Binary may ask for a URL rather than create something. */
export const uploadHooks: ResourceHooks = {
  types: ['Binary'],
  replaceCreate: { isAllowed: (policy) => policy.mayRequestUploadUrl, answer: uploadUrlFor },
};

/**
 * The answer where the request asks for a URL; undefined: it is a create. Without any body it asks for one only where the
 * caller can mean nothing else.
 * @throws PraxisError `access-denied`, `resource-invalid`, `media-type-unsupported`, `conflict`
 */
async function uploadUrlFor(context: InteractionContext, request: FhirRequest): Promise<FhirResponse | undefined> {
  if (request.newId !== undefined) return undefined; // an entry of a transaction, which others may refer to
  const mayCreate = context.policy.allows('Binary', 'c');
  if (!mayCreate && (await request.isBodyEmpty?.())) return await offer(context, request);
  const body = await request.body();
  if (context.settings.uploadUrlInOutcome && isEmptyObject(body)) return await offer(context, request);
  if (isJsonObject(body) && body['resourceType'] === 'Binary' && body['data'] === undefined)
    return await offer(context, request, announcedType(body, context.budget));
  if (mayCreate) return undefined;
  return denyAccess(
    `acl/bnry_c_url asks for a URL and stores nothing here: send {"resourceType":"Binary","contentType":"…"} or no body, then PUT the file to the URL of the answer. ${explainDenial(context.policy, 'Binary', 'c').diagnostics}`,
  );
}

/** The Binary whose content is `{}`: what those who read the URL from an issue send. */
function isEmptyObject(body: JsonValue): boolean {
  return isJsonObject(body) && body['data'] === emptyObject;
}

const emptyObject = Buffer.from('{}').toString('base64');

/** @throws PraxisError `resource-invalid`, `media-type-unsupported` */
function announcedType(body: JsonObject, budget: StepBudget): string | undefined {
  if (Object.keys(body).length === 1) return undefined;
  const { contentType } = requireResource(body, 'Binary', budget);
  const type = String(contentType).split(';')[0]?.trim().toLowerCase() ?? '';
  if (isTaken(type)) return type;
  return fail('media-type-unsupported', {
    diagnostics: `Binary.contentType is not supported. Supported: ${mediaTypes.join(', ')}`,
    expression: ['Binary.contentType'],
  });
}

async function offer(context: InteractionContext, request: FhirRequest, announced?: string): Promise<FhirResponse> {
  const { store, scope, clock, limits, baseUrl } = context;
  const made: UploadOffer = {
    id: makeUuid(),
    createdMs: clock.now(),
    expiresMs: linkEndMs(context),
    sizeMax: limits.uploadBytesMax,
    announcedType: announced,
  };
  if (!(await offerUpload(store, scope, made, looseMax))) {
    fail('conflict', {
      diagnostics: `${looseMax} uploads of this application wait for a resource that holds them: name them in resources; others are removed a day after they were asked for`,
    });
  }
  const url = buildContentLinkUrl(context, made.id, { purpose: 'upload', holder: '' });
  const facts = { status: 201, location: url };
  if (request.prefer.return === 'minimal') return facts;
  if (context.settings.uploadUrlInOutcome) return { ...facts, body: buildUrlOutcome(url, made.expiresMs) };
  const parameter = [
    { name: 'url', valueUrl: url },
    { name: 'expires', valueInstant: toInstant(made.expiresMs) },
    { name: 'sizeMax', valueInteger: Math.min(made.sizeMax, integerMax) },
    ...(announced === undefined ? [] : [{ name: 'contentType', valueCode: announced }]),
    { name: 'attachment', valueUrl: `${buildContentBase(baseUrl)}/${made.id}` },
  ];
  return { ...facts, body: markServerWritten(JSON.stringify({ resourceType: 'Parameters', parameter })) };
}

/** For applications that read the URL from the first issue (docs/decisions/0339). */
function buildUrlOutcome(url: string, expiresMs: number): Disclosed<string> {
  const diagnostics = `PUT the file to this URL until ${toInstant(expiresMs)}`;
  const issue = [{ severity: 'information', code: 'informational', details: { text: url }, diagnostics }];
  return markServerWritten(JSON.stringify({ resourceType: 'OperationOutcome', issue }));
}

/** https://hl7.org/fhir/R4/datatypes.html#integer */
const integerMax = 2_147_483_647;
