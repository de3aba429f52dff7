/**
 * Where links of a transaction lead (https://hl7.org/fhir/R4/http.html#trules, bundle.html#references): to the entry whose
 * fullUrl they name, absolutely or relative to the fullUrl of their own entry, and for conditional references to what their
 * criteria found. They become `Type/id`, version-specific ones `Type/id/_history/version`; others stay as they are.
 */
import { isJsonObject, type JsonObject, type JsonValue, resourceTypesWithEndpoint } from '@praxis/fhir';
import type { EntryRequest } from './entry-request.ts';
import { type LinkKind, withLinks } from './links.ts';

/** The resource that an entry stands for on this server. */
export interface Identity {
  readonly type: string;
  readonly id: string;
  /** The version it has after the transaction; undefined where that is not known yet. */
  readonly versionId: number | undefined;
}

export interface EntryLinks {
  resource(entry: EntryRequest): JsonObject | undefined;
  /** Replaces links in the JSON Patch of an entry. */
  patch(entry: EntryRequest, document: JsonValue): JsonValue;
  /** Entries that something links to by version. */
  readonly versionsUsed: ReadonlySet<number>;
}

/** R4: elements of these types, and no canonicals. */
const linkTypes: ReadonlySet<string> = new Set(['uri', 'url', 'oid', 'uuid']);

const conditional = /^([A-Z][A-Za-z]+)\?(\S+)$/;
const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);
const relative = /^[A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64}$/;
const restful = /^(https?:\/\/\S+)\/[A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64}$/;
const versioned = /^(.+)\/_history\/[A-Za-z0-9\-.]{1,64}$/;

export interface ConditionalReference {
  /** The reference as it was sent. */
  readonly text: string;
  readonly type: string;
  readonly criteria: string;
  /** The first entry that holds it. */
  readonly index: number;
}

/** The conditional references of all resources, each text once. */
export function listConditionalReferences(entries: readonly EntryRequest[]): readonly ConditionalReference[] {
  const found = new Map<string, ConditionalReference>();
  for (const { index, resource } of entries) {
    if (resource === undefined) continue;
    const target = (text: string, kind: LinkKind): undefined => {
      const [, type, criteria] = kind === 'reference' && !found.has(text) ? (conditional.exec(text) ?? []) : [];
      if (type !== undefined && criteria !== undefined && served.has(type))
        found.set(text, { text, type, criteria, index });
    };
    withLinks(resource, { types: linkTypes, target });
  }
  return [...found.values()];
}

/**
 * @param identities of entries, by their index
 * @param references conditional reference → `Type/id`
 */
export function buildEntryLinks(
  entries: readonly EntryRequest[],
  identities: ReadonlyMap<number, Identity>,
  references: ReadonlyMap<string, string>,
  baseUrl: string,
): EntryLinks {
  const versionsUsed = new Set<number>();
  const targets = targetsOf(entries, identities, baseUrl);
  const absolute = (link: string): string | undefined => {
    const target = targets.get(link);
    if (target !== undefined) return `${target.identity.type}/${target.identity.id}`;
    const { identity, index } = targets.get(versioned.exec(link)?.[1] ?? '') ?? {};
    if (identity === undefined || index === undefined) return undefined;
    versionsUsed.add(index);
    return `${identity.type}/${identity.id}/_history/${identity.versionId ?? 1}`;
  };
  const targetIn = (entry: EntryRequest) => {
    const root = restful.exec(entry.fullUrl ?? '')?.[1];
    return (link: string, kind: LinkKind): string | undefined => {
      if (kind === 'url') return absolute(link);
      const isRelative = root !== undefined && relative.test(versioned.exec(link)?.[1] ?? link);
      return references.get(link) ?? absolute(isRelative ? `${root}/${link}` : link);
    };
  };
  const nothingLinks = targets.size === 0 && references.size === 0;
  return {
    versionsUsed,
    resource(entry) {
      if (nothingLinks || entry.resource === undefined) return entry.resource;
      return withLinks(entry.resource, { types: linkTypes, target: targetIn(entry) });
    },
    patch: (entry, document) => (nothingLinks ? document : patchWithLinks(document, targetIn(entry))),
  };
}

/** fullUrl → what it stands for. Entries that keep the URL they came with need no links replaced. */
function targetsOf(entries: readonly EntryRequest[], identities: ReadonlyMap<number, Identity>, baseUrl: string) {
  const targets = new Map<string, { readonly identity: Identity; readonly index: number }>();
  for (const { index, fullUrl, method } of entries) {
    const identity = identities.get(index);
    if (identity === undefined || fullUrl === undefined || method === 'DELETE') continue;
    if (fullUrl !== `${baseUrl}/${identity.type}/${identity.id}`) targets.set(fullUrl, { identity, index });
  }
  return targets;
}

/** A JSON Patch sets references as members `reference` of its values, or by a path that ends in one. */
function patchWithLinks(document: JsonValue, target: (link: string, kind: LinkKind) => string | undefined): JsonValue {
  const linked = (value: JsonValue, isReference: boolean): JsonValue => {
    if (typeof value === 'string') return isReference ? (target(value, 'reference') ?? value) : value;
    if (Array.isArray(value)) return value.map((each) => linked(each, false));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, linked(each, key === 'reference')]));
  };
  if (!Array.isArray(document)) return document;
  return document.map((operation) => {
    if (!isJsonObject(operation) || operation.value === undefined) return operation;
    const isReference = typeof operation.path === 'string' && operation.path.endsWith('/reference');
    return { ...operation, value: linked(operation.value, isReference) };
  });
}
