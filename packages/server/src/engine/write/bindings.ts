/** The judgement of a version by the value sets that the firm binds its elements to (docs/decisions/0205). */
import type { JsonObject } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { type ErrorIssue, fail } from '../../base/errors.ts';
import type { StoredResource } from '../../storage/store.ts';
import { type BindingContext, listHooks } from '../hooks.ts';

/** Top-level members of the type that are bound: a verdict on a change of one tells what it said before. */
export function boundMembers(type: string): readonly string[] {
  return listHooks('bindings', type).flatMap(({ membersOf }) => membersOf(type));
}

/**
 * Every concept that is new in `after` and outside its binding.
 * @param before the version before; undefined: there is none
 */
export async function findUnbound(
  context: BindingContext,
  type: string,
  before: JsonObject | undefined,
  after: JsonObject,
): Promise<readonly ErrorIssue[]> {
  const issues: ErrorIssue[] = [];
  for (const binding of listHooks('bindings', type)) issues.push(...(await binding.find(context, type, before, after)));
  return issues;
}

/** As `findUnbound`. @throws PraxisError `rule-broken` naming element, set and codes that would do */
export async function requireBound(
  context: BindingContext,
  type: string,
  before: JsonObject | undefined,
  after: JsonObject,
): Promise<void> {
  const [first, ...more] = await findUnbound(context, type, before, after);
  if (first !== undefined) fail('rule-broken', { ...first, more });
}

/** What a PUT of the resource over a live version would be refused for. @throws PraxisError `rule-broken` */
export async function requireBoundAfter(
  context: BindingContext,
  current: StoredResource,
  resource: JsonObject,
): Promise<void> {
  await requireBound(context, current.type, parseStored(current.content), resource);
}
