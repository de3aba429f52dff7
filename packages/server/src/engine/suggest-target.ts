/** What the segments after `/fhir/v2` were meant to be, where they have no meaning: by the names of R4 alone. */
import { resourceTypesWithEndpoint, suggestName } from '@praxis/fhir';

const types: readonly string[] = resourceTypesWithEndpoint;

/** What may stand at each place, ids and operations aside. */
const places: readonly (readonly string[])[] = [
  [...types, 'metadata', '_search', '_history'],
  ['_search', '_history'],
  [...types, '_history'],
  ['_search'],
];

/** `: did you mean Patient?`, to follow what says that a path is unknown; empty when no name is near. */
export function suggestTarget(segments: readonly string[]): string {
  for (const [place, names] of places.entries()) {
    const hint = suggestName(segments[place] ?? '', names);
    if (hint !== '') return hint;
  }
  return '';
}
