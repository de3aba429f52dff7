/** "Did you mean" for search parameters: of those that every firm has, so that none of a firm's own is told. */
import { suggestName } from '@praxis/fhir';
import { getStandardParameters } from '../parameters.ts';

/**
 * `: did you mean birthdate?`, to follow what says that a name is unknown; empty when none is near.
 * @param name as the caller wrote it; a modifier and a path after it are left out
 * @param more what the search takes beside the parameters of the type
 */
export function suggestParameter(type: string, name: string, more: readonly string[] = []): string {
  const [code = ''] = name.split(/[.:]/, 1);
  return suggestName(code, [...getStandardParameters(type).keys(), ...more]);
}
