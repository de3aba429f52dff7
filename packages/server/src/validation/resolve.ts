/**
 * What a reference leads to within the resource: a contained resource, an entry of the Bundle. Of others the type alone
 * is known, which is what rules ask for. Nothing outside is read.
 *
 * https://hl7.org/fhir/R4/references.html · https://hl7.org/fhir/R4/fhirpath.html#functions
 */
import { findReferencedType } from '@praxis/fhir';
import { type ElementNode, isPlainObject, listPlainObjects, type PlainObject } from './element-node.ts';

/** The resource, or one with nothing but type and id when only the type can be told; undefined when not even that. */
export function resolveReference(node: ElementNode, reference: unknown): PlainObject | undefined {
  const text = isPlainObject(reference) ? reference.reference : reference;
  if (typeof text !== 'string' || text === '') return undefined;
  if (text.startsWith('#')) return resolveFragment(node, text.slice(1));
  const bundled = resolveInBundle(node, text);
  if (bundled !== undefined) return bundled;
  const type = findReferencedType(text, {});
  return type === undefined ? undefined : { resourceType: type };
}

function resolveFragment({ rootResource }: ElementNode, id: string): PlainObject | undefined {
  if (id === '') return rootResource;
  return listPlainObjects(rootResource.contained).find((contained) => contained.id === id);
}

function resolveInBundle(node: ElementNode, text: string): PlainObject | undefined {
  for (let at: ElementNode | undefined = node; at !== undefined; at = at.parent) {
    if (at.type !== 'Bundle' || !isPlainObject(at.value)) continue;
    const entries = listPlainObjects(at.value.entry);
    const entry = entries.find(({ fullUrl }) => typeof fullUrl === 'string' && leadsTo(fullUrl, text));
    if (entry !== undefined) return isPlainObject(entry.resource) ? entry.resource : undefined;
  }
  return undefined;
}

function leadsTo(fullUrl: string, text: string): boolean {
  return fullUrl === text || (!text.includes(':') && fullUrl.endsWith(`/${text}`));
}
