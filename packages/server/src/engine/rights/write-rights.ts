/**
 * What a writer may write: rows that meet the criteria of a grant of the letter, before and after, and in them the
 * elements that these grants name. A refusal names the element (docs/decisions/0158).
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@praxis/fhir';
import { parseStored, type Stored } from '../../access/disclosure.ts';
import { describeNextStep, listGrantingEntries } from '../../access/explain.ts';
import { compileWritable } from '../../access/mask.ts';
import type { Criterion } from '../../access/policy.ts';
import type { ResourceWrite } from '../../storage/store.ts';
import type { FhirCall, InteractionContext } from '../context.ts';
import { denyAccess, refuseNotFound } from './denials.ts';
import { compileCriterionTest } from './disclosing.ts';

type WritePermission = 'c' | 'u';
type Writable = (member: string) => boolean;

/** Members of meta that the server writes whatever is sent. */
const stamped: ReadonlySet<string> = new Set(['versionId', 'lastUpdated']);

/**
 * Passes when the caller may create what `write` stores: its rows, and every element in it.
 * @throws PraxisError `access-denied` naming the first element that it may not write
 */
export function requireCreatable(context: InteractionContext, write: ResourceWrite): void {
  const writable = writableAfter(context, 'c', write);
  if (writable !== undefined)
    requireOnly(context, 'c', write.type, listChangedMembers({}, writtenValue(write)), writable);
}

/**
 * Passes when the caller may replace `before` by what `write` stores. For those who read all of what they may update: what
 * differs tells what was there. `before` undefined: it comes into being.
 * @throws PraxisError `access-denied` (the new version leaves the caller's rows, or an element that it may not write differs)
 */
export function requireReplaceable(
  context: InteractionContext,
  before: Stored | undefined,
  write: ResourceWrite,
): void {
  const after = writableAfter(context, 'u', write);
  if (after === undefined || before === undefined) return;
  const current = compileWritable(context.policy, 'u', write.type, compileCriterionTest(context, write.type, before));
  const changed = listChangedMembers(parseStored(before), writtenValue(write));
  requireOnly(context, 'u', write.type, changed, (member) => current?.(member) === true && after(member));
}

/**
 * Passes when the caller may write every member that a change touches on the row as it is (`covered`): whether that
 * changes anything depends on what is there, and so is not asked. `undefined` among `touched` stands for the whole
 * resource.
 * @throws PraxisError `access-denied` naming the element, `resource-not-found` (the row is none that the caller may update)
 */
export function requireTouchable(
  context: InteractionContext,
  { type, id }: Pick<FhirCall, 'type' | 'id'>,
  covered: (criterion: Criterion) => boolean,
  touched: readonly (string | undefined)[],
): void {
  const writable = compileWritable(context.policy, 'u', type, covered);
  if (writable === undefined) return refuseNotFound(type, id);
  requireOnly(context, 'u', type, touched, writable);
}

/** The same of the row as it becomes. @throws PraxisError `access-denied` */
export function requireTouched(
  context: InteractionContext,
  write: ResourceWrite,
  touched: readonly (string | undefined)[],
): void {
  const writable = writableAfter(context, 'u', write);
  if (writable !== undefined) requireOnly(context, 'u', write.type, touched, writable);
}

/** What may be written of the row that is about to be stored; undefined for a deletion, which is not asked here. */
function writableAfter(
  context: InteractionContext,
  letter: WritePermission,
  write: ResourceWrite,
): Writable | undefined {
  const { type, content } = write;
  if (content === null) return undefined;
  const writable = compileWritable(context.policy, letter, type, compileCriterionTest(context, type, content));
  return writable ?? refuseRows(context, letter, type);
}

function refuseRows(context: InteractionContext, letter: WritePermission, type: string): never {
  const rows = context.policy
    .grants(type, letter)
    .map(({ criteria }) => criteria.map(({ parameter, values }) => `${parameter}=${values.join(',')}`).join('&'));
  const what = letter === 'c' ? `Creating ${type} outside` : `Changing ${type} out`;
  const entries = listGrantingEntries(context.policy, type, letter);
  return denyAccess(
    `${what} of the rows that the application may write (${rows.join(' or ')}) needs ${entries.join(' or ')} without such a limit; ${describeNextStep(context.policy, entries)}`,
  );
}

function requireOnly(
  context: InteractionContext,
  letter: WritePermission,
  type: string,
  members: readonly (string | undefined)[],
  writable: Writable,
): void {
  const grants = context.policy.grants(type, letter);
  if (grants.every(({ elements }) => elements === 'all')) return;
  const refused = members.find((member) => member === undefined || !writable(member));
  if (refused === undefined && !members.includes(undefined)) return;
  const named = [...new Set(grants.flatMap(({ elements }) => (elements === 'all' ? [] : [...elements])))].toSorted();
  const entries = [...new Set(grants.flatMap((grant) => grant.entries))].toSorted();
  const what = refused === undefined ? `all of ${type}` : `${type}.${refused}`;
  denyAccess(
    `Writing ${what} needs more than ${entries.join(' and ')} reaches here (${named.join(', ')}); the operator of the service says which elements it reaches`,
  );
}

/** Top-level members that differ, in the order of their names; what the server writes itself is left out. */
export function listChangedMembers(before: JsonObject, after: JsonObject): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const kept = names.filter((name) => name !== 'resourceType' && name !== 'id');
  return kept.filter((name) => !isDeepStrictEqual(compared(before, name), compared(after, name)));
}

function compared(resource: JsonObject, name: string): unknown {
  const value = resource[name];
  if (name !== 'meta') return value;
  const members = Object.entries(isJsonObject(value) ? value : {}).filter(([member]) => !stamped.has(member));
  return Object.fromEntries(members);
}

function writtenValue({ content }: ResourceWrite): JsonObject {
  return content === null ? {} : parseStored(content);
}
