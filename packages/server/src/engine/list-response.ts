/**
 * Answers that are lists: searches and histories. A Bundle, and beside it what it is made of for those who want it in
 * another shape (docs/decisions/0139).
 */
import { toInstant } from '../base/clock.ts';
import { makeUuid } from '../base/ids.ts';
import { type BundleParts, buildBundleText } from './bundle-text.ts';
import type { FhirResponse, InteractionContext } from './context.ts';

/** 200 with the Bundle, made now. */
export function listResponse(
  { clock }: Pick<InteractionContext, 'clock'>,
  parts: Omit<BundleParts, 'id' | 'lastUpdated'>,
): FhirResponse {
  const { total, links, entries } = parts;
  const resources = entries.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
  return {
    status: 200,
    body: buildBundleText({ ...parts, id: makeUuid(), lastUpdated: toInstant(clock.now()) }),
    list: { resources, omitted: entries.length - resources.length, links, ...(total === undefined ? {} : { total }) },
  };
}
