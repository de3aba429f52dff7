/**
 * Lists as lines (https://github.com/ndjson/ndjson-spec): a resource a line in the order of the Bundle's entries, its links
 * in the header Link (RFC 8288), its total in X-Total-Count: docs/decisions/0139.
 */
import { unwrapDisclosed } from '../../access/disclosure.ts';
import { fail } from '../../base/errors.ts';
import type { FhirList } from '../../engine/context.ts';

/** Longest Link in characters: Node's own clients refuse answers with more than 16 KiB of headers. */
const linkLengthMax = 12_000;

/** Each resource on a line of its own. */
export function toNdjson({ resources }: FhirList): string {
  return resources.map((resource) => `${unwrapDisclosed(resource)}\n`).join('');
}

/**
 * What the Bundle says around its entries, as headers.
 * @throws PraxisError `not-acceptable` when the links are longer than a client reads
 */
export function buildListHeaders({ links, omitted, total }: FhirList): Record<string, string> {
  const link = links.map(({ relation, url }) => `<${url}>; rel="${relation}"`).join(', ');
  if (link.length > linkLengthMax) {
    fail('not-acceptable', {
      diagnostics: `The links of this page take ${link.length} characters, which is more than the ${linkLengthMax} of a header: ask for application/fhir+json, or search by less`,
    });
  }
  return {
    link,
    ...(total === undefined ? {} : { 'x-total-count': String(total) }),
    ...(omitted === 0 ? {} : { 'x-omitted-entries': String(omitted) }),
  };
}
