/**
 * Bundles as text, joined from texts that are already disclosed: what a Bundle carries is never parsed again
 * (https://hl7.org/fhir/R4/bundle.html).
 */
import { type Disclosed, markServerWritten, unwrapDisclosed } from '../access/disclosure.ts';

export interface BundleLink {
  readonly relation: 'self' | 'first' | 'previous' | 'next' | 'last';
  readonly url: string;
}

export interface BundleEntry {
  /** Absent in the answer to a batch or transaction where no resource is returned. */
  readonly fullUrl?: string;
  /** Absent for a deletion in a history. */
  readonly resource?: Disclosed<string>;
  readonly search?: { readonly mode: 'match' | 'include' | 'outcome' };
  readonly request?: { readonly method: string; readonly url: string };
  readonly response?: EntryResponse;
}

export interface EntryResponse {
  /** `201 Created`, or the number alone. */
  readonly status: string;
  readonly location?: string;
  readonly etag?: string;
  readonly lastModified?: string;
  readonly outcome?: Disclosed<string>;
}

export interface BundleParts {
  readonly type: 'searchset' | 'history' | 'batch-response' | 'transaction-response' | 'document';
  readonly id: string;
  readonly lastUpdated: string;
  /** Of a document: what names it everywhere, and when it was put together. */
  readonly document?: {
    readonly identifier: { readonly system: string; readonly value: string };
    readonly timestamp: string;
  };
  readonly total?: number | undefined;
  readonly links: readonly BundleLink[];
  readonly entries: readonly BundleEntry[];
}

/** The Bundle's JSON text. */
export function buildBundleText(parts: BundleParts): Disclosed<string> {
  const { type, id, lastUpdated, document, total, links, entries } = parts;
  const shell = JSON.stringify({
    resourceType: 'Bundle',
    id,
    meta: { lastUpdated },
    identifier: document?.identifier,
    type,
    timestamp: document?.timestamp,
    total,
    link: links.length === 0 ? undefined : links, // R4 JSON forbids empty arrays
  });
  if (entries.length === 0) return markServerWritten(shell);
  // One joining of all, since each copies what may be megabytes.
  const texts = [shell.slice(0, -1), ',"entry":['];
  for (const [index, entry] of entries.entries()) addEntry(texts, entry, index === 0 ? '' : ',');
  texts.push(']}');
  return markServerWritten(texts.join(''));
}

/** Bytes of a body, as it is sent in JSON. */
export function countBodyBytes(body: Disclosed<string> | undefined): number {
  return body === undefined ? 0 : Buffer.byteLength(unwrapDisclosed(body));
}

function addEntry(
  texts: string[],
  { fullUrl, resource, search, request, response }: BundleEntry,
  before: string,
): void {
  const begun = texts.push(before, '{');
  const add = (name: string, text: string): void => {
    texts.push(texts.length === begun ? name : `,${name}`, text);
  };
  if (fullUrl !== undefined) add('"fullUrl":', JSON.stringify(fullUrl));
  if (resource !== undefined) add('"resource":', unwrapDisclosed(resource));
  if (search !== undefined) add('"search":', searchTexts[search.mode]);
  if (request !== undefined) add('"request":', JSON.stringify(request));
  if (response !== undefined) add('"response":', responseText(response));
  texts.push('}');
}

const searchTexts = {
  match: '{"mode":"match"}',
  include: '{"mode":"include"}',
  outcome: '{"mode":"outcome"}',
} as const;

function responseText({ outcome, ...facts }: EntryResponse): string {
  const text = JSON.stringify(facts);
  return outcome === undefined ? text : `${text.slice(0, -1)},"outcome":${unwrapDisclosed(outcome)}}`;
}
