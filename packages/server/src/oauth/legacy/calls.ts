/**
 * The end of the legacy flow at the data API: which calls with a legacy token are refused, and what every answer to one
 * announces. A firm's own terms are told only to who may act there.
 */
import type { Clock } from '../../base/clock.ts';
import { PraxisError } from '../../base/errors.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { Database } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { readBearer } from '../session/bearer.ts';
import type { ApiCredentials } from '../session/session.ts';
import { decodeJwt, readTextClaim, verifyHs256 } from '../signing/jwt.ts';
import { requireOpenCalls } from './refusal.ts';
import { decideLegacy, type LegacyTerms, noTerms } from './sunset.ts';
import { findLegacyTerms } from './sunset-schedule.ts';
import type { OnLegacyUse } from './use.ts';

export interface LegacyCallContext {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** Told of each call with a legacy token of a caller who may act at the firm. */
  readonly onLegacyUse?: OnLegacyUse;
}

/** What the terms add to the session of a legacy token. */
export interface LegacySessionPart {
  readonly legacyHeaders?: Readonly<Record<string, string>>;
  /** When the terms may refuse the session, ms since 1970. */
  readonly changesAtMs: number;
}

/**
 * The part of a session that the terms decide, for a caller who may act at the firm.
 * @throws PraxisError `legacy-paused` (503) during a brown-out, `legacy-ended` (401) after the end
 */
export function openLegacyCall(
  context: LegacyCallContext,
  credentials: ApiCredentials,
  user: { readonly firm: number; readonly application: number },
  terms: LegacyTerms,
  nowMs: number,
): LegacySessionPart {
  const decision = decideLegacy(terms, nowMs);
  if (decision.kind !== 'open') context.onLegacyUse?.({ ...user, kind: 'refused', userAgent: credentials.userAgent });
  requireOpenCalls(decision, credentials, nowMs);
  const { headers, changesAtMs } = decision;
  return { changesAtMs, ...(Object.keys(headers).length > 0 ? { legacyHeaders: headers } : {}) };
}

/**
 * A refusal of a call, with what the end of the legacy flow announces where the call brought a legacy token of ours, valid
 * or not. Where it was refused before its facts were read, one statement finds the terms.
 * @param known the terms that the caller may know, where they have been read
 */
export async function withLegacyHeaders(
  context: LegacyCallContext,
  credentials: ApiCredentials,
  known: LegacyTerms | undefined,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof PraxisError) || error.status >= 500) return error;
  const { headers } = decideLegacy(known ?? (await termsOfToken(context, credentials)), context.clock.now());
  if (headers['deprecation'] === undefined) return error;
  return new PraxisError(error.code, { ...error.details, headers: { ...headers, ...error.details.headers } });
}

async function termsOfToken(context: LegacyCallContext, credentials: ApiCredentials): Promise<LegacyTerms> {
  const bearer = readBearer(credentials.authorization);
  const jwt = bearer.kind === 'sent' ? decodeJwt(bearer.token) : undefined;
  if (!jwt || !verifyHs256(jwt, context.secrets.key('legacy-token'))) return noTerms;
  const application = sql`SELECT application FROM legacy_account WHERE subject = ${readTextClaim(jwt.claims, 'sub') ?? ''}`;
  return await findLegacyTerms(context.database, credentials.environment.id, application, context.clock.now());
}
