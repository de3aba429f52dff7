/**
 * What is asked of the elements of a type, compiled on first use: the invariants, and which of its members lead to more.
 */
import {
  type ElementDefinition,
  findTypeDefinition,
  isSubtypeOf,
  type JsonElement,
  listJsonElements,
  type TypeDefinition,
} from '../definitions.ts';
import { getOrMake } from '../memo.ts';
import { compileInvariant } from './compile.ts';
import { type Invariant, listInvariants } from './declared.ts';
import type { Test } from './evaluation.ts';

export interface CompiledInvariant extends Invariant {
  readonly test: Test;
}

/** What is asked of one element. */
export interface Plan {
  readonly type: string;
  readonly definition: TypeDefinition;
  readonly errors: readonly CompiledInvariant[];
  /** Those of severity error and warning. */
  readonly all: readonly CompiledInvariant[];
}

/** What stands under one JSON name and has to be looked at. */
export interface Member {
  readonly kind: 'object' | 'primitive' | 'sibling' | 'resource' | 'contained';
  /** The name in a path: 'value' for valueQuantity and _valueQuantity. */
  readonly name: string;
  /** `_name` of a primitive. */
  readonly siblingName: string;
  /** Whether the path has an index. */
  readonly repeats: boolean;
  /** Of what stands there; resources have that of their own type. */
  readonly plan: Plan | undefined;
}

/** Invariants that the structure check makes of its own accord (../validation/), which comes before. */
export const checkedWithStructure: ReadonlySet<string> = new Set(
  'ele-1 ext-1 dom-2 dom-3 dom-4 dom-5 ref-1 txt-1 txt-2'.split(' '),
);

const ofResources = new Map<string, Plan>();
const ofElements = new Map<string, Plan>();
const members = new WeakMap<TypeDefinition, ReadonlyMap<string, Member>>();

/** The plan of a resource that stands alone; undefined for what is no resource type. */
export function planResource(type: string): Plan | undefined {
  const definition = findTypeDefinition(type);
  if (definition?.kind !== 'resource') return undefined;
  return getOrMake(ofResources, type, () => planOf(undefined, type, definition));
}

/** The members of a type that have invariants, or may have some inside, by JSON name. */
export function planMembers(definition: TypeDefinition): ReadonlyMap<string, Member> {
  return getOrMake(members, definition, () => new Map(membersIn(definition)));
}

function membersIn(owner: TypeDefinition): (readonly [string, Member])[] {
  return listJsonElements(owner).flatMap((member): (readonly [string, Member])[] => {
    const { jsonName, element, type, definition } = member;
    const shared = { name: element.name, siblingName: `_${jsonName}`, repeats: element.max > 1 };
    if (isSubtypeOf(type.code, 'Resource')) {
      const kind = element.name === 'contained' ? 'contained' : 'resource';
      return [[jsonName, { ...shared, kind, plan: undefined }]];
    }
    const plan = elementPlan(member);
    if (definition.kind !== 'primitive-type') return [[jsonName, { ...shared, kind: 'object', plan }]];
    const hasSibling = element.name !== 'id' && type.code !== 'xhtml' && owner.name !== 'xhtml';
    return [
      ...(plan.all.length === 0 ? [] : [[jsonName, { ...shared, kind: 'primitive' as const, plan }] as const]),
      ...(hasSibling ? [[`_${jsonName}`, { ...shared, kind: 'sibling' as const, plan }] as const] : []),
    ];
  });
}

function elementPlan({ element, type, definition }: JsonElement): Plan {
  const key = `${element.path} ${type.code} ${definition.name}`;
  return getOrMake(ofElements, key, () => planOf(element, type.code, definition));
}

function planOf(element: ElementDefinition | undefined, type: string, definition: TypeDefinition): Plan {
  const all = listInvariants(element, type, definition)
    .filter(({ key, expression }) => !checkedWithStructure.has(key) && expression !== '')
    .map((invariant) => ({ ...invariant, test: compileOnUse(invariant.expression) }));
  return { type, definition, all, errors: all.filter(({ severity }) => severity === 'error') };
}

const compiled = new Map<string, Test>();

/** Most elements of most types are never there. */
function compileOnUse(expression: string): Test {
  return (focus, evaluation) => getOrMake(compiled, expression, compileInvariant)(focus, evaluation);
}
