/**
 * $meta of a type and of the system: the profiles, tags and security labels in use
 * (https://hl7.org/fhir/R4/resource-operation-meta.html). Who sees which: docs/decisions/0140.
 */
import {
  type BudgetedWork,
  getSearchParameters,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  resourceTypesWithEndpoint,
} from '@praxis/fhir';
import { unwrapDisclosed } from '../access/disclosure.ts';
import { listSearchEntries } from '../access/explain.ts';
import { searchGrants } from '../access/policy.ts';
import { fail } from '../base/errors.ts';
import type { InteractionContext } from '../engine/context.ts';
import { type RightsContext, refuse } from '../engine/rights/denials.ts';
import { discloseRow, pauseBetweenRows } from '../engine/rights/disclosing.ts';
import { buildSearchRights } from '../engine/search/searching.ts';
import { makeTooCostlyError } from '../limits/budgets.ts';
import { labelCodes, planLabels } from '../search/index/labels.ts';
import { findObject } from '../search/json-values.ts';
import { pageBytesMax } from '../search/sql/page-bytes.ts';
import { countBytes } from '../storage/store.ts';
import type { PlaceAt } from './operation.ts';

/** Labels that one answer tells, at most. */
const labelsMax = 500;

const readingLabels: BudgetedWork = {
  what: 'Reading the resources that have the labels',
  cheaper: 'ask the types one by one, or search by the labels that you know',
};

/** The members of Meta that are labels. */
export const labelMembers = ['profile', 'security', 'tag'] as const;
type LabelMember = (typeof labelMembers)[number];

/** By member and identity: the label as the first resource that was looked at has it. */
type Labels = Readonly<Record<LabelMember, Map<string, JsonValue>>>;

/** What the labels in use are asked of. */
type LabelledPlace = PlaceAt<'system' | 'type'>;

function typesAt(place: LabelledPlace): readonly string[] {
  return place.level === 'type' ? [place.type] : resourceTypesWithEndpoint;
}

/**
 * Passes those who may search the type, or one type where the system is asked.
 * @throws PraxisError `access-denied`
 */
export function authorizeLabels(context: RightsContext, place: LabelledPlace): void {
  const types = typesAt(place);
  if (types.some((each) => groupsOf(context, each).length > 0)) return;
  if (place.level === 'type') buildSearchRights(context).refuse(place.type, definitionsOf(place.type));
  refuse(context, '$meta', listSearchEntries(types));
}

/**
 * The labels on resources of the type, or of all types that the caller may search, that it would find by searching.
 * @throws PraxisError `labels-too-many`, `too-costly`, `statement-timeout`
 */
export async function collectLabels(context: InteractionContext, place: LabelledPlace): Promise<JsonObject> {
  const labels: Labels = { profile: new Map(), security: new Map(), tag: new Map() };
  let bytesLeft = pageBytesMax;
  for (const each of typesAt(place)) {
    bytesLeft -= await addLabelsOf(context, each, labels, Math.max(0, bytesLeft));
    if (labelMembers.reduce((sum, member) => sum + labels[member].size, 0) > labelsMax) refuseMany(place);
  }
  return metaWith(labels);
}

/** R4: system and code of a tag or label, the whole URL of a profile. */
export function toLabelKey(label: JsonValue): string {
  return isJsonObject(label) ? JSON.stringify([label.system ?? '', label.code ?? '']) : JSON.stringify(label);
}

/** @returns bytes of the resources that were read */
async function addLabelsOf(context: InteractionContext, type: string, labels: Labels, bytesMax: number) {
  const groups = groupsOf(context, type);
  if (groups.length === 0) return 0;
  const mandatory = groups.map(({ criteria }) => criteria);
  const statement = planLabels(context.scope, type, mandatory, { labelsMax: labelsMax + 1, bytesMax });
  const rows = await context.store.selectPage(context.scope, statement);
  if (rows.some(({ deleted }) => deleted))
    throw makeTooCostlyError({ ...readingLabels, limit: 'bytes', max: pageBytesMax });
  for (const row of rows) {
    await pauseBetweenRows(context);
    const shown = discloseRow(context, 's', row, {});
    if (shown !== undefined) addLabels(findObject(parseJson(unwrapDisclosed(shown)), 'meta') ?? {}, labels);
  }
  return countBytes(rows);
}

function addLabels(meta: JsonObject, labels: Labels): void {
  for (const member of labelMembers) {
    const given = meta[member];
    for (const label of Array.isArray(given) ? given : []) {
      const identity = toLabelKey(label);
      if (label === null || identity === subsetted || labels[member].has(identity)) continue;
      labels[member].set(identity, label);
    }
  }
}

/** Says of an answer that it is not whole, and is no label of what is stored. */
const subsetted = toLabelKey({
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
});

/** The search grants by which all labels of the type can be searched. */
function groupsOf({ policy }: RightsContext, type: string) {
  return searchGrants(policy, type, definitionsOf(type));
}

function definitionsOf(type: string) {
  const known = getSearchParameters(type);
  return labelCodes.flatMap((code) => known.get(code) ?? []);
}

/** A Meta, since R4 demands one: without labels it says so, as JSON knows no empty object. */
function metaWith(labels: Labels): JsonObject {
  const found = labelMembers.filter((member) => labels[member].size > 0);
  if (found.length === 0) return { extension: [{ url: dataAbsentReason, valueCode: 'not-applicable' }] };
  return Object.fromEntries(found.map((member) => [member, sorted(labels[member])]));
}

const dataAbsentReason = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason';

function sorted(labels: ReadonlyMap<string, JsonValue>): JsonValue[] {
  return [...labels.keys()].sort().flatMap((identity) => labels.get(identity) ?? []);
}

function refuseMany({ level }: LabelledPlace): never {
  const narrower = level === 'system' ? 'ask the types one by one' : 'search by the labels that you know';
  return fail('labels-too-many', {
    diagnostics: `More than ${labelsMax} profiles, tags and security labels are in use: ${narrower}`,
  });
}
