/** How a connection is made: what `connect` takes. */
import { sleep } from './abort.ts';
import type { Credentials } from './credentials.ts';
import type { PraxisError } from './errors.ts';

/** How often and how long a call is repeated. */
export interface RetryOptions {
  /** Time for a call with all its repetitions and waits, in ms: 120,000 if absent. A longer Retry-After ends the call. */
  readonly totalMs?: number;
  /** Attempts of a call at most: 6 if absent. 1 repeats nothing. */
  readonly attemptsMax?: number;
}

/** What a request is for. */
export type RequestKind = 'data' | 'token' | 'content';

/** An attempt that begins. It names no query, body, token or key: those are of people, or secret. */
export interface RequestEvent {
  readonly kind: RequestKind;
  readonly method: string;
  /** From the base URL of the practice, without the query. */
  readonly path: string;
  /** 1 for the first one. */
  readonly attempt: number;
}

/** An attempt that has ended. */
export interface ResponseEvent extends RequestEvent {
  /** Undefined where no answer came. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly durationMs: number;
  /** The header Sunset: when the flow of the token ends. Set an alert for it. */
  readonly sunset: string | undefined;
}

/** A repetition that is waited for. */
export interface RetryEvent extends RequestEvent {
  readonly error: PraxisError;
  readonly waitMs: number;
}

/** Functions that are told what happens, for traces, metrics and logs. What they throw ends the call. */
export interface Hooks {
  /** Headers to add to an attempt, such as `traceparent`. */
  readonly headers?: (event: RequestEvent) => Readonly<Record<string, string>>;
  readonly request?: (event: RequestEvent) => void;
  readonly response?: (event: ResponseEvent) => void;
  readonly retry?: (event: RetryEvent) => void;
}

/** Where the time comes from; tests have one of their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What `connect` takes. */
export interface ConnectOptions {
  /** The FHIR base URL of one practice: `https://…/{environment}/firm/{firm}/{product}/fhir/v2`. */
  readonly base: string | URL;
  /** The flow with its secrets. Practices that are connected with the same object share a token. */
  readonly credentials: Credentials;
  readonly retry?: RetryOptions;
  /** Time for one attempt, in ms: 30,000 if absent. Waits for changes and uploads have more. */
  readonly timeoutMs?: number;
  readonly hooks?: Hooks;
  /** Instead of the platform's `fetch`. */
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What every write takes. */
export interface WriteOptions extends CallOptions {
  /**
   * Makes the write have one effect however often it is sent, for 7 days: a new one for each call if absent. Give one that
   * you have stored, to repeat a write after a restart.
   */
  readonly idempotencyKey?: string;
}

/** `ConnectOptions` with defaults in place of what is absent. */
export interface Settings {
  /** Without a slash at its end. */
  readonly base: string;
  readonly retry: Required<RetryOptions>;
  readonly timeoutMs: number;
  readonly hooks: Hooks;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

const defaultRetry: Required<RetryOptions> = { totalMs: 120_000, attemptsMax: 6 };
const defaultTimeoutMs = 30_000;
const systemClock: Clock = { now: () => Date.now(), sleep };

/** @throws TypeError for a base that is no URL of http or https */
export function readSettings(options: ConnectOptions): Settings {
  const { protocol, origin, pathname } = new URL(options.base);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TypeError(`base is no URL of http or https: ${protocol}`);
  return {
    base: `${origin}${pathname.replace(/\/+$/, '')}`,
    retry: { ...defaultRetry, ...options.retry },
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    hooks: options.hooks ?? {},
    fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)), // a browser's fetch must not be called as a method
    clock: options.clock ?? systemClock,
  };
}

/** Characters that every header takes and that nobody guesses. */
export function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // unlike randomUUID also on plain http
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
