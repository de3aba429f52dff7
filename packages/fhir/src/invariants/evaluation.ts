/** What the compiled parts of invariants pass to each other while they are evaluated. */
import { FhirPathError } from '../fhirpath/fhirpath-error.ts';
import type { Expression, Node } from '../fhirpath/parse.ts';
import type { FindUnit } from './compare.ts';
import { type Item, type Items, nothing } from './item.ts';

/** The evaluation of the invariants of one resource. */
export interface Evaluation {
  /** `%resource`: the resource that holds the element. */
  resource: Item;
  /** `%rootResource`: the same, but for contained resources what contains them. */
  rootResource: Item;
  /** `%context`: the element that the invariant is declared for. */
  context: Item;
  /** The Bundles around the element, innermost last. */
  readonly bundles: Item[];
  /** What was computed of the resource alone: by the number of the expression. Emptied with each resource. */
  readonly remembered: Map<number, Remembered>;
  readonly findUnit: FindUnit | undefined;
  /** Spends steps before they are made. @throws Error that ends the evaluation */
  readonly spend: (steps: number) => void;
}

export interface Remembered {
  readonly context: Item;
  readonly resource: Item;
  readonly items: Items;
}

/** The values that a part selects. `focus`: `$this`; undefined: the empty collection. */
export type Collect = (focus: Item | undefined, evaluation: Evaluation) => Items;

/** True, false or, as the empty collection, undefined. http://hl7.org/fhirpath/N1/#boolean-logic */
export type Test = (focus: Item | undefined, evaluation: Evaluation) => boolean | undefined;

/** What the compiler of expressions gives to that of functions. */
export interface Compiler {
  readonly expression: string;
  readonly collect: (tree: Expression) => Collect;
  readonly test: (tree: Expression) => Test;
}

export type Call = Node<'call'>;

/** The only item of a collection; undefined of an empty one. @throws FhirPathError when there are several */
export function requireSingleton(items: Items, expression: string): Item | undefined {
  if (items.length > 1) throw new FhirPathError('One value is expected, there are several', expression);
  return items[0];
}

/** http://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections @throws FhirPathError when there are several */
export function toSingletonBoolean(items: Items, expression: string): boolean | undefined {
  const only = requireSingleton(items, expression);
  if (only === undefined) return undefined;
  return typeof only.value === 'boolean' ? only.value : true;
}

/** The text of the only item; undefined where there is none. @throws FhirPathError for several, and what is no text */
export function toSingletonString(items: Items, expression: string): string | undefined {
  const only = requireSingleton(items, expression);
  if (only === undefined || only.value === null) return undefined;
  if (typeof only.value !== 'string') throw new FhirPathError(`A text is expected, not ${only.type}`, expression);
  return only.value;
}

export function flatMap(items: Items, collect: (item: Item) => Items): Items {
  const [only] = items;
  if (only === undefined) return nothing;
  if (items.length === 1) return collect(only);
  const found: Item[] = [];
  for (const item of items) for (const inner of collect(item)) found.push(inner);
  return found;
}
