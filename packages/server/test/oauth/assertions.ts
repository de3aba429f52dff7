/** Client assertions as other software makes them (jose), for tests. */
import type { KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { assertionType } from '../../src/oauth/client-auth/client-authentication.ts';
import { type ClientKeySet, readKeySet } from '../../src/oauth/client-auth/client-keys.ts';
import type { TokenReply } from '../../src/oauth/token-endpoint.ts';
import { formRequest, realmOrigin, type Vendor, type World } from './world.ts';

export const issuer = `${realmOrigin}/auth/realms/sandbox`;
export const tokenEndpoint = `${issuer}/protocol/openid-connect/token`;

export interface KeyPair {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

export async function makeKeyPair(alg: string, kid: string): Promise<KeyPair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return {
    kid,
    alg,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), kid },
    privateJwk: { ...(await exportJWK(privateKey)), kid },
  };
}

/** The keys as `praxis client jwks` stores them. */
export function keySetOf(...pairs: readonly KeyPair[]): ClientKeySet {
  const set = readKeySet({ keys: pairs.map(({ publicJwk }) => publicJwk) });
  if ('problem' in set) throw new Error(set.problem);
  return set;
}

let made = 0;

/** Claims of a right assertion of `clientId`, with changes; undefined takes a claim away. */
export function claimsOf(world: World, clientId: string, changes: Readonly<Record<string, unknown>> = {}): JWTPayload {
  made += 1;
  const now = Math.floor(world.clock.now() / 1000);
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: issuer,
    jti: `assertion-${made}`,
    iat: now,
    exp: now + 60,
    ...changes,
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

export async function signAssertion(
  pair: Pick<KeyPair, 'alg' | 'kid'> & { readonly privateKey: CryptoKey | KeyObject },
  claims: JWTPayload,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const protectedHeader = { alg: pair.alg, kid: pair.kid, typ: 'JWT', ...header };
  return await new SignJWT(claims).setProtectedHeader(protectedHeader).sign(pair.privateKey);
}

/** A client-credentials request that is authenticated by an assertion. */
export async function requestByAssertion(
  world: World,
  vendor: Vendor,
  assertion: string,
  more: Readonly<Record<string, string>> = {},
): Promise<TokenReply> {
  const form = {
    grant_type: 'client_credentials',
    client_assertion_type: assertionType,
    client_assertion: assertion,
    ...more,
  };
  return await world.endpoints.client('sandbox', formRequest(form, [vendor.clientKey]));
}
