/**
 * What a reference leads to within the resource: a contained resource, an entry of the Bundle. Of others the type alone
 * is known, which is what rules ask for. Nothing outside is read.
 *
 * https://hl7.org/fhir/R4/references.html · https://hl7.org/fhir/R4/fhirpath.html#functions
 */
import { findReferencedType } from '@praxis/fhir';
import { type ElementNode, isPlainObject, type Plain, type PlainObject } from './element-node.ts';

/** The resource, or one with nothing but type and id when only the type can be told; undefined when not even that. */
export function resolveReference(node: ElementNode, reference: unknown): PlainObject | undefined {
  const text = referenceText(reference);
  if (text === undefined || text === '') return undefined;
  if (text.startsWith('#')) return resolveFragment(node, text.slice(1));
  const bundled = resolveInBundle(node, text);
  if (bundled !== undefined) return bundled;
  const type = findReferencedType(text, {});
  return type === undefined ? undefined : { resourceType: type };
}

function referenceText(reference: unknown): string | undefined {
  if (typeof reference === 'string') return reference;
  if (typeof reference !== 'object' || reference === null || !('reference' in reference)) return undefined;
  return typeof reference.reference === 'string' ? reference.reference : undefined;
}

function resolveFragment({ rootResource }: ElementNode, id: string): PlainObject | undefined {
  if (id === '') return rootResource;
  return listOf(rootResource.contained).find((contained) => contained.id === id);
}

function resolveInBundle(node: ElementNode, text: string): PlainObject | undefined {
  for (let at: ElementNode | undefined = node; at !== undefined; at = at.parent) {
    if (at.type !== 'Bundle' || !isPlainObject(at.value)) continue;
    const entry = listOf(at.value.entry).find(({ fullUrl }) => typeof fullUrl === 'string' && leadsTo(fullUrl, text));
    if (entry !== undefined) return isPlainObject(entry.resource) ? entry.resource : undefined;
  }
  return undefined;
}

function leadsTo(fullUrl: string, text: string): boolean {
  return fullUrl === text || (!text.includes(':') && fullUrl.endsWith(`/${text}`));
}

function listOf(value: Plain | undefined): readonly PlainObject[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
