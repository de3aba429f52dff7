/** Requests with a bound on their time, and their repetition where that is safe. */
import { limitTime, type TimeLimit } from './abort.ts';
import { readText, tellEnd } from './bodies.ts';
import {
  type Cause,
  CredentialsError,
  makeCause,
  makeError,
  NoAnswerError,
  PraxisError,
  readOutcome,
} from './errors.ts';
import type { RequestEvent, RequestKind, Settings } from './settings.ts';

/** What `fetch` sends of ours. */
export type RequestBody = string | Blob | URLSearchParams;

/** What a call carries to be let in. */
export interface Authorization {
  /** The headers for the next attempt. */
  getHeaders(signal: AbortSignal | undefined): Promise<Readonly<Record<string, string>>>;
  /** After a 401: has other headers ready for a second attempt. */
  renew(refused: Readonly<Record<string, string>>, signal: AbortSignal | undefined): Promise<void>;
}

/** A request. */
export interface Call {
  readonly kind: RequestKind;
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A function makes one for each attempt. */
  readonly body?: RequestBody | (() => Promise<RequestBody>) | undefined;
  /** Whether it may be sent again where it may have had its effect: after no answer, and after a fault. */
  readonly isRepeatable: boolean;
  readonly idempotencyKey?: string | undefined;
  readonly authorization?: Authorization;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  /** What is wrong, by an answer that is no OperationOutcome. */
  readonly readCause?: (body: unknown) => Cause | undefined;
}

/** A 2xx answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; undefined where it is empty. */
  readonly body: unknown;
}

/** Sends calls. Both functions throw a PraxisError for every answer but 2xx, and the reason of an aborted signal. */
export interface Sender {
  /** Reads the whole answer within the time of an attempt. */
  send(call: Call): Promise<Answer>;
  /** Hands over the answer with its body to be read. */
  open(call: Call): Promise<Response>;
}

/** The first wait before a repetition without Retry-After; each further one is twice as long, with jitter. */
const firstWaitMs = 250;
const waitMsMax = 8_000;

/** Statuses that are repeated: a fault, or a wish to wait. Of 409 those that name a time. */
const repeatable: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
/** Those of a call that was not carried out. */
const postponed: ReadonlySet<number | undefined> = new Set([409, 429, 503]);

/** A sender of one connection. */
export function openSender(settings: Settings): Sender {
  return {
    send: (call) => repeat(settings, call, readAnswer),
    open: (call) => repeat(settings, call, handOver),
  };
}

type Read<T> = (response: Response, event: RequestEvent, limit: TimeLimit) => Promise<T>;

async function repeat<T>(settings: Settings, call: Call, read: Read<T>): Promise<T> {
  const { clock, retry, hooks } = settings;
  const startMs = clock.now();
  let isRenewed = false;
  for (let attempt = 1; ; attempt += 1) {
    const carried = (await call.authorization?.getHeaders(call.signal)) ?? {};
    const event: RequestEvent = { kind: call.kind, method: call.method, path: findPath(settings, call), attempt };
    const result = await attemptOnce(settings, call, carried, event, read);
    if (!(result instanceof PraxisError)) return result.value;
    if (result instanceof CredentialsError && call.authorization !== undefined && !isRenewed) {
      isRenewed = true;
      await call.authorization.renew(carried, call.signal);
      continue;
    }
    const waitMs = computeWaitMs(result, call, attempt);
    const isOver = waitMs === undefined || clock.now() + waitMs - startMs > retry.totalMs;
    if (isOver || attempt >= retry.attemptsMax) throw result;
    hooks.retry?.({ ...event, error: result, waitMs });
    await clock.sleep(waitMs, call.signal);
  }
}

