/**
 * What a patch would tell of elements that its caller may not read. `test` compares, and `remove` fails where there is
 * nothing: an operation on such an element is refused, unless it sets the whole element whatever it was. That would
 * tell, too, where a rule goes by several elements: who changes one of them must read them all.
 */
import {
  findElementByJsonName,
  findTypeDefinition,
  findUnusedContained,
  isPrimitiveType,
  type JsonObject,
  listMembersAskedTogether,
  type Patch,
} from '@praxis/fhir';
import { listGrantingEntries } from '../../access/explain.ts';
import type { InteractionContext } from '../context.ts';
import { findHook } from '../hooks.ts';
import { boundMembers } from '../write/bindings.ts';
import { wholeRules } from '../write/whole-rules.ts';
import { refuse } from './denials.ts';
import type { Readable } from './readable-members.ts';

/** @throws PraxisError `access-denied` naming an element that the verdict on the patch would tell of */
export function requirePatchable(context: InteractionContext, type: string, change: Patch, readable: Readable): void {
  const hidden = hiddenTouched(type, change, readable) ?? hiddenJudged(type, change, readable);
  if (hidden === undefined) return;
  const what =
    hidden.member === undefined
      ? `Patching all of ${type}`
      : `Patching ${type}.${hidden.member}, which the application may not read,`;
  refuse(context, what, listGrantingEntries(context.policy, type, 'r'));
}

interface Hidden {
  /** undefined: the whole resource. */
  readonly member: string | undefined;
}

/** What the patch itself reads, or sets while something beside it is asked. */
function hiddenTouched(type: string, change: Patch, readable: Readable): Hidden | undefined {
  return change.touches.find(({ member, blind }) => {
    if (readable(member)) return false;
    return !blind || member === undefined || wholeRules.has(type) || !standsAlone(type, member);
  });
}

/** Whether the member is all that there is of its element: no choice of several, no list beside which extensions stand. */
function standsAlone(type: string, member: string): boolean {
  const definition = findTypeDefinition(type);
  const found = definition && findElementByJsonName(definition, member);
  if (found === undefined) return true; // no element: refused whatever there is
  return !found.element.choice && (found.element.max <= 1 || !isPrimitiveType(found.type.code));
}

/** What R4's invariants and the type's own rules go by: states, codes in use, places in calendars. */
function hiddenJudged(type: string, change: Patch, readable: Readable): Hidden | undefined {
  const isTouched = (member: string): boolean => change.touches.some((touch) => touch.member === member);
  const bound = boundMembers(type).find((each) => isTouched(each) && !readable(each));
  if (bound !== undefined) return { member: bound };
  for (const judged of [findHook('behaviour', type)?.judged ?? [], ...listMembersAskedTogether(type)]) {
    const member = judged.some(isTouched) ? judged.find((each) => !readable(each)) : undefined;
    if (member !== undefined) return { member };
  }
  return undefined;
}

/**
 * The resource without contained resources that nothing refers to any more: they live with what refers to them
 * (https://hl7.org/fhir/R4/references.html#contained). To refuse the change for them (dom-3) would tell who does not
 * see them that they are there.
 */
export function withoutUnusedContained(resource: JsonObject, type: string): JsonObject {
  const { contained, ...rest } = resource;
  if (!Array.isArray(contained)) return resource;
  const unused = findUnusedContained(resource, type);
  if (unused.size === 0) return resource;
  const used = contained.filter((_, index) => !unused.has(index));
  return used.length === 0 ? rest : { ...rest, contained: used };
}
