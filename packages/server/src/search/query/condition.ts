/**
 * What a search asks of a resource, as a tree: criteria on its own index rows, links to and from other resources
 * (https://hl7.org/fhir/R4/search.html#chaining, #has), and combinations of them.
 */

import type { Parameter } from '../kinds/kind.ts';
import type { Criterion } from './criteria.ts';

export type SearchCondition = Criterion | Chain | Has | Combination;

/** Resources of another type that meet conditions, as far as the caller may search them. */
export interface Linked {
  readonly type: string;
  /** ANDed. */
  readonly criteria: readonly SearchCondition[];
  /** The rows that the caller may see: those of at least one group; none: all. Never mixed with what the caller asks. */
  readonly mandatory: readonly (readonly Criterion[])[];
}

/** The resource refers, by `parameter`, to one of the linked resources. */
export interface Chain {
  readonly kind: 'chain';
  /** A reference parameter of the resource. */
  readonly parameter: Parameter;
  /** One for each type that the reference may lead to. */
  readonly targets: readonly Linked[];
}

/** One of the linked resources refers, by `parameter`, to the resource. */
export interface Has {
  readonly kind: 'has';
  /** Type of the resource that is referred to. */
  readonly type: string;
  /** A reference parameter of the source's type. */
  readonly parameter: Parameter;
  readonly source: Linked;
}

export interface Combination {
  readonly kind: 'all' | 'any' | 'none';
  /** All, at least one, or none of them hold. */
  readonly conditions: readonly SearchCondition[];
  /** Type of the resource. */
  readonly type: string;
}

/** Whether the condition is on the resource's own rows. */
export function isCriterion(condition: SearchCondition): condition is Criterion {
  return condition.kind === 'rows';
}