/** How long to wait before the next attempt; undefined: there must be none. */
function computeWaitMs(error: PraxisError, call: Call, attempt: number): number | undefined {
  const { status, retryAfterMs } = error;
  if (!call.isRepeatable && !postponed.has(status)) return undefined;
  if (status !== undefined && !repeatable.has(status) && !(status === 409 && retryAfterMs !== undefined))
    return undefined;
  const longest = Math.min(waitMsMax, firstWaitMs * 2 ** (attempt - 1));
  return retryAfterMs ?? Math.round((longest * (1 + Math.random())) / 2);
}

/** One request. Returns the error of its answer, or of its lack; throws the reason of an aborted signal. */
async function attemptOnce<T>(
  settings: Settings,
  call: Call,
  carried: Readonly<Record<string, string>>,
  event: RequestEvent,
  read: Read<T>,
): Promise<{ readonly value: T } | PraxisError> {
  const { hooks } = settings;
  call.signal?.throwIfAborted();
  const body = typeof call.body === 'function' ? await call.body() : call.body;
  hooks.request?.(event);
  const headers = { ...hooks.headers?.(event), ...call.headers, ...carried };
  const limit = limitTime(call.signal, call.timeoutMs ?? settings.timeoutMs);
  const begin = performance.now();
  let response: Response | undefined;
  let isHandedOver = false;
  try {
    // Credentials must not follow a redirect: https://fetch.spec.whatwg.org/#http-redirect-fetch keeps x-api-key.
    response = await settings.fetch(call.url, {
      method: call.method,
      headers,
      signal: limit.signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) return await readError(settings, call, event, response);
    const value = await read(response, event, limit);
    isHandedOver = value instanceof Response;
    return { value };
  } catch (cause) {
    call.signal?.throwIfAborted();
    return cause instanceof PraxisError ? cause : describeSilence(call, event, limit, cause);
  } finally {
    if (!isHandedOver) limit.close();
    const header = (name: string): string | undefined => response?.headers.get(name) ?? undefined;
    const durationMs = performance.now() - begin;
    const facts = { requestId: header('x-request-id'), sunset: header('sunset'), durationMs };
    hooks.response?.({ ...event, status: response?.status, ...facts });
  }
}

function describeSilence(call: Call, { method, path }: RequestEvent, limit: TimeLimit, cause: unknown): NoAnswerError {
  const { idempotencyKey } = call;
  // fetch of Node says in the cause of its error what happened.
  const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const why = reason instanceof Error ? reason.message : String(reason);
  const diagnostics = limit.isOver() ? 'No answer within the time of an attempt' : `No answer: ${why}`;
  return new NoAnswerError({ method, path, idempotencyKey }, diagnostics, cause);
}

async function readError(
  { clock }: Settings,
  call: Call,
  { method, path }: RequestEvent,
  response: Response,
): Promise<PraxisError> {
  const { status, headers } = response;
  const body = parseJson(await readText(response, { method, path }));
  const known = call.readCause?.(body) ?? readOutcome(body);
  return makeError({
    method,
    path,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: readRetryAfterMs(headers, clock.now()),
    ...(known ?? makeCause('not-fhir', `The answer ${status} is not of the service`)),
  });
}

/** Until its end the caller's signal still counts for the body; then it is let go, since it may live long. */
async function handOver(response: Response, _event: RequestEvent, limit: TimeLimit): Promise<Response> {
  limit.stop();
  return tellEnd(response, limit.close);
}

async function readAnswer(response: Response, { method, path }: RequestEvent): Promise<Answer> {
  const { status, headers } = response;
  const text = await readText(response, { method, path });
  const body = text === '' ? undefined : parseJson(text);
  if (text === '' || body !== undefined) return { status, headers, body };
  throw makeError({ method, path, status, ...makeCause('not-fhir', `The answer ${status} is not JSON`) });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 */
function readRetryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** From the base, where the URL is below it; without the query. */
function findPath({ base }: Settings, { url }: Call): string {
  const [place = ''] = url.split('?');
  if (place === base) return '/';
  return place.startsWith(`${base}/`) ? place.slice(base.length + 1) : new URL(place).pathname;
}
