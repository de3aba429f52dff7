/**
 * Links between the entries of a Bundle. While resources have no ids yet, they refer to each other by the fullUrl of the
 * entry; when they are stored on their own, those links become `Type/id`.
 * https://hl7.org/fhir/R4/bundle.html#references · https://hl7.org/fhir/R4/http.html#trules
 *
 * Looked at are Reference.reference, links and images of the narrative, and elements of the types that the caller names.
 * Canonical URLs are never changed.
 */
import {
  findElementByJsonName,
  findTypeDefinition,
  isJsonObject,
  type JsonElement,
  type JsonObject,
  type JsonValue,
  type TypeDefinition,
} from '@praxis/fhir';

export interface LinkRules {
  /** Types of elements that hold links, beside Reference.reference and the narrative: `url`, `uri`, … */
  readonly types: ReadonlySet<string>;
  /** What a link becomes; undefined: it stays as it is. */
  readonly target: (link: string, kind: LinkKind) => string | undefined;
}

/** Where a link stands: only a Reference may be relative to the resource that holds it. */
export type LinkKind = 'reference' | 'url';

/** `resource` with every link replaced by its target. */
export function withLinks(resource: JsonObject, rules: LinkRules): JsonObject {
  const { resourceType } = resource;
  // A Bundle inside a Bundle has entries of its own, and its links lead to them.
  if (resourceType === 'Bundle') return resource;
  const definition = typeof resourceType === 'string' ? findTypeDefinition(resourceType) : undefined;
  return definition === undefined ? resource : objectWithLinks(resource, definition, rules);
}

function objectWithLinks(object: JsonObject, definition: TypeDefinition, rules: LinkRules): JsonObject {
  const changed: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    const isSibling = key.startsWith('_');
    changed[key] = isSibling ? siblingWithLinks(value, rules) : propertyWithLinks(key, value, definition, rules);
  }
  return changed;
}

function propertyWithLinks(key: string, value: JsonValue, definition: TypeDefinition, rules: LinkRules): JsonValue {
  const property = findElementByJsonName(definition, key);
  if (property === undefined) return value; // unknown: the validator will say so
  const isReference = definition.name === 'Reference' && key === 'reference';
  const kind = isReference ? 'reference' : rules.types.has(property.type.code) ? 'url' : undefined;
  return valueWithLinks(value, property, kind, rules);
}

function valueWithLinks(
  value: JsonValue,
  property: JsonElement,
  kind: LinkKind | undefined,
  rules: LinkRules,
): JsonValue {
  if (Array.isArray(value)) return value.map((each) => valueWithLinks(each, property, kind, rules));
  if (typeof value === 'string') {
    if (property.type.code === 'xhtml') return narrativeWithLinks(value, rules);
    return kind === undefined ? value : (rules.target(value, kind) ?? value);
  }
  if (!isJsonObject(value)) return value;
  if (typeof value.resourceType === 'string') return withLinks(value, rules);
  const definition = property.element.children ?? findTypeDefinition(property.type.code);
  return definition === undefined ? value : objectWithLinks(value, definition, rules);
}

/** Extensions of primitives: `_birthDate`, an object or an array of objects and nulls. */
function siblingWithLinks(value: JsonValue, rules: LinkRules): JsonValue {
  if (Array.isArray(value)) return value.map((each) => siblingWithLinks(each, rules));
  const element = findTypeDefinition('Element');
  return isJsonObject(value) && element !== undefined ? objectWithLinks(value, element, rules) : value;
}

function narrativeWithLinks(xhtml: string, rules: LinkRules): string {
  return xhtml.replaceAll(
    /(\s(?:href|src)\s*=\s*)(["'])([^"']*)\2/g,
    (whole, attribute: string, quote: string, url: string) => {
      const target = rules.target(url, 'url');
      return target === undefined ? whole : `${attribute}${quote}${target}${quote}`;
    },
  );
}
