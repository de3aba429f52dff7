/**
 * Links between the entries of a Bundle. While resources have no ids yet, they refer to each other by the `urn:uuid:` and
 * `urn:oid:` fullUrl of the entry; when they are stored on their own, those links become `Type/id`.
 * https://hl7.org/fhir/R4/bundle.html#references · https://hl7.org/fhir/R4/http.html#trules
 *
 * Changed are Reference.reference, elements of type url (Attachment.url and other addresses), and links and images of the
 * narrative. Elements of type uri stay: in stored resources they identify things (Identifier.system, ValueSet.url) rather
 * than point to them. So do canonical URLs.
 */
import {
  elementByJsonName,
  isRawDecimal,
  type JsonElement,
  type JsonObject,
  type JsonValue,
  type TypeDefinition,
  typeDefinition,
} from '@praxis/fhir';

/** `resource` with every link that is a key of `targets` replaced by its value. */
export function withLinks(resource: JsonObject, targets: ReadonlyMap<string, string>): JsonObject {
  return targets.size === 0 ? resource : resourceWithLinks(resource, targets);
}

function resourceWithLinks(resource: JsonObject, targets: ReadonlyMap<string, string>): JsonObject {
  const { resourceType } = resource;
  // A Bundle inside a Bundle has entries of its own, and its links lead to them.
  if (resourceType === 'Bundle') return resource;
  const definition = typeof resourceType === 'string' ? typeDefinition(resourceType) : undefined;
  return definition === undefined ? resource : objectWithLinks(resource, definition, targets);
}

function objectWithLinks(
  object: JsonObject,
  definition: TypeDefinition,
  targets: ReadonlyMap<string, string>,
): JsonObject {
  const changed: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    changed[key] = key.startsWith('_')
      ? siblingWithLinks(value, targets)
      : propertyWithLinks(key, value, definition, targets);
  }
  return changed;
}

function propertyWithLinks(
  key: string,
  value: JsonValue,
  definition: TypeDefinition,
  targets: ReadonlyMap<string, string>,
): JsonValue {
  const property = elementByJsonName(definition, key);
  if (property === undefined) return value; // unknown: the validator will say so
  const isLink = property.type.code === 'url' || (definition.name === 'Reference' && key === 'reference');
  return valueWithLinks(value, property, isLink, targets);
}

function valueWithLinks(
  value: JsonValue,
  property: JsonElement,
  isLink: boolean,
  targets: ReadonlyMap<string, string>,
): JsonValue {
  if (Array.isArray(value)) return value.map((each) => valueWithLinks(each, property, isLink, targets));
  if (typeof value === 'string') {
    if (property.type.code === 'xhtml') return narrativeWithLinks(value, targets);
    return isLink ? (targets.get(value) ?? value) : value;
  }
  if (!isObject(value)) return value;
  if (typeof value.resourceType === 'string') return resourceWithLinks(value, targets);
  const definition = property.element.children ?? typeDefinition(property.type.code);
  return definition === undefined ? value : objectWithLinks(value, definition, targets);
}

/** Extensions of primitives: `_birthDate`, an object or an array of objects and nulls. */
function siblingWithLinks(value: JsonValue, targets: ReadonlyMap<string, string>): JsonValue {
  if (Array.isArray(value)) return value.map((each) => siblingWithLinks(each, targets));
  const element = typeDefinition('Element');
  return isObject(value) && element !== undefined ? objectWithLinks(value, element, targets) : value;
}

function narrativeWithLinks(xhtml: string, targets: ReadonlyMap<string, string>): string {
  return xhtml.replaceAll(
    /(\s(?:href|src)\s*=\s*)(["'])([^"']*)\2/g,
    (whole, attribute: string, quote: string, url: string) => {
      const target = targets.get(url);
      return target === undefined ? whole : `${attribute}${quote}${target}${quote}`;
    },
  );
}

/** Whether a value is a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawDecimal(value);
}
