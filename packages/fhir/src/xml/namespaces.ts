/**
 * Namespaces in scope, and what they allow: FHIR elements are in that of FHIR, the narrative's are in that of xhtml.
 *
 * https://www.w3.org/TR/xml-names/ · https://hl7.org/fhir/R4/xml.html
 */
import { shortenName } from '../text-error.ts';
import { type Attribute, fail, type Scanner, type StartTag } from './scanner.ts';

export const fhirNamespace = 'http://hl7.org/fhir';
export const xhtmlNamespace = 'http://www.w3.org/1999/xhtml';
const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
const declarationNamespace = 'http://www.w3.org/2000/xmlns/';
const schemaInstanceNamespace = 'http://www.w3.org/2001/XMLSchema-instance';

/** Prefix → namespace; '' is the default namespace. */
export type Namespaces = ReadonlyMap<string, string>;

export const outermost: Namespaces = new Map([
  ['', ''],
  ['xml', xmlNamespace],
]);

/** The namespaces inside an element: those around it and those that its tag declares. */
export function collectNamespaces(scanner: Scanner, tag: StartTag, around: Namespaces): Namespaces {
  let inside: Map<string, string> | undefined;
  for (const attribute of tag.attributes) {
    const prefix = parseDeclaredPrefix(attribute.name);
    if (prefix === undefined) continue;
    requireDeclarable(scanner, prefix, attribute);
    inside ??= new Map(around);
    inside.set(prefix, attribute.value);
  }
  return inside ?? around;
}

/** The prefix that an attribute declares: 'f' for `xmlns:f`, '' for `xmlns`, undefined for other attributes. */
export function parseDeclaredPrefix(name: string): string | undefined {
  if (name === 'xmlns') return '';
  return name.startsWith('xmlns:') ? name.slice(6) : undefined;
}

/** https://www.w3.org/TR/xml-names/#xmlReserved, #nsc-NoPrefixUndecl */
function requireDeclarable(scanner: Scanner, prefix: string, { value, start }: Attribute): void {
  const reserved =
    prefix === 'xmlns' || value === declarationNamespace || (prefix === 'xml') !== (value === xmlNamespace);
  if (reserved) fail(scanner, 'namespace', start, 'the prefixes and namespaces of xml and xmlns are reserved');
  if (prefix !== '' && value === '')
    fail(scanner, 'namespace', start, `the prefix ${shortenName(prefix)} must have a namespace`);
}

/** The namespace of an element or, with a prefix, of an attribute. */
export function resolveNamespace(scanner: Scanner, name: string, offset: number, namespaces: Namespaces): string {
  const prefix = parseNamePrefix(name);
  const namespace = namespaces.get(prefix);
  if (namespace === undefined) fail(scanner, 'namespace', offset, `the prefix ${shortenName(prefix)} is not declared`);
  return namespace;
}

export function parseNamePrefix(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? '' : name.slice(0, colon);
}

export function parseLocalName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The name without prefix of an element that must be one of FHIR. */
export function requireFhirName(scanner: Scanner, tag: StartTag, namespaces: Namespaces): string {
  const { name, start } = tag;
  const namespace = resolveNamespace(scanner, name, start, namespaces);
  if (namespace !== fhirNamespace) {
    const actual = namespace === '' ? 'none' : `"${shortenName(namespace)}"`;
    const problem = `<${shortenName(name)}> must be in the namespace "${fhirNamespace}", not ${actual}`;
    fail(scanner, 'namespace', start, problem);
  }
  return parseLocalName(name);
}

/**
 * The attributes of an element that are neither declarations of namespaces nor hints to a schema, which are skipped and
 * never followed.
 */
export function listOwnAttributes(scanner: Scanner, tag: StartTag, namespaces: Namespaces): readonly Attribute[] {
  const { attributes } = tag;
  if (attributes.length === 0 || attributes.every(({ name }) => !name.includes(':') && name !== 'xmlns'))
    return attributes;
  const hints = new Set<string>();
  return attributes.filter(({ name, start }) => {
    if (parseDeclaredPrefix(name) !== undefined) return false;
    if (!name.includes(':') || resolveNamespace(scanner, name, start, namespaces) !== schemaInstanceNamespace)
      return true;
    const local = parseLocalName(name);
    if (local !== 'schemaLocation' && local !== 'noNamespaceSchemaLocation') return true;
    if (hints.has(local))
      fail(scanner, 'syntax', start, `the attribute ${local} stands twice under different prefixes`);
    hints.add(local);
    return false;
  });
}
