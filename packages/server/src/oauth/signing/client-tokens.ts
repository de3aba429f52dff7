/**
 * Access tokens of the client-credentials flow: RS256 JWTs (contract 5.9) after the JWT profile of
 * https://www.rfc-editor.org/rfc/rfc9068, with `typ` JWT as existing clients know it.
 */
import { makeUuid } from '../../base/ids.ts';
import { type Claims, type DecodedJwt, readDateClaim, readTextClaim, signRs256, verifyRs256 } from './jwt.ts';
import type { SigningKey, SigningKeys } from './signing-keys.ts';
import type { TokenProblem } from './token-problem.ts';
import type { CarriedScope } from './token-scopes.ts';

/** Whom a token is for, read from the database. */
export interface ClientHolder {
  readonly clientId: string;
  readonly subject: string;
  readonly environment: string;
  readonly scope: CarriedScope;
  /** The client's secret that it was got with; undefined for one got with an assertion. */
  readonly secretId: number | undefined;
  /** What vouched for the key that signed the assertion (`digestRegistration`); undefined for one got with a secret. */
  readonly registeredKey: string | undefined;
  /** Whether the token request carried the application's API key; without it the token opens nothing (contract 7.1). */
  readonly keyed: boolean;
}

export interface ClientToken extends ClientHolder {
  readonly realm: string;
  readonly issuer: string;
  /** The key that signed it; whether it still counts is in the database. */
  readonly kid: string;
  readonly tokenId: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

/** Path of a realm below its origin; the issuer is origin + path. */
export function buildRealmPath(realm: string): string {
  return `/auth/realms/${realm}`;
}

/** Path of an endpoint below its issuer. */
export function buildEndpointPath(endpoint: string): string {
  return `/protocol/openid-connect/${endpoint}`;
}

/** A signed token of `holder` that is valid for `seconds` from `nowMs`, with its `jti`. */
export async function makeClientToken(
  key: SigningKey,
  issuer: string,
  holder: ClientHolder,
  nowMs: number,
  seconds: number,
): Promise<{ readonly token: string; readonly tokenId: string }> {
  const iat = Math.floor(nowMs / 1000);
  const tokenId = makeUuid();
  const claims: Claims = {
    iss: issuer,
    sub: holder.subject,
    aud: holder.environment,
    azp: holder.clientId,
    client_id: holder.clientId,
    jti: tokenId,
    iat,
    exp: iat + seconds,
    ...('reference' in holder.scope
      ? { scope_reference: holder.scope.reference }
      : { scope: holder.scope.entries.join(' ') }),
    api_key: holder.keyed,
    ...(holder.secretId === undefined ? {} : { secret_id: holder.secretId }),
    ...(holder.registeredKey === undefined ? {} : { registered_key: holder.registeredKey }),
  };
  return { token: await signRs256({ alg: 'RS256', typ: 'JWT', kid: key.kid }, claims, key.privateKey), tokenId };
}

/**
 * The facts of a token of ours that has not expired, else what is wrong with it. A key signs for one realm, so the
 * signature proves the realm; the issuer's origin is not compared, since nodes of one installation may be known by several.
 */
export async function readClientToken(
  keys: SigningKeys,
  jwt: DecodedJwt,
  nowMs: number,
): Promise<ClientToken | TokenProblem> {
  const { kid } = jwt.header;
  const key = kid === undefined ? undefined : await keys.verifier(kid);
  if (!key || kid === undefined)
    return { problem: 'is signed with an unknown key (kid): it was made elsewhere or its key is retired' };
  if (!verifyRs256(jwt, key.publicKey)) return { problem: 'has a wrong signature: it was altered or made elsewhere' };
  const { claims } = jwt;
  const { realm } = key;
  const issuer = readTextClaim(claims, 'iss');
  const subject = readTextClaim(claims, 'sub');
  const environment = readTextClaim(claims, 'aud');
  const clientId = readTextClaim(claims, 'client_id');
  const tokenId = readTextClaim(claims, 'jti');
  const registeredKey = readTextClaim(claims, 'registered_key');
  const expiresAtMs = readDateClaim(claims, 'exp');
  const issuedAtMs = readDateClaim(claims, 'iat');
  const scope = readScope(claims);
  const { api_key: keyed, secret_id: secret } = claims;
  if (!issuer?.endsWith(buildRealmPath(realm))) return { problem: 'names an issuer that its key does not sign for' };
  const lacking = { problem: 'lacks a claim of a client-credentials token' };
  if (!subject || !environment || !clientId || !tokenId || !scope || typeof keyed !== 'boolean') return lacking;
  if (expiresAtMs === undefined || issuedAtMs === undefined) return lacking;
  if (nowMs >= expiresAtMs) return { problem: 'has expired: request a new one', expired: true };
  const secretId = typeof secret === 'number' ? secret : undefined;
  const holder = { clientId, subject, environment, scope, secretId, registeredKey, keyed };
  return { ...holder, realm, issuer, kid, tokenId, issuedAtMs, expiresAtMs };
}

function readScope(claims: Claims): CarriedScope | undefined {
  const reference = readTextClaim(claims, 'scope_reference');
  if (reference !== undefined) return { reference };
  const { scope } = claims;
  if (typeof scope !== 'string') return undefined;
  return { entries: scope === '' ? [] : scope.split(' ') };
}
