/** Which members of a resource an invariant goes by together: its verdict on a change of one tells of the others. */
import { buildJsonName, findTypeDefinition } from '../definitions.ts';
import { getOrMake } from '../memo.ts';
import { type Invariant, invariantPaths, listInvariants, listInvariantsAt } from './declared.ts';
import { checkedWithStructure } from './plan.ts';

const known = new Map<string, readonly (readonly string[])[]>();

/**
 * The JSON names that each invariant of severity error reads beside each other, for those that read several: of the resource, and
 * of elements inside that look at the resource around them. [] for unknown types.
 */
export function listMembersAskedTogether(type: string): readonly (readonly string[])[] {
  return getOrMake(known, type, compute);
}

function compute(type: string): readonly (readonly string[])[] {
  const definition = findTypeDefinition(type);
  if (definition?.kind !== 'resource') return [];
  const own = listInvariants(undefined, type, definition).map((invariant) => wordsOf(invariant));
  const inside = invariantPaths
    .filter((path) => path.startsWith(`${type}.`))
    .flatMap((path) => listInvariantsAt(path).map((invariant) => ({ path, invariant })))
    .filter(({ invariant }) => /%(root)?resource/i.test(invariant.expression))
    .map(({ path, invariant }) => wordsOf(invariant)?.add(path.split('.')[1] ?? ''));
  return [...own, ...inside].flatMap((words) => {
    if (words === undefined) return [];
    const all = words.has('children') || words.has('descendants');
    const elements = [...definition.elements.values()].filter(({ name }) => all || words.has(name));
    const names = elements.flatMap((element) => element.types.map((type) => buildJsonName(element, type)));
    return elements.length < 2 ? [] : [names];
  });
}

/** Every name in the expression: more than what it reads of the resource itself, never less. */
function wordsOf({ key, severity, expression }: Invariant): Set<string> | undefined {
  if (severity !== 'error' || checkedWithStructure.has(key)) return undefined;
  return new Set(expression.replace(/'(?:[^'\\]|\\.)*'/g, '').match(/[A-Za-z]+/g));
}
