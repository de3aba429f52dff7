/**
 * Answers that are lists: searches and histories. A Bundle, and beside it what it is made of for those who want it in
 * another shape (docs/decisions/0139).
 */
import { type BundleParts, buildBundleText } from './bundle-text.ts';
import type { FhirResponse } from './context.ts';

/** 200 with the Bundle. */
export function listResponse(parts: BundleParts): FhirResponse {
  const resources = parts.entries.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
  const { total, links, entries } = parts;
  return {
    status: 200,
    body: buildBundleText(parts),
    list: { resources, omitted: entries.length - resources.length, links, ...(total === undefined ? {} : { total }) },
  };
}
