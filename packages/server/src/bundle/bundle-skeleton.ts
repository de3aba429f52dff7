/**
 * The Bundle without what it carries (https://hl7.org/fhir/R4/bundle.html): so that it can be checked before its entries
 * are looked at, each for itself.
 */
import { isJsonObject, type JsonObject } from '@praxis/fhir';

/** Stands for any entry's resource while the Bundle around them is validated. */
const placeholder: JsonObject = { resourceType: 'Basic', code: { text: 'entry' } };

/** The Bundle with a small valid resource in the place of every resource. */
export function withPlaceholders(bundle: JsonObject): JsonObject {
  const { entry } = bundle;
  if (!Array.isArray(entry)) return bundle;
  return {
    ...bundle,
    entry: entry.map((each) =>
      isJsonObject(each) && isJsonObject(each.resource) ? { ...each, resource: placeholder } : each,
    ),
  };
}
