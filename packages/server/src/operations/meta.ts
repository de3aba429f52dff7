/**
 * $meta, $meta-add and $meta-delete: profiles, tags and security labels of a resource, and those in use ($meta: labels.ts)
 * (https://hl7.org/fhir/R4/resource-operation-meta.html, …-meta-add.html, …-meta-delete.html). A change is a version of its
 * own, as a PATCH of `meta` would be: docs/decisions/0095.
 */

import { isJsonObject, type JsonObject, type JsonValue, type Patch, parseJson } from '@praxis/fhir';
import { type Disclosed, unwrapDisclosed } from '../access/disclosure.ts';
import { toInstant } from '../base/clock.ts';
import { buildGetRequest, buildOperationRequest, makeLargePatient, makeMany } from '../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../engine/context.ts';
import { read } from '../engine/read/read.ts';
import { vread } from '../engine/read/vread.ts';
import { requireGrants } from '../engine/rights/denials.ts';
import { discloseReadable } from '../engine/rights/disclosing.ts';
import { requireValidId } from '../engine/write/build-write.ts';
import { changeResource } from '../engine/write/patch.ts';
import { requireWritable } from '../engine/write/read-only-types.ts';
import { findObject } from '../search/json-values.ts';
import { readObjectInput } from './input.ts';
import { authorizeLabels, collectLabels, labelMembers, toLabelKey } from './labels.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from './operation.ts';
import { refuseParameter } from './parameter-problem.ts';
import { buildParametersResponse } from './result.ts';

const result = declareOutput(
  'return',
  'Meta',
  'The meta of the resource; of a type or the system, the profiles, tags and security labels in use.',
);

export const meta: Operation = {
  name: 'meta',
  url: 'http://hl7.org/fhir/OperationDefinition/Resource-meta',
  worstCase: {
    because: 'the labels of all that is stored',
    request: () => buildGetRequest('$meta'),
  },
  rateUnits: ({ type, id }) => (type === '' ? 9 : id === '' ? 4 : 0), // the labels of all that is stored
  levels: ['system', 'type', 'instance'],
  types: 'all',
  ofVersions: true,
  affectsState: false,
  parameters: [result],
  authorize(context, place) {
    if (place.level === 'instance') requireGrants(context, place.type, 'r');
    else authorizeLabels(context, place);
  },
  async answer(context, request) {
    const { place } = request;
    if (place.level !== 'instance') return metaResponse(await collectLabels(context, place));
    const reading = place.versionId === undefined ? read : vread;
    const unconditional = { ...request, parameters: [], ifNoneMatch: undefined, ifModifiedSince: undefined };
    return metaResponse(metaOf((await reading.answer(context, unconditional)).body));
  },
};

export const metaAdd = changing('meta-add', 'Profiles, tags and security labels to add.', added);
export const metaDelete = changing('meta-delete', 'Profiles, tags and security labels to take away.', withoutThose);

/** What a change does to the list of one member of meta. */
type Change = (kept: readonly JsonValue[], given: readonly JsonValue[]) => readonly JsonValue[];

function manyTags(): JsonObject[] {
  return makeMany(10_000, (number) => ({ system: 'http://example.com/tags', code: `tag${number}` }));
}

function changing(name: string, documentation: string, change: Change): Operation<'instance'> {
  return {
    name,
    url: `http://hl7.org/fhir/OperationDefinition/Resource-${name}`,
    worstCase: {
      because: 'as many labels as a body holds',
      stored: () => [makeLargePatient('siege-labels', 1)],
      request: () =>
        buildOperationRequest(`Patient/siege-labels/$${name}`, [{ name: 'meta', valueMeta: { tag: manyTags() } }]),
    },
    levels: ['instance'],
    types: 'all',
    affectsState: true,
    parameters: [declareInput('meta', 'Meta', documentation, { min: 1 }), result],
    authorize(context, { type }) {
      requireWritable(type);
      requireGrants(context, type, 'u');
    },
    answer: (context, request) => answerChange(context, request, change),
  };
}

/**
 * 200 with the meta of the new version; of the current one when nothing changes.
 * @throws PraxisError `operation-parameter-invalid`, and as a PATCH
 */
async function answerChange(
  context: InteractionContext,
  request: OperationRequest,
  change: Change,
): Promise<FhirResponse> {
  requireValidId(request.id);
  const given = readObjectInput(request.input, 'meta') ?? {};
  const other = Object.keys(given).find((member) => !changeable.has(member));
  if (other !== undefined) {
    refuseParameter('meta', `has ${other.slice(0, 64)}; only profile, security and tag can be changed`);
  }
  const patch: Patch = {
    touches: [{ member: 'meta', blind: false }],
    apply: (resource) => ({ ...resource, meta: changedMeta(resource.meta, given, change) }),
  };
  const row = await changeResource(context, request, patch, { keepsUnchanged: true });
  const { versionId, lastUpdatedMs } = row;
  const shown = discloseReadable(context, row);
  const own = { versionId: String(versionId), lastUpdated: toInstant(lastUpdatedMs) };
  return { ...metaResponse(shown === undefined ? own : metaOf(shown)), versionId, lastUpdatedMs };
}

/** The server's members may be sent, since meta is read and sent back; they change nothing. */
const changeable: ReadonlySet<string> = new Set([...labelMembers, 'versionId', 'lastUpdated', 'source']);

function changedMeta(current: JsonValue | undefined, given: JsonObject, change: Change): JsonObject {
  const before = isJsonObject(current) ? current : {};
  const after: JsonObject = { ...before };
  for (const member of labelMembers) {
    const list = change(listOf(before[member]), listOf(given[member]));
    if (list.length > 0) after[member] = [...list];
    else delete after[member];
  }
  return after;
}

function added(kept: readonly JsonValue[], given: readonly JsonValue[]): readonly JsonValue[] {
  const list = [...kept];
  const known = new Set(kept.map(toLabelKey));
  for (const label of given) {
    if (!known.has(toLabelKey(label))) list.push(label);
    known.add(toLabelKey(label));
  }
  return list;
}

function withoutThose(kept: readonly JsonValue[], given: readonly JsonValue[]): readonly JsonValue[] {
  const gone = new Set(given.map(toLabelKey));
  return kept.filter((label) => !gone.has(toLabelKey(label)));
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function metaOf(body: Disclosed<string> | undefined): JsonObject {
  return (body && findObject(parseJson(unwrapDisclosed(body)), 'meta')) ?? {};
}

function metaResponse(value: JsonObject): FhirResponse {
  return buildParametersResponse([{ name: 'return', type: 'Meta', value }]);
}
