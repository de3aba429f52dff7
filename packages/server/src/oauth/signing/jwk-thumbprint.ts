/** The thumbprint of a public key: one name for one key, whoever computes it (https://www.rfc-editor.org/rfc/rfc7638). */
import { createHash } from 'node:crypto';

/** Members that make the key, in the order of their names (RFC 7638 §3.2). */
const requiredMembers = { RSA: ['e', 'kty', 'n'], EC: ['crv', 'kty', 'x', 'y'] } as const;

/** SHA-256 over the required members, in base64url. */
export function computeJwkThumbprint(jwk: { readonly kty: 'RSA' | 'EC'; readonly [member: string]: unknown }): string {
  const members = requiredMembers[jwk.kty].map((name) => [name, jwk[name]]);
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(members)))
    .digest('base64url');
}
