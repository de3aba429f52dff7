/**
 * JSON Web Tokens in compact form (https://www.rfc-editor.org/rfc/rfc7519, https://www.rfc-editor.org/rfc/rfc7515), with
 * the rules of https://www.rfc-editor.org/rfc/rfc8725: the algorithm is chosen by the verifier and never by the token, each
 * algorithm has keys of its own, and only one spelling of a token is accepted.
 */
import { type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { computeHmac } from '../../base/hmac.ts';

export const jwtCharactersMax = 16_384;

export type Algorithm = 'RS256' | 'HS256';

export interface JwtHeader {
  readonly alg: string;
  readonly typ?: string;
  readonly kid?: string;
  /** Where the signer says that its keys are; believed by nobody, only compared. */
  readonly jku?: string;
}

export type Claims = Readonly<Record<string, unknown>>;

/** A token taken apart; nothing in it is true until its signature is verified. */
export interface DecodedJwt {
  readonly header: JwtHeader;
  readonly claims: Claims;
  /** Header and payload as they were signed. */
  readonly signingInput: string;
  readonly signature: Buffer;
}

const signInThreadPool = promisify(sign);
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A JWT of `claims` signed with RS256 in the thread pool, so that the event loop goes on answering meanwhile. */
export async function signRs256(header: JwtHeader, claims: Claims, privateKey: KeyObject): Promise<string> {
  const signingInput = `${encodeSegment(header)}.${encodeSegment(claims)}`;
  const signature = await signInThreadPool('sha256', Buffer.from(signingInput, 'latin1'), privateKey);
  return `${signingInput}.${signature.toString('base64url')}`;
}

/** A JWT of `claims` signed with HS256. */
export function signHs256(header: JwtHeader, claims: Claims, key: Buffer): string {
  const signingInput = `${encodeSegment(header)}.${encodeSegment(claims)}`;
  return `${signingInput}.${computeHmac(key, signingInput).toString('base64url')}`;
}

export function verifyRs256(jwt: DecodedJwt, publicKey: KeyObject): boolean {
  return (
    jwt.header.alg === 'RS256' && verify('sha256', Buffer.from(jwt.signingInput, 'latin1'), publicKey, jwt.signature)
  );
}

export function verifyHs256(jwt: DecodedJwt, key: Buffer): boolean {
  const expected = computeHmac(key, jwt.signingInput);
  return (
    jwt.header.alg === 'HS256' && jwt.signature.length === expected.length && timingSafeEqual(jwt.signature, expected)
  );
}

/**
 * A token taken apart, its signature not yet verified.
 * @returns undefined when it is not a JWS in compact form whose header and payload are JSON objects, when it has a
 *   `crit` header (no extension is understood), or when it is longer than `jwtCharactersMax`
 */
export function decodeJwt(token: string): DecodedJwt | undefined {
  if (token.length > jwtCharactersMax) return undefined;
  const [head, payload, signatureText, ...more] = token.split('.');
  if (!head || !payload || !signatureText || more.length > 0) return undefined;
  const header = decodeObject(head);
  const claims = decodeObject(payload);
  const signature = decodeBase64url(signatureText);
  if (!header || !claims || !signature || typeof header['alg'] !== 'string' || 'crit' in header) return undefined;
  const { alg, typ, kid, jku } = header;
  return {
    header: {
      alg,
      ...(typeof typ === 'string' ? { typ } : {}),
      ...(typeof kid === 'string' ? { kid } : {}),
      ...(typeof jku === 'string' ? { jku } : {}),
    },
    claims,
    signingInput: `${head}.${payload}`,
    signature,
  };
}

/** The claim as a non-empty string, or undefined. */
export function readTextClaim(claims: Claims, name: string): string | undefined {
  const value = claims[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The claim as milliseconds, from a NumericDate in seconds (RFC 7519 §2), or undefined. */
export function readDateClaim(claims: Claims, name: string): number | undefined {
  const value = claims[name];
  return typeof value === 'number' && Number.isFinite(value) ? value * 1000 : undefined;
}

function encodeSegment(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decodeObject(segment: string): Record<string, unknown> | undefined {
  const bytes = decodeBase64url(segment);
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(strictUtf8.decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // not UTF-8 or not JSON: malformed like everything else that is refused here
  }
}

/** Whether parsed JSON is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Node skips characters outside the alphabet and ignores surplus bits: only the spelling that encoding gives is taken. */
function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
