/** Everything that calls throw, but for the reason of an aborted signal. */

import { findFix } from './fixes.ts';
import type { OperationOutcomeIssue } from './generated/resources.ts';

/** An issue of the OperationOutcome that the service answered with. */
export type Issue = OperationOutcomeIssue;

/** What is known of a failure. */
export interface Failure {
  readonly method: string;
  readonly path: string;
  readonly code: string;
  readonly issues: readonly [Issue, ...Issue[]];
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** What all errors of this package have. */
export class PraxisError extends Error {
  override readonly name: string = 'PraxisError';
  /** The method of the request, such as `GET`. */
  readonly method: string;
  /** The path of the request from the base URL, without its query: that may name people. */
  readonly path: string;
  /** HTTP status; undefined where there was no answer. */
  readonly status: number | undefined;
  /** What happened, for programs, such as `slot-taken` or `invalid_client`. */
  readonly code: string;
  /** The first issue of the OperationOutcome; `diagnostics` says in words what is wrong. */
  readonly issue: Issue;
  /** All issues. */
  readonly issues: readonly Issue[];
  /** Finds the request in the log of the service. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait, where it does. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: Failure, options?: { readonly cause?: unknown }) {
    const { method, path, status, code, issues, requestId, retryAfterMs } = failure;
    const [issue] = issues;
    const told = [status, code].filter((part) => part !== undefined).join(' ');
    const place = `${method} ${path}`.trim(); // '' for a path that was not sent
    super([place, told, issue.diagnostics ?? issue.code].filter(Boolean).join(': '), options);
    this.method = method;
    this.path = path;
    this.status = status;
    this.code = code;
    this.issue = issue;
    this.issues = issues;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  /** What to do about it, in a sentence. */
  get fix(): string {
    return findFix(this.code, this.status);
  }
}

/** No answer came: the connection failed or the time was over. A write may have had its effect. */
export class NoAnswerError extends PraxisError {
  override readonly name = 'NoAnswerError';
  /** The key of a write, to repeat it or to ask `writeOutcome`. */
  readonly idempotencyKey: string | undefined;

  constructor(
    request: { readonly method: string; readonly path: string; readonly idempotencyKey?: string | undefined },
    diagnostics: string,
    cause: unknown,
  ) {
    const { method, path, idempotencyKey } = request;
    super({ method, path, ...makeCause('no-answer', diagnostics) }, { cause });
    this.idempotencyKey = idempotencyKey;
  }
}

/** The token endpoint refused: `code` is that of RFC 6749 §5.2, such as `invalid_client`. */
export class TokenError extends PraxisError {
  override readonly name = 'TokenError';
}

/** 400, 422 and other 4xx: the request or the resource is wrong. */
export class InvalidError extends PraxisError {
  override readonly name: string = 'InvalidError';
}

/** 401, also with a token that was requested just now. */
export class CredentialsError extends PraxisError {
  override readonly name = 'CredentialsError';
}

/** 403: the practice has not authorised the application, or no access entry allows the call. */
export class ForbiddenError extends PraxisError {
  override readonly name = 'ForbiddenError';
}

/** 404: there is no such resource, or the application may not see it. */
export class NotFoundError extends PraxisError {
  override readonly name = 'NotFoundError';
}

/** 410: it was deleted, or a link has ended. */
export class GoneError extends PraxisError {
  override readonly name: string = 'GoneError';
}

/** 410 `feed-ended`: the copy that `follow` keeps up to date has to be made anew. */
export class FeedEndedError extends GoneError {
  override readonly name = 'FeedEndedError';
}

/** 409: somebody else was first. */
export class ConflictError extends PraxisError {
  override readonly name: string = 'ConflictError';
}

/** A free slot that would do instead. */
export interface Alternative {
  /** `Slot/…`, for `booking.hold` and `booking.book`. */
  readonly slot: string;
  /** When it is: start and end with the offset of the practice, separated by a slash. */
  readonly period: string;
}

/** 409 `slot-taken`: the slot was booked by others. */
export class SlotTakenError extends ConflictError {
  override readonly name = 'SlotTakenError';

  /** The next free slots of the same kind; none where the application may not search for slots. */
  get alternatives(): readonly Alternative[] {
    return this.issues
      .flatMap(({ extension = [] }) => extension)
      .filter(({ url }) => url.endsWith('/alternative'))
      .map(({ valueReference }) => ({ slot: valueReference?.reference ?? '', period: valueReference?.display ?? '' }));
  }
}

/** 412: the resource has a newer version, or `ifNoneExist` finds several. */
export class OutdatedError extends PraxisError {
  override readonly name = 'OutdatedError';
}

/** 429: more requests than the limit allows, also after the waits that `retry` allows. */
export class RateLimitError extends PraxisError {
  override readonly name = 'RateLimitError';
}

/** 5xx: the service could not answer, also after the repetitions that `retry` allows. */
export class ServiceError extends PraxisError {
  override readonly name = 'ServiceError';
}

/** 202: the practice decides first whether the write takes effect. */
export class AwaitingAcceptanceError extends PraxisError {
  override readonly name = 'AwaitingAcceptanceError';

  /** The id of the Task that tells what the practice decided. */
  get task(): string {
    const found = this.issue.extension?.find(({ url }) => url.endsWith('/reconciliation-id'));
    return found?.valueString ?? '';
  }
}

/** What is wrong: of a failure the part that an OperationOutcome says. */
export type Cause = Pick<Failure, 'code' | 'issues'>;

/** A cause in this package's own words. */
export function makeCause(code: string, diagnostics: string): Cause {
  return { code, issues: [{ severity: 'error', code: 'processing', diagnostics }] };
}

type ErrorClass = new (failure: Failure) => PraxisError;

/** The code of a 202 that the practice has to decide on. */
export const awaitingAcceptance = 'awaiting-acceptance';

const classesByCode: Readonly<Record<string, ErrorClass>> = {
  'slot-taken': SlotTakenError,
  'feed-ended': FeedEndedError,
  [awaitingAcceptance]: AwaitingAcceptanceError,
};

const classesByStatus: Readonly<Record<number, ErrorClass>> = {
  401: CredentialsError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: OutdatedError,
  429: RateLimitError,
};

/** The error of an answer: its class follows from code and status. */
export function makeError(failure: Failure & { readonly status: number }): PraxisError {
  const { code, status } = failure;
  const found = (Object.hasOwn(classesByCode, code) ? classesByCode[code] : undefined) ?? classesByStatus[status];
  return new (found ?? (status >= 500 ? ServiceError : InvalidError))(failure);
}

/** What an OperationOutcome says; undefined for anything else. */
export function readOutcome(body: unknown): Cause | undefined {
  const { resourceType, issue } = (body ?? {}) as { resourceType?: string; issue?: readonly Issue[] };
  const [first, ...more] = Array.isArray(issue) ? (issue as readonly Issue[]) : [];
  if (resourceType !== 'OperationOutcome' || first === undefined) return undefined;
  return { code: first.details?.coding?.[0]?.code ?? first.code ?? '', issues: [first, ...more] };
}
