/** The resource types that a resource or a reference may name. */
import { resourceTypes } from '../definitions.ts';
import { quoteText } from './issue.ts';
import { findNearestName } from './suggestion.ts';

const knownTypes: ReadonlySet<string> = new Set(resourceTypes);

/** Whether a name is that of a concrete resource type of R4. */
export function isResourceType(name: string): boolean {
  return knownTypes.has(name);
}

/** What is wrong with a name that is no resource type. */
export function explainUnknownType(name: string): string {
  const nearest = findNearestName(name, resourceTypes);
  return `${quoteText(name)} is not a resource type${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
}
