/** The resource types that a resource or a reference may name. */
import { resourceTypes } from '../definitions.ts';
import { suggestName } from '../suggestion.ts';
import { quoteText } from './issue.ts';

const knownTypes: ReadonlySet<string> = new Set(resourceTypes);

/** Whether a name is that of a concrete resource type of R4. */
export function isResourceType(name: string): boolean {
  return knownTypes.has(name);
}

/** What is wrong with a name that is no resource type. */
export function explainUnknownType(name: string): string {
  return `${quoteText(name)} is not a resource type${suggestName(name, resourceTypes)}`;
}
