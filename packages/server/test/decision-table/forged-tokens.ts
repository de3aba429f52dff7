/**
 * Tokens that nobody was given: what an attacker makes of a real one, or of the public keys.
 */
import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';

/** A copy of the token with another payload and the old signature. */
export function withClaims(token: string, change: Readonly<Record<string, unknown>>): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  return [header, encode({ ...decode(payload), ...change }), signature].join('.');
}

/** A copy whose signature differs in one bit. */
export function withFlippedSignature(token: string): string {
  const [header, payload, signature = ''] = token.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return [header, payload, bytes.toString('base64url')].join('.');
}

/** A copy that claims another algorithm and keeps the signature (RFC 8725 §2.1). */
export function withAlgorithm(token: string, alg: string): string {
  const [header = '', payload, signature] = token.split('.');
  return [encode({ ...decode(header), alg }), payload, signature].join('.');
}

/** A copy that claims algorithm `none` and has no signature. */
export function unsigned(token: string): string {
  return `${withAlgorithm(token, 'none').split('.').slice(0, 2).join('.')}.`;
}

/** A copy that is signed by HS256 with the public key, which everybody knows, as the secret. */
export function signedWithPublicKey(token: string, jwk: JsonWebKey): string {
  const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const [header = '', payload] = token.split('.');
  const input = `${encode({ ...decode(header), alg: 'HS256' })}.${payload}`;
  return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
}

const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** A copy that is signed with a key of the attacker's own; `kid` defaults to that of the token. */
export function signedByAttacker(token: string, kid?: string): string {
  const [header = '', payload] = token.split('.');
  const input = `${encode({ ...decode(header), ...(kid === undefined ? {} : { kid }) })}.${payload}`;
  return `${input}.${sign('sha256', Buffer.from(input), attacker.privateKey).toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(segment: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(segment, 'base64url').toString());
}
