/**
 * Refusals of the legacy flow during a brown-out and after its end: at the token endpoint as RFC 6749 §5.2 bodies
 * (https://www.rfc-editor.org/rfc/rfc6749#section-5.2, `error_uri` is the operator's page), at the data API as 503 with
 * Retry-After (https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3) or 401. Callers have proved who they are.
 */
import { toInstant } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { refuse } from '../errors.ts';
import { buildBearerChallenge } from '../session/bearer.ts';
import type { ApiCredentials } from '../session/session.ts';
import type { LegacyDecision } from './sunset.ts';

/** @throws OAuthError `temporarily_unavailable` during a brown-out, `unauthorized_client` after the end */
export function requireOpenGrant(decision: LegacyDecision, nowMs: number): void {
  if (decision.kind === 'open') return;
  const extras = { ...retryOf(decision, nowMs), ...(decision.link === undefined ? {} : { uri: decision.link }) };
  const code = decision.kind === 'ended' ? 'unauthorized_client' : 'temporarily_unavailable';
  refuse(code, `password and refresh_token grants ${stateOf(decision)}`, undefined, extras);
}

/**
 * @param credentials whose realm and FHIR base the challenge of a 401 names
 * @throws PraxisError `legacy-paused` during a brown-out, `legacy-ended` after the end, with the decision's headers
 */
export function requireOpenCalls(decision: LegacyDecision, credentials: ApiCredentials, nowMs: number): void {
  if (decision.kind === 'open') return;
  const diagnostics = `Legacy tokens ${stateOf(decision)}`;
  if (decision.kind === 'ended') {
    const { environment, resourceMetadataUrl } = credentials;
    const challenge = buildBearerChallenge(environment.realm, diagnostics, resourceMetadataUrl);
    fail('legacy-ended', { diagnostics, headers: { ...decision.headers, 'www-authenticate': challenge } });
  }
  const { retryAfterSeconds } = retryOf(decision, nowMs);
  fail('legacy-paused', { diagnostics, headers: { ...decision.headers, 'retry-after': String(retryAfterSeconds) } });
}

/** What follows "tokens" or "grants": state and time first, then the way out. */
function stateOf(decision: Exclude<LegacyDecision, { readonly kind: 'open' }>): string {
  const page = decision.link === undefined ? '' : `, see ${decision.link}`;
  if (decision.kind === 'ended')
    return `ended at ${time(decision.endedAtMs)}: move to client credentials, which open the same${page}`;
  const { endsAtMs, sunsetAtMs } = decision;
  const until =
    sunsetAtMs !== null && sunsetAtMs <= endsAtMs ? `and end at ${time(sunsetAtMs)}` : `until ${time(endsAtMs)}`;
  return `are paused ${until} (planned brown-out): move to client credentials, which open the same${page}`;
}

/** To the second, as the headers tell it. */
function time(ms: number): string {
  return toInstant(ms).replace(/\.\d{3}Z$/, 'Z');
}

function retryOf(decision: LegacyDecision, nowMs: number): { readonly retryAfterSeconds?: number } {
  if (decision.kind !== 'brown-out') return {};
  return { retryAfterSeconds: Math.max(1, Math.ceil((decision.changesAtMs - nowMs) / 1000)) };
}
