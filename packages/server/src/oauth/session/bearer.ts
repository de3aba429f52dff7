/**
 * The Bearer token of an API call and the challenge that a refusal carries (https://www.rfc-editor.org/rfc/rfc6750).
 */

/** Where else RFC 6750 lets a token be; such a token is refused, since it would end up in logs. */
export type TokenPlace = 'query' | 'body';

export type BearerHeader =
  | { readonly kind: 'sent'; readonly token: string }
  | { readonly kind: 'absent' | 'malformed'; readonly diagnostics: string };

const bearerPattern = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/**
 * @param authorization every value of the Authorization header
 * @param elsewhere where the request has an `access_token` parameter, if it has one
 */
export function readBearer(authorization: readonly string[], elsewhere?: TokenPlace): BearerHeader {
  const problem = (kind: 'absent' | 'malformed', what: string) => ({ kind, diagnostics: `Bearer token ${what}` });
  if (elsewhere !== undefined)
    return problem('malformed', `in the ${elsewhere} is refused: send it in the Authorization header only`);
  const [value, ...more] = authorization;
  if (value === undefined || value === '')
    return problem('absent', 'is missing: send the header Authorization: Bearer <access token>');
  if (more.length > 0) return problem('malformed', 'is sent more than once: send one Authorization header');
  if (!/^Bearer(?: |$)/i.test(value))
    return problem('absent', 'is missing: the Authorization header has another scheme');
  const token = bearerPattern.exec(value)?.[1];
  if (token !== undefined) return { kind: 'sent', token };
  return problem('malformed', 'is malformed: expected the header Authorization: Bearer <access token>');
}

/**
 * The WWW-Authenticate value of a 401 (RFC 6750 §3). Without `description` no token was sent, and so no error is named.
 * @param description may hold any characters; those that RFC 6750 does not allow are replaced
 * @param resourceMetadataUrl tells clients where to learn who issues tokens (https://www.rfc-editor.org/rfc/rfc9728#section-5.1)
 */
export function buildBearerChallenge(realm: string, description?: string, resourceMetadataUrl?: string): string {
  const metadata = resourceMetadataUrl === undefined ? '' : `, resource_metadata="${resourceMetadataUrl}"`;
  const challenge = `Bearer realm="${realm}"${metadata}`;
  if (description === undefined) return challenge;
  return `${challenge}, error="invalid_token", error_description="${description.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')}"`;
}
