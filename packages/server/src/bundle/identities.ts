/**
 * Which resources the entries of a transaction stand for (https://hl7.org/fhir/R4/http.html#trules): known at once where
 * an id is given or will be assigned, found by a search where the entry is conditional.
 */
import { fail, PraxisError } from '../base/errors.ts';
import type { InteractionContext } from '../engine/context.ts';
import { findMatches } from '../engine/write/conditional.ts';
import { parseParameters } from '../search/query/query-string.ts';
import type { StoredResource } from '../storage/store.ts';
import type { Identity } from './entry-links.ts';
import { formatEntryPath, placeInEntry, runForEntry } from './entry-problem.ts';
import type { EntryRequest } from './entry-request.ts';

/**
 * The identities of entries by their index; entries without one read, or change nothing.
 * @param known what an earlier run has learned; the rest is searched for
 * @param newIds by index, for what an entry may create
 */
export async function resolveIdentities(
  context: InteractionContext,
  entries: readonly EntryRequest[],
  newIds: readonly string[],
  known: ReadonlyMap<number, Identity>,
): Promise<ReadonlyMap<number, Identity>> {
  const identities = new Map<number, Identity>();
  for (const entry of entries) {
    const { index } = entry;
    const identity =
      known.get(index) ?? (await runForEntry(index, () => identityOf(context, entry, newIds[index] ?? '')));
    if (identity !== undefined) identities.set(index, identity);
  }
  return identities;
}

async function identityOf(
  context: InteractionContext,
  entry: EntryRequest,
  newId: string,
): Promise<Identity | undefined> {
  const { interaction, type, id, resource, ifNoneExist, query } = entry;
  switch (interaction) {
    case 'create': {
      const match = ifNoneExist === undefined ? undefined : await onlyMatch(context, type, ifNoneExist);
      return { type, id: match?.id ?? newId, versionId: match?.versionId ?? 1 };
    }
    case 'update':
    case 'patch':
    case 'delete':
      return { type, id, versionId: undefined };
    case 'conditional-update': {
      const given = typeof resource?.id === 'string' ? resource.id : newId;
      return { type, id: (await onlyMatch(context, type, query))?.id ?? given, versionId: undefined };
    }
    case 'conditional-patch':
    case 'conditional-delete': {
      const match = await onlyMatch(context, type, query);
      return match && { type, id: match.id, versionId: undefined };
    }
    default:
      return undefined;
  }
}

/** Several matches are refused by the interaction itself, in its turn. */
async function onlyMatch(
  context: InteractionContext,
  type: string,
  criteria: string,
): Promise<StoredResource | undefined> {
  const [match, ...others] = await findMatches(context, type, parseParameters(criteria));
  return others.length === 0 ? match : undefined;
}

/**
 * R4: a resource may occur once among what is deleted, created, updated and patched. A conditional create that finds one
 * does none of that.
 * @throws PraxisError `bundle-invalid`
 */
export function requireDistinct(
  entries: readonly EntryRequest[],
  identities: ReadonlyMap<number, Identity>,
  newIds: readonly string[],
): void {
  const holders = new Map<string, number>();
  for (const { index, interaction } of entries) {
    const identity = identities.get(index);
    if (identity === undefined || (interaction === 'create' && identity.id !== newIds[index])) continue;
    const name = `${identity.type}/${identity.id}`;
    const holder = holders.get(name);
    if (holder !== undefined) {
      const diagnostics = `${name} is changed by ${formatEntryPath(holder)}, too: a resource may occur once in a transaction`;
      throw placeInEntry(new PraxisError('bundle-invalid', { diagnostics }), index);
    }
    holders.set(name, index);
  }
}

/** @throws PraxisError `bundle-invalid` when links to a fullUrl could lead to two entries */
export function requireDistinctUrls(entries: readonly EntryRequest[]): void {
  const holders = new Map<string, number>();
  for (const { index, fullUrl, resource } of entries) {
    if (fullUrl === undefined || resource === undefined) continue;
    const holder = holders.get(fullUrl);
    if (holder !== undefined) {
      fail('bundle-invalid', {
        diagnostics: `${formatEntryPath(index)}.fullUrl is also that of ${formatEntryPath(holder)}: links to it are ambiguous`,
        expression: [`${formatEntryPath(index)}.fullUrl`],
      });
    }
    holders.set(fullUrl, index);
  }
}
