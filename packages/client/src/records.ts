/** Single resources: read, and written without losing what others change meanwhile. */
import { type Caller, findResource, readSaved, requireResource } from './caller.ts';
import { ConflictError, OutdatedError } from './errors.ts';
import type { ResourceTypes } from './generated/resources.ts';
import { encodeQuery, type SearchableType, type SearchQuery, toSearchParams } from './query.ts';
import { instancePath, type New, type ResourceType, type Saved, toEtag, type Version } from './resource.ts';
import type { CallOptions, WriteOptions } from './settings.ts';

/** An operation of a JSON Patch: https://www.rfc-editor.org/rfc/rfc6902 */
export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

/** Changes the copy that it is given, or returns another. It is called again with the newer version after a conflict. */
export type Change<T extends ResourceType> = (resource: Saved<T>) => Changed<T> | Promise<Changed<T>>;

// biome-ignore lint/suspicious/noConfusingVoidType: who changes the copy returns nothing.
type Changed<T extends ResourceType> = ResourceTypes[T] | void;

/** What `update` takes. */
export interface UpdateOptions extends CallOptions {
  /** Versions that are tried at most: 5 if absent. */
  readonly attemptsMax?: number;
}

/** What a change of a known version takes. */
export interface VersionOptions extends WriteOptions {
  /** The version that is changed: any other is refused. Any version if absent. */
  readonly versionId?: string;
}

/** What `create` takes. */
export type CreateOptions<T extends SearchableType> = WriteOptions & {
  /** A search: if it finds one resource, nothing is created. */
  readonly ifNoneExist?: SearchQuery<T>;
};

const attemptsMaxDefault = 5;

/**
 * Reads a resource, changes it, and writes the elements that differ, on condition that nobody wrote meanwhile; else once more.
 * Elements that the application cannot see, and the digits of decimals that are not changed, stay as they are.
 * @returns the new version; what was read where nothing differs
 * @throws OutdatedError or ConflictError when others were faster each time
 */
export async function updateResource<T extends ResourceType>(
  caller: Caller,
  type: T,
  id: string,
  change: Change<T>,
  { signal, attemptsMax = attemptsMaxDefault }: UpdateOptions,
): Promise<Saved<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const current = await readResource(caller, type, id, { signal });
    const draft = structuredClone(current);
    const operations = findDifferences(current, (await change(draft)) ?? draft);
    if (operations.length === 0) return current;
    try {
      const patched = await patchResource(caller, type, id, operations, { signal, versionId: current.meta.versionId });
      return patched ?? (await readResource(caller, type, id, { signal }));
    } catch (error) {
      const isConflict =
        error instanceof OutdatedError || (error instanceof ConflictError && error.code === 'conflict');
      if (!isConflict || attempt >= attemptsMax) throw error;
    }
  }
}

/** @throws NotFoundError, GoneError */
export async function readResource<T extends ResourceType>(
  caller: Caller,
  type: T,
  id: string,
  { signal }: CallOptions,
): Promise<Saved<T>> {
  const path = instancePath(type, id);
  return requireResource(await caller.get(path, { signal }), type, { method: 'GET', path });
}

/** Applies a JSON Patch. @returns the new version; undefined where the application may not read it */
export async function patchResource<T extends ResourceType>(
  caller: Caller,
  type: T,
  id: string,
  operations: readonly PatchOperation[],
  { versionId, ...options }: VersionOptions,
): Promise<Saved<T> | undefined> {
  const how = { ...options, contentType: 'application/json-patch+json', headers: demandVersion(versionId) };
  return findResource(await caller.write('PATCH', instancePath(type, id), operations, how), type);
}

/** @throws OutdatedError for another version */
export async function deleteResource(
  caller: Caller,
  type: ResourceType,
  id: string,
  { versionId, ...options }: VersionOptions,
): Promise<void> {
  await caller.write('DELETE', instancePath(type, id), undefined, { ...options, headers: demandVersion(versionId) });
}

/** @returns what was created, or what `ifNoneExist` found @throws AwaitingAcceptanceError where the practice decides first */
export async function createResource<T extends SearchableType>(
  caller: Caller,
  resource: New<T>,
  { ifNoneExist, ...options }: CreateOptions<T>,
): Promise<Saved<T>> {
  const type: T = resource.resourceType;
  const headers: Record<string, string> =
    ifNoneExist === undefined ? {} : { 'if-none-exist': String(toSearchParams(encodeQuery(ifNoneExist))) };
  const answer = await caller.write('POST', type, resource, { ...options, headers });
  return readSaved(answer, type, resource);
}

/** Writes the whole resource in place of its version. @throws OutdatedError for another version, ForbiddenError */
export async function replaceResource<T extends ResourceType>(
  caller: Caller,
  resource: New<T> & Version,
  options: WriteOptions,
): Promise<Saved<T>> {
  const type: T = resource.resourceType;
  const answer = await caller.write('PUT', instancePath(type, resource.id), resource, {
    ...options,
    headers: demandVersion(resource.meta.versionId),
  });
  return readSaved(answer, type, resource);
}

function demandVersion(versionId: string | undefined): Readonly<Record<string, string>> {
  return versionId === undefined ? {} : { 'if-match': toEtag(versionId) };
}

/** Operations on whole elements of the resource, from one to the other. */
export function findDifferences(before: object, after: object): PatchOperation[] {
  const [old, wanted] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const removed = [...old.keys()].filter((name) => wanted.get(name) === undefined);
  const set = [...wanted].filter(
    ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(old.get(name)),
  );
  return [
    ...removed.map((name) => ({ op: 'remove', path: `/${name}` }) as const),
    ...set.map(([name, value]) => ({ op: 'add', path: `/${name}`, value }) as const),
  ];
}
