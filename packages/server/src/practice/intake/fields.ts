/**
 * A proposed change, element by element: what is proposed, what was changed meanwhile, and what a resource becomes when staff
 * have decided (docs/decisions/0197). An element is a top-level member.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue, practiceIdentifierSystems } from '@praxis/fhir';
import { listChangedMembers } from '../../engine/rights/write-rights.ts';
import { findText, listObjects } from '../../search/json-values.ts';

/** Element → its new value; null: it is to go. */
export type Proposed = Readonly<Record<string, JsonValue>>;

export type FieldDecision =
  | { readonly decision: 'accepted' | 'rejected' }
  | { readonly decision: 'edited'; readonly value: JsonValue };

/** The decision as it was kept. */
export function readDecision(kept: JsonValue): FieldDecision {
  if (!isJsonObject(kept)) throw new TypeError('a decision is kept as an object');
  const { decision, value = null } = kept;
  if (decision === 'edited') return { decision, value };
  if (decision === 'accepted' || decision === 'rejected') return { decision };
  throw new TypeError('a decision is accepted, rejected or edited');
}

/** Element → what was decided. */
export type Decided = Readonly<Record<string, FieldDecision>>;

/**
 * What the application proposes.
 * @param before the live version, or nothing
 * @param touched the elements that a patch names, whether or not they differ: what differs may be hidden from the application;
 *   undefined: all that differ
 */
export function computeProposedFields(
  before: JsonObject,
  after: JsonObject,
  touched: readonly (string | undefined)[] | undefined,
): Proposed {
  const current = withoutReconciliation(before);
  const wanted = withoutReconciliation(after);
  const isNamed = touched !== undefined && !touched.includes(undefined);
  const named = [...new Set(touched)].flatMap((member) => member ?? []).toSorted();
  const members = isNamed ? named : listChangedMembers(current, wanted);
  return Object.fromEntries(members.map((member) => [member, memberOf(wanted, member) ?? null]));
}

/**
 * Whether somebody else has changed the element since the application saw it, to something other than what is proposed.
 * @param base the version that the application changed
 */
export function isOvertaken(base: JsonObject, current: JsonObject, proposed: Proposed, field: string): boolean {
  const now = memberOf(withoutReconciliation(current), field) ?? null;
  const then = memberOf(withoutReconciliation(base), field) ?? null;
  return !isDeepStrictEqual(now, then) && !isDeepStrictEqual(now, proposed[field]);
}

/** What is there now of the element; undefined: nothing. */
export function getCurrentValue(current: JsonObject | undefined, field: string): JsonValue | undefined {
  return current === undefined ? undefined : memberOf(withoutReconciliation(current), field);
}

/**
 * The resource as it becomes: without the narrative that the application wrote for it, unless all is taken over as proposed.
 * @param current undefined: it comes into being
 */
export function applyDecisions(
  type: string,
  current: JsonObject | undefined,
  proposed: Proposed,
  decided: Decided,
  task: string,
): JsonObject {
  const members = new Map<string, JsonValue>(Object.entries(current ?? { resourceType: type }));
  const isWhole = Object.values(decided).every(({ decision }) => decision === 'accepted');
  for (const [field, decision] of Object.entries(decided)) {
    if (decision.decision === 'rejected' || (field === 'text' && !isWhole)) continue;
    const value = decision.decision === 'edited' ? decision.value : (proposed[field] ?? null);
    if (value === null) members.delete(field);
    else members.set(field, value);
  }
  if (type === 'Coverage' && current === undefined && !members.has('order') && decided['order'] === undefined)
    members.set('order', 1); // what is accepted is the primary one unless staff or the application say otherwise
  const identifiers = listObjects(Object.fromEntries(members), 'identifier').filter((each) => !isReconciliation(each));
  const kept = listObjects(current, 'identifier').filter(isReconciliation);
  const own = { system: practiceIdentifierSystems.reconciliation, value: task };
  members.set('identifier', [...identifiers, ...kept, own]);
  return { resourceType: type, ...Object.fromEntries(members) };
}

/** The numbers of proposals are the service's to write. */
function withoutReconciliation(resource: JsonObject): JsonObject {
  const { identifier, ...others } = resource;
  const left = listObjects(resource, 'identifier').filter((each) => !isReconciliation(each));
  return left.length === 0 ? others : { ...others, identifier: left };
}

function isReconciliation(identifier: JsonObject): boolean {
  return findText(identifier, 'system') === practiceIdentifierSystems.reconciliation;
}

/** Members of meta that the server writes are no part of it. */
function memberOf(resource: JsonObject, member: string): JsonValue | undefined {
  const value = Object.hasOwn(resource, member) ? resource[member] : undefined;
  if (member !== 'meta' || !isJsonObject(value)) return value;
  const { versionId, lastUpdated, ...given } = value;
  return Object.keys(given).length === 0 ? undefined : given;
}
