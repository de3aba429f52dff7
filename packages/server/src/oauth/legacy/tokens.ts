/**
 * Tokens of the legacy flow: HS256 JWTs that name an account at a firm (contract 2, 4.1, 4.2). They carry no entries: what
 * they open is what the firm authorises at the moment of the call.
 */
import { hash } from 'node:crypto';
import type { Secrets } from '../../base/secrets.ts';
import { type Claims, type DecodedJwt, readDateClaim, readTextClaim, signHs256, verifyHs256 } from '../signing/jwt.ts';
import type { TokenProblem } from '../signing/token-problem.ts';

const header = { alg: 'HS256', typ: 'JWT' } as const;
const credentialCharacters = 16;

/** Whom a token is for, read from the database. */
export interface LegacyHolder {
  readonly environment: string;
  readonly firmPrefix: string;
  readonly applicationName: string;
  readonly subject: string;
  readonly username: string;
  readonly passwordHash: Buffer;
  /** Version of the firm's authorisation, for the record: the claim decides nothing. */
  readonly authorisationVersion: number;
}

export interface LegacyToken {
  readonly tokenType: 'access' | 'refresh';
  readonly tokenId: string;
  /** `jti` of the refresh token that came with it, or of itself: what was got together ends together. */
  readonly grantId: string;
  readonly issuedAtMs: number;
  readonly subject: string;
  readonly environment: string;
  readonly firmPrefix: string;
  /** Changes with the account's password, so tokens end with the password they were got with. */
  readonly credential: string;
  readonly expiresAtMs: number;
}

/** What a token is called: `jti`, and that of the refresh token that it belongs to, for which both are the same. */
export type TokenNames = Pick<LegacyToken, 'tokenId' | 'grantId'>;

/** A signed token of `holder` that is valid for `seconds` from `nowMs`. An access token names its grant as `sid`. */
export function makeLegacyToken(
  secrets: Secrets,
  holder: LegacyHolder,
  tokenType: LegacyToken['tokenType'],
  { tokenId, grantId }: TokenNames,
  nowMs: number,
  seconds: number,
): string {
  const iat = Math.floor(nowMs / 1000);
  const claims: Claims = {
    iss: holder.applicationName,
    sub: holder.subject,
    aud: holder.environment,
    urlPrefix: holder.firmPrefix,
    ...(tokenType === 'access' ? { vendor: `${holder.username}@${holder.firmPrefix}` } : {}),
    tokenType,
    pol: holder.authorisationVersion,
    cred: computeCredential(holder.passwordHash),
    jti: tokenId,
    ...(tokenType === 'access' ? { sid: grantId } : {}),
    iat,
    exp: iat + seconds,
  };
  return signHs256(header, claims, secrets.key('legacy-token'));
}

/** The facts of a token of ours that has not expired, else what is wrong with it. */
export function readLegacyToken(secrets: Secrets, jwt: DecodedJwt, nowMs: number): LegacyToken | TokenProblem {
  if (!verifyHs256(jwt, secrets.key('legacy-token')))
    return { problem: 'has a wrong signature: it was altered or made elsewhere' };
  const { claims } = jwt;
  const tokenType = readTextClaim(claims, 'tokenType');
  const tokenId = readTextClaim(claims, 'jti');
  const issuedAtMs = readDateClaim(claims, 'iat');
  const subject = readTextClaim(claims, 'sub');
  const environment = readTextClaim(claims, 'aud');
  const firmPrefix = readTextClaim(claims, 'urlPrefix');
  const credential = readTextClaim(claims, 'cred');
  const expiresAtMs = readDateClaim(claims, 'exp');
  const lacking = { problem: 'lacks a claim of a legacy token' };
  if (!tokenId || !subject || !environment || !firmPrefix || !credential) return lacking;
  if (expiresAtMs === undefined || issuedAtMs === undefined) return lacking;
  if (tokenType !== 'access' && tokenType !== 'refresh') return lacking;
  if (nowMs >= expiresAtMs) return { problem: 'has expired: request a new one', expired: true };
  const grantId = readTextClaim(claims, 'sid') ?? tokenId;
  return { tokenType, tokenId, grantId, subject, environment, firmPrefix, credential, issuedAtMs, expiresAtMs };
}

/** What binds a token to a password without telling anything about it: a hash of its keyed hash. */
export function computeCredential(passwordHash: Uint8Array): string {
  return hash('sha256', passwordHash, 'base64url').slice(0, credentialCharacters);
}
