/**
 * Whether what the imported resources refer to is there: looked at when all is stored, since a reference may come before its target.
 */
import { isJsonObject, type JsonValue, resourceTypesWithEndpoint } from '@praxis/fhir';
import { findHook } from '../../engine/hooks.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import { batchMax, type ResourceKey } from '../../storage/store.ts';
import type { Chunk } from './chunks.ts';
import type { ImportFile } from './files.ts';
import { type Loader, withRights } from './loader.ts';
import { getResourceName, type ImportItem } from './plan-batch.ts';
import type { ImportProblem } from './problem.ts';
import { makeProblem } from './problem.ts';
import { type MakeId, readChunk } from './read-chunk.ts';

export interface MissingReferences {
  readonly problems: readonly ImportProblem[];
  /** References of resources that are stored. */
  readonly checked: number;
}

const local = /^([A-Z][A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;
const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

interface Reference {
  readonly path: string;
  /** `Patient/1` */
  readonly target: string;
}

/** A problem for each resource of the chunk that is stored and refers to what is not there, or was deleted. */
export async function checkReferences(
  loader: Loader,
  chunk: Chunk,
  file: ImportFile,
  makeId: MakeId,
): Promise<MissingReferences> {
  const all = [...readChunk(chunk, file, makeId)].flatMap(({ item }) => item ?? []);
  const items = all.filter(({ resource }) => served.has(String(resource.resourceType))); // others were refused
  const referring = items.map((item) => ({ item, references: listReferences(loader.context.baseUrl, item) }));
  const wanted = new Set(
    referring.flatMap(({ item, references }) => [getResourceName(item), ...references.map(({ target }) => target)]),
  );
  const live = await findLive(loader, [...wanted]);
  const problems: ImportProblem[] = [];
  let checked = 0;
  for (const { item, references } of referring) {
    if (!live.has(getResourceName(item))) continue; // it was refused, and that was told
    checked += references.length;
    const issues = references
      .filter(({ target }) => !live.has(target))
      .map(({ path, target }) => ({ diagnostics: `${path}: ${target} does not exist`, expression: [path] }));
    if (issues.length > 0) problems.push(makeProblem(item.origin, { code: 'rule-broken', issues }));
  }
  return { problems, checked };
}

/** Literal references to resources of the firm. A Bundle that is stored as one leads into itself. */
function listReferences(baseUrl: string, { resource }: ImportItem): readonly Reference[] {
  if (resource.resourceType === 'Bundle') return [];
  const found: Reference[] = [];
  const look = (value: JsonValue | undefined, path: string): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) look(item, `${path}[${index}]`);
    } else if (isJsonObject(value)) {
      const target = findTarget(baseUrl, value.reference);
      if (target !== undefined) found.push({ path, target });
      for (const [name, child] of Object.entries(value)) if (typeof child === 'object') look(child, `${path}.${name}`);
    }
  };
  look(resource, String(resource.resourceType));
  return found;
}

/** `Patient/1`, where the text is a literal reference to what the firm stores. */
function findTarget(baseUrl: string, reference: JsonValue | undefined): string | undefined {
  if (typeof reference !== 'string') return undefined;
  const literal = reference.startsWith(`${baseUrl}/`) ? reference.slice(baseUrl.length + 1) : reference;
  const [, type = '', id = ''] = local.exec(literal) ?? [];
  return isStored(type) ? `${type}/${id}` : undefined;
}

/** Derived resources and those of the ledger are not stored. */
function isStored(type: string): boolean {
  return served.has(type) && !ledgerTypes.has(type) && findHook('computed', type) === undefined;
}

async function findLive(loader: Loader, wanted: readonly string[]): Promise<ReadonlySet<string>> {
  const live = new Set<string>();
  for (let from = 0; from < wanted.length; from += batchMax) {
    const keys = wanted.slice(from, from + batchMax).map(toKey);
    const rows = await withRights(loader, ({ scope }) => loader.platform.store.currentVersions(scope, keys));
    for (const { type, id, deleted } of rows) if (!deleted) live.add(`${type}/${id}`);
  }
  return live;
}

function toKey(text: string): ResourceKey {
  const at = text.indexOf('/');
  return { type: text.slice(0, at), id: text.slice(at + 1) };
}
