/**
 * What a reference leads to within the resource: a contained resource, an entry of the Bundle. Of others the type alone is
 * known, which is what rules ask for. Nothing outside is read.
 *
 * https://hl7.org/fhir/R4/references.html · https://hl7.org/fhir/R4/fhirpath.html#functions
 */
import { findReferencedType } from '../fhirpath/referenced-type.ts';
import { isJsonObject, type JsonValue } from '../json.ts';
import type { Evaluation } from './evaluation.ts';
import { type Item, listChildrenNamed, makeResourceItem } from './item.ts';

/** The resource, or one with nothing but its type when only that can be told; undefined when not even that. */
export function resolveReference({ value }: Item, evaluation: Evaluation): Item | undefined {
  const text = isJsonObject(value) ? value['reference'] : value;
  if (typeof text !== 'string' || text === '') return undefined;
  if (text === '#') return evaluation.rootResource;
  if (text.startsWith('#')) return containedResource(text.slice(1), evaluation);
  const bundled = bundledResource(text, evaluation);
  if (bundled !== undefined) return bundled.resource;
  const type = findReferencedType(text, {});
  return type === undefined ? undefined : makeResourceItem({ resourceType: type });
}

function containedResource(id: string, { rootResource, spend }: Evaluation): Item | undefined {
  const contained = listChildrenNamed(rootResource, 'contained');
  spend(contained.length);
  return contained.find(({ value }) => memberOf(value, 'id') === id);
}

/** Undefined: no Bundle has such an entry. */
function bundledResource(text: string, { bundles, spend }: Evaluation): { resource: Item | undefined } | undefined {
  for (const bundle of bundles.toReversed()) {
    const entries = listChildrenNamed(bundle, 'entry');
    spend(entries.length);
    const entry = entries.find(({ value }) => leadsTo(memberOf(value, 'fullUrl'), text));
    if (entry !== undefined) return { resource: listChildrenNamed(entry, 'resource')[0] };
  }
  return undefined;
}

function leadsTo(fullUrl: JsonValue | undefined, text: string): boolean {
  if (typeof fullUrl !== 'string') return false;
  return fullUrl === text || (!text.includes(':') && fullUrl.endsWith(`/${text}`));
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}
