/**
 * Bundles as text, joined from texts that are already disclosed: a page of resources is never parsed again
 * (https://hl7.org/fhir/R4/bundle.html).
 */
import { type Disclosed, serverWritten, textOf } from '../access/disclosure.ts';

export interface BundleLink {
  readonly relation: 'self' | 'first' | 'previous' | 'next' | 'last';
  readonly url: string;
}

export interface BundleEntry {
  readonly fullUrl: string;
  /** Absent for a deletion in a history. */
  readonly resource?: Disclosed<string>;
  readonly search?: { readonly mode: 'match' | 'include' | 'outcome' };
  readonly request?: { readonly method: string; readonly url: string };
  readonly response?: { readonly status: string; readonly etag: string; readonly lastModified: string };
}

export interface BundleParts {
  readonly type: 'searchset' | 'history';
  readonly id: string;
  readonly lastUpdated: string;
  readonly total?: number;
  readonly links: readonly BundleLink[];
  readonly entries: readonly BundleEntry[];
}

/** The Bundle's JSON text. */
export function bundleText(parts: BundleParts): Disclosed<string> {
  const { type, id, lastUpdated, total, links, entries } = parts;
  const shell = JSON.stringify({
    resourceType: 'Bundle',
    id,
    meta: { lastUpdated },
    type,
    ...(total === undefined ? {} : { total }),
    link: links,
  });
  if (entries.length === 0) return serverWritten(shell); // R4 JSON forbids empty arrays
  return serverWritten(`${shell.slice(0, -1)},"entry":[${entries.map(entryText).join(',')}]}`);
}

function entryText(entry: BundleEntry): string {
  const { fullUrl, resource, search, request, response } = entry;
  const head = `{"fullUrl":${JSON.stringify(fullUrl)}`;
  const body = resource === undefined ? '' : `,"resource":${textOf(resource)}`;
  const rest = JSON.stringify({ search, request, response });
  return rest === '{}' ? `${head}${body}}` : `${head}${body},${rest.slice(1)}`;
}
