/** Batches and transactions: entries are added one by one, and each has its answer. https://hl7.org/fhir/R4/http.html#transaction */
import { type Caller, requireResource } from './caller.ts';
import { awaitingAcceptance, makeCause, makeError, type PraxisError, readOutcome } from './errors.ts';
import type { Bundle, BundleEntry, BundleEntryRequest, Reference } from './generated/resources.ts';
import { readLocation } from './links.ts';
import { encodeQuery, type SearchableType, type SearchQuery, toSearchParams } from './query.ts';
import type { PatchOperation } from './records.ts';
import { instancePath, type New, type ResourceType, type Saved, toEtag } from './resource.ts';
import { makeKey, type WriteOptions } from './settings.ts';

/** An entry that was added. @typeParam A what its answer holds */
export interface Entry<A> {
  /** Its place among the entries. */
  readonly index: number;
  /** What other entries refer to its resource by. */
  readonly reference: Reference;
  /** Only the type knows. */
  readonly answer?: A;
}

/** What a batch and a transaction have in common. */
export interface BundleBuilder {
  /** A read. */
  read<T extends ResourceType>(type: T, id: string): Entry<Saved<T>>;
  /** A search, answered with its first page. */
  search<T extends SearchableType>(type: T, query?: SearchQuery<T>): Entry<Bundle>;
  /** A create. @param ifNoneExist a search: if it finds one resource, nothing is created */
  create<T extends SearchableType>(
    resource: New<T>,
    options?: { readonly ifNoneExist?: SearchQuery<T> },
  ): Entry<Saved<T>>;
  /** An update of the whole resource. @param versionId the version that it replaces: any other is refused */
  replace<T extends ResourceType>(
    resource: New<T> & { readonly id: string },
    options?: { readonly versionId?: string },
  ): Entry<Saved<T>>;
  /** A JSON Patch, answered with the new version; with nothing where the application may not read it. */
  patch<T extends ResourceType>(
    type: T,
    id: string,
    operations: readonly PatchOperation[],
    options?: { readonly versionId?: string },
  ): Entry<Saved<T> | undefined>;
  /** A deletion. */
  delete(type: ResourceType, id: string): Entry<undefined>;
  /** Sends all entries in one request. @throws PraxisError where a transaction is refused: then nothing has changed */
  send(options?: WriteOptions): Promise<BundleAnswers>;
}

/** The answers of the entries. */
export interface BundleAnswers {
  /** The answer of an entry. @throws PraxisError where an entry of a batch was refused */
  get<A>(entry: Entry<A>): A;
  /** The error of an entry of a batch; undefined where it succeeded. */
  findError(entry: Entry<unknown>): PraxisError | undefined;
}

/** A builder of a Bundle of `type`. */
export function openBundle(caller: Caller, type: 'batch' | 'transaction'): BundleBuilder {
  const entries: BundleEntry[] = [];
  const add = <A>(entry: BundleEntry, reference = entry.fullUrl ?? entry.request?.url ?? ''): Entry<A> => ({
    index: entries.push(entry) - 1,
    reference: { reference },
  });
  return {
    read: (ofType, id) => add({ request: { method: 'GET', url: instancePath(ofType, id) } }),
    search: (ofType, query = {}) =>
      add({ request: { method: 'GET', url: `${ofType}?${toSearchParams(encodeQuery(query))}` } }),
    create: (resource, { ifNoneExist } = {}) =>
      add({
        fullUrl: `urn:uuid:${makeUuid()}`,
        resource,
        request: {
          method: 'POST',
          url: resource.resourceType,
          ...(ifNoneExist === undefined ? {} : { ifNoneExist: String(toSearchParams(encodeQuery(ifNoneExist))) }),
        },
      } as BundleEntry),
    replace: (resource, options) =>
      add({ resource, request: requestOf('PUT', resource.resourceType, resource.id, options) } as BundleEntry),
    patch: (ofType, id, operations, options) =>
      add({
        resource: { resourceType: 'Binary', contentType: 'application/json-patch+json', data: toBase64(operations) },
        request: requestOf('PATCH', ofType, id, options),
      }),
    delete: (ofType, id) => add({ request: requestOf('DELETE', ofType, id) }),
    async send(options = {}) {
      const bundle: Bundle = { resourceType: 'Bundle', type, entry: entries };
      const headers = { prefer: 'return=representation' };
      const request = { method: 'POST', path: '/' };
      const answer = requireResource(
        await caller.write('POST', '', bundle, { ...options, headers }),
        'Bundle',
        request,
      );
      return readAnswers(entries, answer.entry ?? []);
    },
  };
}

function requestOf(
  method: 'PUT' | 'PATCH' | 'DELETE',
  type: ResourceType,
  id: string,
  { versionId }: { readonly versionId?: string } = {},
): BundleEntryRequest {
  return { method, url: instancePath(type, id), ...(versionId === undefined ? {} : { ifMatch: toEtag(versionId) }) };
}

function readAnswers(sent: readonly BundleEntry[], answered: readonly BundleEntry[]): BundleAnswers {
  const findError = ({ index }: Entry<unknown>): PraxisError | undefined =>
    findEntryError(sent[index], answered[index]);
  return {
    findError,
    get<A>(entry: Entry<A>): A {
      const error = findError(entry);
      if (error !== undefined) throw error;
      const answer = answered[entry.index];
      return (answer?.resource ?? completeSent(sent[entry.index], answer)) as A;
    },
  };
}

function findEntryError(sent: BundleEntry | undefined, answer: BundleEntry | undefined): PraxisError | undefined {
  const { method = '', url = '' } = sent?.request ?? {};
  const { status: text = '500', outcome } = answer?.response ?? {};
  const status = Number.parseInt(text, 10);
  const cause =
    readOutcome(outcome) ?? readOutcome(answer?.resource) ?? makeCause('not-fhir', `The entry was answered ${text}`);
  if (status < 300 && cause.code !== awaitingAcceptance) return undefined;
  const [path = ''] = url.split('?');
  return makeError({ method, path, status, ...cause });
}

/** What was sent, with what is told of its version, where the application may not read it; undefined for a deletion. */
function completeSent(sent: BundleEntry | undefined, answer: BundleEntry | undefined): unknown {
  const { resource, request } = sent ?? {};
  if (resource === undefined || request?.method === 'PATCH') return undefined;
  const { location, lastModified: lastUpdated } = answer?.response ?? {};
  const { id = resource.id, versionId } = readLocation(location);
  return { ...resource, id, meta: { versionId, lastUpdated } };
}

/** https://www.rfc-editor.org/rfc/rfc9562#section-5.4 */
function makeUuid(): string {
  const key = makeKey();
  const variant = '89ab'.charAt(Number.parseInt(key.charAt(16), 16) % 4);
  return `${key.slice(0, 8)}-${key.slice(8, 12)}-4${key.slice(13, 16)}-${variant}${key.slice(17, 20)}-${key.slice(20)}`;
}

/** The JSON of a value in UTF-8, as a base64Binary. */
function toBase64(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
