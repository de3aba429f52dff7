/**
 * What entries of a Bundle must be so that it can be stored: a document, message, searchset or collection is nothing but
 * the resources in it (https://hl7.org/fhir/R4/bundle.html#document and after).
 */
import type { JsonObject } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import { findObject, findText, listObjects } from '../../search/json-values.ts';

/** Types of Bundles of which every entry is a resource. */
const collecting: ReadonlySet<unknown> = new Set(['document', 'message', 'searchset', 'collection']);

/**
 * Checks a valid Bundle: an entry without a resource, or a version of a resource that stands in it twice (bdl-7), is
 * refused. Bundles of other types pass: their entries are requests and answers.
 * @throws PraxisError `invariant-broken` naming the entry
 */
export function requireCollectedEntries(bundle: JsonObject): void {
  if (!collecting.has(bundle['type'])) return;
  const seen = new Set<string>();
  for (const [index, entry] of listObjects(bundle, 'entry').entries()) {
    const path = `Bundle.entry[${index}]`;
    if (entry.resource === undefined) refuse(`${path}.resource`, 'is missing: every entry has one (bdl-5)');
    const fullUrl = findText(entry, 'fullUrl');
    const version = `${fullUrl} ${findText(findObject(findObject(entry, 'resource'), 'meta'), 'versionId') ?? ''}`;
    if (fullUrl !== undefined && seen.has(version))
      refuse(`${path}.fullUrl`, 'stands in the Bundle already, with the same versionId (bdl-7)');
    seen.add(version);
  }
}

function refuse(path: string, rule: string): never {
  fail('invariant-broken', { diagnostics: `${path} ${rule}`, expression: [path] });
}
