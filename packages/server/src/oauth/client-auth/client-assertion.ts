/**
 * Client assertions (https://www.rfc-editor.org/rfc/rfc7523#section-3;
 * https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html): a short-lived JWT that the client signs with
 * its own key, for this authorization server alone, and that works once.
 */
import { JsonError, parseJson } from '@praxis/fhir';
import { refuse } from '../errors.ts';
import { type DecodedJwt, decodeJwt, readDateClaim, readTextClaim } from '../signing/jwt.ts';
import { assertionAlgorithmNames, findAlgorithm, parsePublicKey, verifyAssertion } from './assertion-algorithms.ts';
import { type ClientKey, type ClientKeySet, findKey } from './client-keys.ts';

/** An assertion whose claims hold; its signature is not yet verified. */
export interface ClientAssertion {
  /** As it was sent. */
  readonly text: string;
  readonly jwt: DecodedJwt;
  /** Who claims to have made it: `iss` and `sub`. */
  readonly clientId: string;
  /** The key that signed it; absent: the only one that the client has (RFC 7515 §4.1.4 leaves it to the signer). */
  readonly kid: string | undefined;
  readonly jti: string;
  readonly expiresAtMs: number;
}

/** Longest time to live, counted from now (SMART App Launch: five minutes). */
const lifetimeSecondsMax = 300;
/** How far a client's clock may be ahead of ours. */
const clockSkewSeconds = 30;
const jtiCharactersMax = 255;

const types: ReadonlySet<string> = new Set(['jwt', 'client-authentication+jwt']);

/**
 * The assertion, its claims checked before any key is looked for.
 * @param audiences what `aud` may name: the issuer and the endpoint that was called
 * @throws OAuthError `invalid_client` naming the first header parameter or claim that is wrong
 */
export function readClientAssertion(text: string, audiences: readonly string[], nowMs: number): ClientAssertion {
  const jwt = decodeJwt(text) ?? refuse('invalid_client', 'client_assertion is malformed: it is not a JWT');
  if (hasRepeatedMember(jwt))
    refuse('invalid_client', 'client_assertion is malformed: a member of its header or claims comes twice');
  const { kid, alg, typ } = jwt.header;
  if (findAlgorithm(alg) === undefined)
    refuse('invalid_client', `client_assertion alg must be one of ${assertionAlgorithmNames.join(', ')}`);
  if (typ !== undefined && !types.has(typ.toLowerCase().replace(/^application\//, '')))
    refuse('invalid_client', 'client_assertion typ must be JWT or client-authentication+jwt');
  const { claims } = jwt;
  const clientId = readTextClaim(claims, 'iss');
  if (clientId === undefined || clientId !== readTextClaim(claims, 'sub'))
    refuse('invalid_client', 'client_assertion iss and sub must both be the client_id');
  requireAudience(claims['aud'], audiences);
  const expiresAtMs = requireTimes(jwt, nowMs);
  const jti = readTextClaim(claims, 'jti');
  if (jti === undefined || jti.length > jtiCharactersMax)
    refuse('invalid_client', `client_assertion jti is missing or longer than ${jtiCharactersMax} characters`);
  return { text, jwt, clientId, kid, jti, expiresAtMs };
}

/** RFC 7519 §4 leaves it to the reader; of two readers one might take the first and one the last. */
function hasRepeatedMember({ signingInput }: DecodedJwt): boolean {
  return signingInput.split('.').some((segment) => {
    try {
      parseJson(Buffer.from(segment, 'base64url').toString('utf8'));
      return false;
    } catch (error) {
      if (error instanceof JsonError) return true;
      throw error;
    }
  });
}

/** The key of `keys` that the assertion names, if it has signed it. */
export async function findSigner(
  { text, jwt, kid }: ClientAssertion,
  keys: ClientKeySet,
): Promise<ClientKey | undefined> {
  const { alg } = jwt.header;
  const jwk = findKey(keys, kid, alg);
  const key = jwk && parsePublicKey(jwk);
  return key !== undefined && (await verifyAssertion(text, alg, key)) ? jwk : undefined;
}

/**
 * RFC 7523 §3 item 3. Every audience must be ours: an assertion that is for another server, too, could be replayed here by
 * it, and one of ours there.
 */
function requireAudience(aud: unknown, audiences: readonly string[]): void {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (named.length === 0 || !named.every((one) => typeof one === 'string' && audiences.includes(one)))
    refuse('invalid_client', `client_assertion aud must be ${audiences.join(' or ')}, and nothing else`);
}

function requireTimes({ claims }: DecodedJwt, nowMs: number): number {
  const expiresAtMs = readDateClaim(claims, 'exp') ?? refuse('invalid_client', 'client_assertion exp is missing');
  if (nowMs >= expiresAtMs) refuse('invalid_client', 'client_assertion has expired: make a new one for each request');
  if (expiresAtMs > nowMs + (lifetimeSecondsMax + clockSkewSeconds) * 1000)
    refuse('invalid_client', `client_assertion exp must be at most ${lifetimeSecondsMax} seconds from now`);
  for (const name of ['nbf', 'iat']) {
    const atMs = readDateClaim(claims, name);
    if (claims[name] !== undefined && (atMs === undefined || atMs > nowMs + clockSkewSeconds * 1000))
      refuse('invalid_client', `client_assertion ${name} is in the future`);
  }
  return expiresAtMs;
}
