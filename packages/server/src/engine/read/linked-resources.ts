/**
 * The resources of this service that disclosed texts refer to (https://hl7.org/fhir/R4/references.html#literal), as far as the
 * caller may search them. Only what the caller sees is followed: a hidden reference leads nowhere.
 */
import { type BudgetedWork, resourceTypesWithEndpoint } from '@praxis/fhir';
import { type Disclosed, unwrapDisclosed } from '../../access/disclosure.ts';
import { makeTooCostlyError } from '../../limits/budgets.ts';
import { includedBytesMax } from '../../search/includes/include-limits.ts';
import { countBytes, type StoredResource } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';
import { planSearch, strictly } from '../search/searching.ts';
import { selectAllPages } from '../search/select-page.ts';

const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/** Ids that one search asks for, at most. */
const idsPerSearch = 20;

/** Members that refer to resources, as JSON writes them. Inside a text their quotes would be escaped. */
const references = /"(reference|url)":"([^"\\]+)"/g;

/** A literal reference; one to a version refers to its resource. */
const literal = /^(([A-Z][A-Za-z]+)\/[A-Za-z0-9\-.]{1,64})(?:\/_history\/[^/]+)?$/;

/** `Type/id` of each local resource that the text refers to, in the order of the text; versions are left off. */
export function listLocalReferences(
  { baseUrl }: Pick<InteractionContext, 'baseUrl'>,
  text: Disclosed<string>,
): readonly string[] {
  const found = new Set<string>();
  for (const [, member, value = ''] of unwrapDisclosed(text).matchAll(references)) {
    const path = value.startsWith(`${baseUrl}/`) ? value.slice(baseUrl.length + 1) : value;
    const [, name, type = ''] = literal.exec(path) ?? [];
    const isLink = member === 'reference' || type === 'Binary';
    if (isLink && name !== undefined && served.has(type)) found.add(name);
  }
  return [...found];
}

/**
 * Those of `names` (`Type/id`) that exist and that the caller may search, in the order of `names`.
 * @throws PraxisError `too-costly` where they take more than `includedBytesMax` together
 */
export async function findNamed(
  context: InteractionContext,
  names: readonly string[],
): Promise<readonly StoredResource[]> {
  const idsByType = new Map<string, string[]>();
  for (const name of names) {
    const [type = '', id = ''] = name.split('/');
    if (context.policy.allows(type, 's')) idsByType.set(type, [...(idsByType.get(type) ?? []), id]);
  }
  const found = new Map<string, StoredResource>();
  let bytes = 0;
  for (const [type, ids] of idsByType) {
    for (let start = 0; start < ids.length; start += idsPerSearch) {
      const asked = ['_id', ids.slice(start, start + idsPerSearch).join(',')] as const;
      const pages = selectAllPages(context, (begin) => planSearch(context, type, [asked, ...begin], strictly));
      for await (const rows of pages) {
        for (const row of rows) found.set(`${row.type}/${row.id}`, row);
        bytes += countBytes(rows);
        if (bytes > includedBytesMax) throw makeTooCostlyError({ ...reading, limit: 'bytes', max: includedBytesMax });
      }
    }
  }
  return names.flatMap((name) => found.get(name) ?? []);
}

const reading: BudgetedWork = {
  what: 'Reading the resources that are referred to',
  cheaper: 'ask for smaller pages (_count), or for fewer types (_type)',
};
