/** Requests to the FHIR API of one practice, with both credentials on each. */
import { awaitingAcceptance, type Failure, makeCause, makeError, readOutcome } from './errors.ts';
import type { Bundle } from './generated/resources.ts';
import { readLocation, requireOwn } from './links.ts';
import { type Parameter, toSearchParams } from './query.ts';
import { type ResourceType, refusePath, type Saved } from './resource.ts';
import type { FetchedPage } from './search.ts';
import type { Answer, Authorization, RequestBody, Sender } from './sender.ts';
import { type CallOptions, type Clock, makeKey, type Settings, type WriteOptions } from './settings.ts';

/** What a read may say beside its path. */
export interface ReadCall extends CallOptions {
  readonly timeoutMs?: number;
}

/** What a write may say beside its path and body. */
export interface WriteCall extends WriteOptions {
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls the FHIR API of a practice. All throw what a Sender throws, and InvalidError `path-invalid` before anything is sent. */
export interface Caller {
  /** FHIR base URL, without a slash at its end. */
  readonly base: string;
  readonly sender: Sender;
  readonly clock: Clock;
  /** Time for one attempt, in ms. */
  readonly timeoutMs: number;
  /** GET of a path below the base. */
  get(path: string, options: ReadCall): Promise<Answer>;
  /** A page of a search: by POST, so that its values stand in no URL. @param type may be followed by an operation */
  search(path: string, parameters: readonly Parameter[], options: CallOptions): Promise<FetchedPage>;
  /** A page by GET. */
  getPage(path: string, options: ReadCall): Promise<FetchedPage>;
  /** The path below the base that a link leads to. @throws InvalidError `foreign-link` */
  findPath(link: string): string;
  /**
   * POST, PUT, PATCH or DELETE with an Idempotency-Key.
   * @param body of JSON; undefined: none
   * @throws AwaitingAcceptanceError where the practice decides first
   */
  write(method: string, path: string, body: unknown, options: WriteCall): Promise<Answer>;
}

const fhirJson = 'application/fhir+json';

/** A caller that is let in by `authorization`. */
export function openCaller({ base, timeoutMs, clock }: Settings, sender: Sender, authorization: Authorization): Caller {
  const urlOf = (path: string): string => joinUrl(base, path);
  const accept = { accept: fhirJson };

  async function get(path: string, { signal, timeoutMs: ownTimeoutMs }: ReadCall): Promise<Answer> {
    return await sender.send({
      kind: 'data',
      method: 'GET',
      url: urlOf(path),
      headers: accept,
      isRepeatable: true,
      authorization,
      signal,
      ...(ownTimeoutMs === undefined ? {} : { timeoutMs: ownTimeoutMs }),
    });
  }

  async function post(path: string, body: RequestBody, { signal }: CallOptions): Promise<Answer> {
    return await sender.send({
      kind: 'data',
      method: 'POST',
      url: urlOf(path),
      headers: accept,
      body,
      isRepeatable: true,
      authorization,
      signal,
    });
  }

  return {
    base,
    sender,
    clock,
    timeoutMs,
    get,
    search: async (path, parameters, options) =>
      toPage(await post(`${path}/_search`, toSearchParams(parameters), options)),
    getPage: async (path, options) => toPage(await get(path, options)),
    findPath: (link) => requireOwn(base, link).slice(base.length + 1),
    async write(method, path, body, { signal, idempotencyKey = makeKey(), contentType = fhirJson, headers }) {
      const answer = await sender.send({
        kind: 'data',
        method,
        url: urlOf(path),
        headers: {
          ...accept,
          'idempotency-key': idempotencyKey,
          ...(body === undefined ? {} : { 'content-type': contentType }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        isRepeatable: true, // the key gives it one effect
        idempotencyKey,
        authorization,
        signal,
      });
      const cause = answer.status === 202 ? readOutcome(answer.body) : undefined;
      if (cause?.code === awaitingAcceptance) throw makeError({ ...describe(answer), method, path, ...cause });
      return answer;
    },
  };
}

/**
 * The URL of a path below the base: each request carries credentials, which another practice would take as well.
 * @throws InvalidError `path-invalid` for a path that is not sent as it stands, such as one with `..`, and for coded slashes
 */
function joinUrl(base: string, path: string): string {
  if (path === '') return base;
  const url = `${base}/${path}`;
  const { origin, pathname } = new URL(url);
  const [place = ''] = url.split('?');
  if (`${origin}${pathname}` === place && !/%(?:2f|5c)/i.test(place)) return url;
  throw refusePath(`The path holds more than names of what is below ${base}`);
}

function toPage({ body, headers }: Answer): FetchedPage {
  return { bundle: body as Bundle, completeUntil: headers.get('x-complete-until') ?? undefined };
}

/** What headers and status of an answer say of it. */
function describe({ status, headers }: Answer) {
  return { status, requestId: headers.get('x-request-id') ?? undefined };
}

/**
 * The resource that a write has stored. Where the answer does not show it, because the application may not read it or the
 * write was repeated, it is what was sent with the id and version that the headers tell.
 */
export function readSaved<T extends ResourceType>(answer: Answer, type: T, sent: { readonly id?: string }): Saved<T> {
  const found = findResource(answer, type);
  if (found !== undefined) return found;
  const { headers } = answer;
  const { id = sent.id, versionId = readVersion(headers) } = readLocation(headers.get('location'));
  const lastModified = Date.parse(headers.get('last-modified') ?? '');
  const lastUpdated = Number.isNaN(lastModified) ? '' : new Date(lastModified).toISOString();
  return { ...sent, id, meta: { versionId, lastUpdated } } as Saved<T>;
}

/** The version in an ETag such as `W/"3"`; '' without one. */
function readVersion(headers: Headers): string {
  return /"([^"]*)"/.exec(headers.get('etag') ?? '')?.[1] ?? '';
}

/** The resource of an answer; undefined where it shows none of the type. */
export function findResource<T extends ResourceType>({ body }: Answer, type: T): Saved<T> | undefined {
  const { resourceType } = (body ?? {}) as { resourceType?: string };
  return resourceType === type ? (body as Saved<T>) : undefined;
}

/**
 * The resource of an answer.
 * @throws PraxisError `answer-withheld` for a repeated write whose first answer is not told again
 */
export function requireResource<T extends ResourceType>(
  answer: Answer,
  type: T,
  request: Pick<Failure, 'method' | 'path'>,
): Saved<T> {
  const found = findResource(answer, type);
  if (found !== undefined) return found;
  const cause = readOutcome(answer.body) ?? makeCause('', `The answer holds no ${type}`);
  throw makeError({ ...request, ...describe(answer), ...cause, code: 'answer-withheld' });
}
