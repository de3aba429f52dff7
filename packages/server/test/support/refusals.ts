/**
 * Refusals as a whole: status, headers and body, nothing left out but what must vary.
 */
import assert from 'node:assert/strict';
import type { Answer } from './service.ts';

export interface ExpectedIssue {
  /** Row of the errors table. */
  readonly error: string;
  /** FHIR IssueType. */
  readonly issue: string;
  readonly diagnostics: string;
  readonly expression?: readonly string[];
}

export interface ExpectedRefusal extends ExpectedIssue {
  readonly status: number;
  /** The whole WWW-Authenticate header; none when absent. */
  readonly challenge?: string;
  /** The whole Allow header; none when absent. */
  readonly allow?: string;
  /** Issues after the first. */
  readonly more?: readonly ExpectedIssue[];
}

/** The answer of the data API is exactly this OperationOutcome. */
export function assertRefused(answer: Answer, expected: ExpectedRefusal): void {
  const { status, challenge, allow, more = [], ...first } = expected;
  assert.deepEqual(answer.json, outcomeOf(first, ...more));
  assert.equal(answer.status, status);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  assert.equal(challengeOf(answer), challenge ?? null);
  assert.equal(answer.headers.get('allow'), allow ?? null);
  assert.match(answer.headers.get('x-request-id') ?? '', /^[A-Za-z0-9._-]{1,64}$/);
}

const resourceMetadata =
  /, resource_metadata="https?:\/\/[^/"]+\/\.well-known\/oauth-protected-resource\/[a-z0-9-]+\/firm\/[a-z0-9-]+\/[a-z0-9-]+\/fhir\/v2"/;

/** The WWW-Authenticate header but for the metadata of the firm's FHIR base, which each 401 of a firm names (RFC 9728 §5.1). */
export function challengeOf({ status, headers }: Pick<Answer, 'status' | 'headers'>): string | null {
  const challenge = headers.get('www-authenticate');
  const isOfFhirBase = status === 401 && /^Bearer realm="(?:sandbox|production)"/.test(challenge ?? '');
  assert.equal(resourceMetadata.test(challenge ?? ''), isOfFhirBase, challenge ?? 'no challenge');
  return challenge?.replace(resourceMetadata, '') ?? null;
}

/** The OperationOutcome of a refusal. */
export function outcomeOf(...issues: readonly ExpectedIssue[]): object {
  return { resourceType: 'OperationOutcome', issue: issues.map(issueOf) };
}

/** The OperationOutcome of what costs more than one request may. */
export function tooCostly(diagnostics: string, ...expression: readonly string[]): object {
  const issue = { error: 'too-costly', issue: 'too-costly', diagnostics };
  return outcomeOf(expression.length === 0 ? issue : { ...issue, expression });
}

function issueOf({ error, issue, diagnostics, expression }: ExpectedIssue): object {
  return {
    severity: 'error',
    code: issue,
    diagnostics,
    ...(expression === undefined ? {} : { expression }),
    details: { coding: [{ system: 'https://praxis.health/fhir/CodeSystem/error', code: error }], text: diagnostics },
  };
}

/** The WWW-Authenticate header of a 401 that names a wrong token or key (RFC 6750 §3). */
export function invalidToken(description: string, realm = 'sandbox'): string {
  return `Bearer realm="${realm}", error="invalid_token", error_description="${description}"`;
}

/** The WWW-Authenticate header of a 403 for want of an access entry. */
export const insufficientScope = 'Bearer error="insufficient_scope"';

export interface ExpectedTokenRefusal {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  readonly challenge?: string;
}

/** The answer of a token endpoint is exactly this error (RFC 6749 §5.2), which nobody may store. */
export function assertTokenRefused(
  answer: Answer,
  { status, error, description, challenge }: ExpectedTokenRefusal,
): void {
  assert.deepEqual(answer.json, { error, error_description: description });
  assert.equal(answer.status, status);
  assert.equal(answer.headers.get('www-authenticate'), challenge ?? null);
  assertTokenHeaders(answer);
}

/** What every answer of a token endpoint carries. */
export function assertTokenHeaders(answer: Answer): void {
  assert.equal(answer.headers.get('content-type'), 'application/json;charset=UTF-8');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('pragma'), 'no-cache');
  assert.match(answer.headers.get('x-request-id') ?? '', /^[A-Za-z0-9._-]{1,64}$/);
}
