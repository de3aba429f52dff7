/**
 * $document: a Composition with all that it refers to, as one document
 * (https://hl7.org/fhir/R4/composition-operation-document.html, https://hl7.org/fhir/R4/documents.html).
 */

import { type JsonObject, parseJson } from '@praxis/fhir';
import { type Disclosed, unwrapDisclosed } from '../access/disclosure.ts';
import { toInstant } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import { makeUuid } from '../base/ids.ts';
import { buildGetRequest, makeLargePatient, makeMany } from '../base/worst-case.ts';
import { buildBundleText } from '../engine/bundle-text.ts';
import type { FhirResponse, InteractionContext } from '../engine/context.ts';
import { dispatch } from '../engine/dispatch.ts';
import { listLocalReferences } from '../engine/read/linked-resources.ts';
import { read } from '../engine/read/read.ts';
import { requireGrants } from '../engine/rights/denials.ts';
import { discloseReadable } from '../engine/rights/disclosing.ts';
import { readBooleanInput, readTextInput } from './input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from './operation.ts';
import { refuseParameter } from './parameter-problem.ts';
import { buildResourceResponse } from './result.ts';

/** Resources of one document, at most. */
const resourcesMax = 500;

/** References followed one after another from the Composition. */
const depthMax = 3;

const partsMax = 40;
const partOf = (number: number): string => `siege-part-${number % partsMax}`;

function costlyComposition(): JsonObject {
  return {
    resourceType: 'Composition',
    id: 'siege-document',
    status: 'final',
    type: { text: 'All' },
    date: '2026-01-01',
    author: [{ display: 'The practice' }],
    title: 'All',
    section: makeMany(400, (number) => ({
      title: `Part ${number}`,
      entry: [{ reference: `Patient/${partOf(number)}` }],
    })),
  };
}

export const document: Operation = {
  name: 'document',
  url: 'http://hl7.org/fhir/OperationDefinition/Composition-document',
  worstCase: {
    because: 'a composition whose sections refer to all that there is',
    stored: () => [...makeMany(partsMax, (number) => makeLargePatient(partOf(number), 100)), costlyComposition()],
    request: () => buildGetRequest('Composition/siege-document/$document'),
  },
  rateUnits: 4,
  levels: ['type', 'instance'],
  types: ['Composition'],
  affectsState: false,
  parameters: [
    declareInput('id', 'uri', 'Id or URL of the Composition, at type level.'),
    declareInput('persist', 'boolean', 'Whether to store it as a Bundle.'),
    declareOutput('return', 'Bundle', 'The document.'),
  ],
  authorize: (context) => requireGrants(context, 'Composition', 'r'),
  answer,
};

/**
 * 200 with the document; with `persist` the location of the Bundle that was stored.
 * @throws PraxisError `resource-not-found`, `resource-deleted`, `access-denied` (a type that the Composition refers to, or
 *   storing Bundles), `rule-broken` (a reference that leads nowhere the caller can see, too many resources)
 */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const id = compositionId(context, request);
  const unconditional = { ...request, id, parameters: [], ifNoneMatch: undefined, ifModifiedSince: undefined };
  const { body: composition } = await read.answer(context, unconditional);
  if (composition === undefined) throw new TypeError('a read without conditions has a body');
  const persist = readBooleanInput(request.input, 'persist') === true;
  const resources = await withReferences(context, `Composition/${id}`, composition);
  const now = toInstant(context.clock.now());
  const bundleId = makeUuid();
  const body = buildBundleText({
    type: 'document',
    id: bundleId,
    lastUpdated: now,
    document: { identifier: { system: 'urn:ietf:rfc:3986', value: `urn:uuid:${bundleId}` }, timestamp: now },
    links: [],
    entries: [...resources].map(([name, resource]) => ({ fullUrl: `${context.baseUrl}/${name}`, resource })),
  });
  return persist ? stored(context, request, body) : buildResourceResponse(body);
}

/** R4: an id or a URL, and at type level only. @throws PraxisError `operation-parameter-invalid` */
function compositionId({ baseUrl }: InteractionContext, { place, input }: OperationRequest): string {
  const asked = readTextInput(input, 'id');
  if (place.level === 'instance') {
    if (asked !== undefined) refuseParameter('id', 'is taken at type level only: the path names the Composition');
    return place.id;
  }
  if (asked === undefined) return refuseParameter('id', 'is missing: it names the Composition');
  const before = `${baseUrl}/Composition/`;
  const own = asked.startsWith(before) ? asked.slice(before.length) : asked;
  if (!/^[A-Za-z0-9\-.]{1,64}$/.test(own)) refuseParameter('id', 'takes the id of a Composition, or its URL here');
  return own;
}

/** `Type/id` → the resource as the caller may read it, the Composition first. */
async function withReferences(
  context: InteractionContext,
  name: string,
  composition: Disclosed<string>,
): Promise<ReadonlyMap<string, Disclosed<string>>> {
  const resources = new Map([[name, composition]]);
  let from: readonly Disclosed<string>[] = [composition];
  for (let depth = 1; depth <= depthMax && from.length > 0; depth += 1) {
    const names = new Set(
      from.flatMap((text) => listLocalReferences(context, text)).filter((each) => !resources.has(each)),
    );
    const found: Disclosed<string>[] = [];
    for (const each of names) {
      // What the Composition itself refers to has to be there; what lies behind it comes as far as it can be seen.
      const resource = await readable(context, each, depth === 1);
      if (resource === undefined) continue;
      if (resources.size >= resourcesMax) {
        refuseDocument(`The document would hold more than ${resourcesMax} resources, the limit of one document`);
      }
      resources.set(each, resource);
      found.push(resource);
    }
    from = found;
  }
  return resources;
}

async function readable(context: InteractionContext, name: string, isRequired: boolean) {
  const [type = '', id = ''] = name.split('/');
  const isOpen = context.policy.allows(type, 'r') || context.policy.allows(type, 's');
  if (!isOpen && isRequired) requireGrants(context, type, 'r'); // says which entry is missing
  if (!isOpen) return undefined;
  const row = await context.store.read(context.scope, type, id);
  const resource = row === undefined || row.deleted ? undefined : discloseReadable(context, row);
  if (resource === undefined && isRequired) {
    refuseDocument(
      `The Composition refers to ${name}, which is not known: a document has to hold all that its Composition refers to`,
    );
  }
  return resource;
}

function refuseDocument(diagnostics: string): never {
  return fail('rule-broken', { diagnostics, expression: ['Composition'] });
}

/** Stores the document by the interaction that stores any Bundle, with its rights and checks. */
async function stored(context: InteractionContext, request: OperationRequest, body: Disclosed<string>) {
  const bundle = parseJson(unwrapDisclosed(body));
  const place = { type: 'Bundle', id: '', versionId: '' };
  const created = await dispatch(context, {
    interaction: 'create',
    ...place,
    open: async () => ({ ...request, ...place, ifNoneExist: undefined, body: async () => bundle }),
  });
  return { ...created, status: 200 };
}
