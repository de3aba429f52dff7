/** The way in: a connection to one practice. */
import { type Booking, openBooking } from './booking.ts';
import { type BundleBuilder, openBundle } from './bundle.ts';
import { type Caller, openCaller } from './caller.ts';
import { type Documents, openDocuments } from './documents.ts';
import { type ChangePage, type FollowOptions, followChanges } from './follow.ts';
import type { AnyResource, Parameters } from './generated/resources.ts';
import { findParameter } from './parameters.ts';
import { encodeQuery, type Parameter, type SearchableType, type SearchQuery } from './query.ts';
import {
  type Change,
  type CreateOptions,
  createResource,
  deleteResource,
  type PatchOperation,
  patchResource,
  readResource,
  replaceResource,
  type UpdateOptions,
  updateResource,
  type VersionOptions,
} from './records.ts';
import { instancePath, type New, type ResourceType, type Saved, type Version } from './resource.ts';
import { makePages, type Pages, type Search } from './search.ts';
import { openSender } from './sender.ts';
import { type CallOptions, type ConnectOptions, readSettings, type WriteOptions } from './settings.ts';
import { openAuthorization } from './tokens.ts';

/** What `search` takes beside the query. */
export interface SearchOptions extends CallOptions {
  /** Parameters that the types do not know, such as those that the practice has defined. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** What became of a write: `done` once, or `none` so far. */
export interface WriteOutcome {
  readonly outcome: 'done' | 'none';
  readonly status: number | undefined;
  /** The URL of the resource that was written. */
  readonly location: string | undefined;
  readonly versionId: string | undefined;
}

/** A connection to a practice. Every call throws a PraxisError for an answer but success, and the reason of an aborted signal. */
export interface Praxis {
  /** The FHIR base URL, without a slash at its end. */
  readonly base: string;
  /** Reads a resource. @throws NotFoundError, GoneError */
  read<T extends ResourceType>(type: T, id: string, options?: CallOptions): Promise<Saved<T>>;
  /** The resources that match. Nothing is sent before the answer is iterated over. Values stand in no URL. */
  search<T extends SearchableType>(type: T, query?: SearchQuery<T>, options?: SearchOptions): Search<T>;
  /** The versions of a resource, the newest first; deletions are left out. */
  history<T extends SearchableType>(type: T, id: string, options?: CallOptions): Pages<T>;
  /**
   * Creates a resource.
   * @returns what was created, or what the search `ifNoneExist` found
   * @throws AwaitingAcceptanceError where the practice decides first
   */
  create<T extends SearchableType>(resource: New<T>, options?: CreateOptions<T>): Promise<Saved<T>>;
  /**
   * Reads a resource, lets `change` change it, and writes what differs, without losing what others write meanwhile.
   * @returns the new version; what was read where nothing differs
   * @throws OutdatedError where others were faster each time
   */
  update<T extends ResourceType>(type: T, id: string, change: Change<T>, options?: UpdateOptions): Promise<Saved<T>>;
  /** Writes a whole resource in place of the version that `meta.versionId` names. @throws OutdatedError, ForbiddenError */
  replace<T extends ResourceType>(resource: New<T> & Version, options?: WriteOptions): Promise<Saved<T>>;
  /** Applies a JSON Patch. @returns the new version; undefined where the application may not read it */
  patch<T extends ResourceType>(
    type: T,
    id: string,
    operations: readonly PatchOperation[],
    options?: VersionOptions,
  ): Promise<Saved<T> | undefined>;
  /** Deletes a resource. @throws OutdatedError for another version than that of `options` */
  delete(type: ResourceType, id: string, options?: VersionOptions): Promise<void>;
  /** Requests that are sent together; each succeeds or fails on its own. */
  batch(): BundleBuilder;
  /** Writes that are sent together; all succeed, or none. */
  transaction(): BundleBuilder;
  /**
   * Changes of the practice, page by page, for ever. A page counts as done when the loop asks for the next one.
   * @throws FeedEndedError when the copy has to be made anew
   */
  follow<T extends ResourceType = ResourceType>(
    options?: FollowOptions<T>,
  ): AsyncGenerator<ChangePage<T>, void, undefined>;
  /** Appointments by the calendars of the practice. */
  readonly booking: Booking;
  /** Files. */
  readonly documents: Documents;
  /**
   * An operation that changes something, such as `Appointment/1/$check-in`.
   * @returns what it returns; undefined for no content
   */
  invoke<R extends AnyResource = Parameters>(
    path: string,
    parameters?: Parameters,
    options?: WriteOptions,
  ): Promise<R | undefined>;
  /** GET of any path below the base, such as `Patient/1/$everything` or `metadata`. */
  get<R extends AnyResource = AnyResource>(path: string, options?: CallOptions): Promise<R>;
  /** What became of a write with this Idempotency-Key whose answer was lost. */
  writeOutcome(idempotencyKey: string, options?: CallOptions): Promise<WriteOutcome>;
}

/**
 * Connects to a practice. Nothing is sent before the first call.
 * @throws TypeError for a base that is no URL of http or https
 */
export function connect(options: ConnectOptions): Praxis {
  const settings = readSettings(options);
  const sender = openSender(settings);
  const caller = openCaller(settings, sender, openAuthorization(settings, options.credentials, sender));
  return {
    base: settings.base,
    ...openReading(caller),
    ...openWriting(caller),
    batch: () => openBundle(caller, 'batch'),
    transaction: () => openBundle(caller, 'transaction'),
    follow: (following = {}) => followChanges(caller, following),
    booking: openBooking(caller),
    documents: openDocuments(caller),
  };
}

function openReading(caller: Caller): Pick<Praxis, 'read' | 'search' | 'history' | 'get' | 'writeOutcome'> {
  const follow = (options: CallOptions) => (link: string) => caller.getPage(caller.findPath(link), options);
  return {
    read: (type, id, options = {}) => readResource(caller, type, id, options),
    search: (type, query = {}, { extra = {}, ...options } = {}) =>
      searchType(caller, type, [...encodeQuery(query), ...Object.entries(extra)], options),
    history: (type, id, options = {}) =>
      makePages({ first: () => caller.getPage(`${instancePath(type, id)}/_history`, options), next: follow(options) }),
    get: async <R extends AnyResource>(path: string, options: CallOptions = {}) =>
      (await caller.get(path, options)).body as R,
    async writeOutcome(key, options = {}) {
      const { body } = await caller.get(`$write-outcome?${new URLSearchParams({ key })}`, options);
      const found = (name: string) => findParameter(body as Parameters, name);
      return {
        outcome: found('outcome')?.valueCode === 'done' ? 'done' : 'none',
        status: found('status')?.valueInteger,
        location: found('location')?.valueUri,
        versionId: found('versionId')?.valueId,
      };
    },
  };
}

function searchType<T extends SearchableType>(
  caller: Caller,
  type: T,
  parameters: readonly Parameter[],
  options: CallOptions,
): Search<T> {
  const search = (wanted: readonly Parameter[]) => caller.search(type, wanted, options);
  const pages = makePages<T>({
    first: () => search(parameters),
    // What the link holds is sent in the body, since it repeats what was searched for.
    next: (link) => search([...new URLSearchParams(caller.findPath(link).split('?')[1])]),
  });
  return {
    ...pages,
    async count() {
      const counted = parameters.filter(([name]) => name !== '_count' && name !== '_summary');
      const { bundle } = await search([...counted, ['_summary', 'count']]);
      return bundle.total ?? 0;
    },
  };
}

function openWriting(caller: Caller): Pick<Praxis, 'create' | 'update' | 'replace' | 'patch' | 'delete' | 'invoke'> {
  return {
    create: (resource, options = {}) => createResource(caller, resource, options),
    update: (type, id, change, options = {}) => updateResource(caller, type, id, change, options),
    replace: <T extends ResourceType>(resource: New<T> & Version, options: WriteOptions = {}) =>
      replaceResource<T>(caller, resource, options),
    patch: (type, id, operations, options = {}) => patchResource(caller, type, id, operations, options),
    delete: (type, id, options = {}) => deleteResource(caller, type, id, options),
    invoke: async <R extends AnyResource>(path: string, parameters?: Parameters, options: WriteOptions = {}) =>
      (await caller.write('POST', path, parameters, options)).body as R | undefined,
  };
}
