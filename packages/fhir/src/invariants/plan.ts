/**
 * What is asked of the elements of a type, compiled on first use: the invariants, and which of its members lead to more.
 */
import {
  buildJsonName,
  type ElementDefinition,
  type ElementType,
  findTypeDefinition,
  isSubtypeOf,
  type TypeDefinition,
} from '../definitions.ts';
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
export const checkedWithStructure: ReadonlySet<string> = new Set([
  'ele-1',
  'ext-1',
  'dom-2',
  'dom-3',
  'dom-4',
  'dom-5',
  'ref-1',
  'txt-1',
  'txt-2',
]);

const ofResources = new Map<string, Plan>();
const ofElements = new Map<string, Plan>();
const members = new WeakMap<TypeDefinition, ReadonlyMap<string, Member>>();

/** The plan of a resource that stands alone; undefined for what is no resource type. */
export function planResource(type: string): Plan | undefined {
  const known = ofResources.get(type);
  if (known !== undefined) return known;
  const definition = findTypeDefinition(type);
  if (definition?.kind !== 'resource') return undefined;
  const plan = planOf(undefined, type, definition);
  ofResources.set(type, plan);
  return plan;
}

/** The members of a type that have invariants, or may have some inside, by JSON name. */
export function planMembers(definition: TypeDefinition): ReadonlyMap<string, Member> {
  let found = members.get(definition);
  if (found === undefined) {
    found = new Map([...definition.elements.values()].flatMap((element) => membersIn(definition, element)));
    members.set(definition, found);
  }
  return found;
}

function membersIn(owner: TypeDefinition, element: ElementDefinition): (readonly [string, Member])[] {
  return element.types.flatMap((type): (readonly [string, Member])[] => {
    const jsonName = buildJsonName(element, type);
    const definition = element.children ?? findTypeDefinition(type.code);
    if (definition === undefined) throw new Error(`${element.path} has the unknown type ${type.code}`);
    const shared = { name: element.name, siblingName: `_${jsonName}`, repeats: element.max > 1 };
    if (isSubtypeOf(type.code, 'Resource')) {
      const kind = element.name === 'contained' ? 'contained' : 'resource';
      return [[jsonName, { ...shared, kind, plan: undefined }]];
    }
    const plan = elementPlan(element, type, definition);
    if (definition.kind !== 'primitive-type') return [[jsonName, { ...shared, kind: 'object', plan }]];
    const hasSibling = element.name !== 'id' && type.code !== 'xhtml' && owner.name !== 'xhtml';
    return [
      ...(plan.all.length === 0 ? [] : [[jsonName, { ...shared, kind: 'primitive' as const, plan }] as const]),
      ...(hasSibling ? [[`_${jsonName}`, { ...shared, kind: 'sibling' as const, plan }] as const] : []),
    ];
  });
}

function elementPlan(element: ElementDefinition, type: ElementType, definition: TypeDefinition): Plan {
  const key = `${element.path} ${type.code} ${definition.name}`;
  let plan = ofElements.get(key);
  if (plan === undefined) {
    plan = planOf(element, type.code, definition);
    ofElements.set(key, plan);
  }
  return plan;
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
  return (focus, evaluation) => {
    let test = compiled.get(expression);
    if (test === undefined) {
      test = compileInvariant(expression);
      compiled.set(expression, test);
    }
    return test(focus, evaluation);
  };
}
