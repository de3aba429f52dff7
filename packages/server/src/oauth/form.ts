/**
 * The form body of a token request (https://www.rfc-editor.org/rfc/rfc6749#section-3.2 and appendix B;
 * https://url.spec.whatwg.org/#urlencoded-parsing).
 */
import { refuse } from './errors.ts';

/** Parameter name → value. Parameters without a value are absent, as RFC 6749 §3.2 demands. */
export type Form = ReadonlyMap<string, string>;

/** Whether the media type is that of a form, the only one that a token request may have (contract 4). */
export function isFormType(contentType: readonly string[]): boolean {
  const [sent = '', ...more] = contentType;
  return more.length === 0 && mediaType.test(sent.trim());
}

/** @throws OAuthError `invalid_request` */
export function refuseFormType(): never {
  return refuse('invalid_request', 'Content-Type must be application/x-www-form-urlencoded');
}

export const formParametersMax = 50;

const mediaType = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const charsetPattern = /;\s*charset\s*=\s*"?([^";\s]*)/i;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The parameters of a token request.
 * @param contentType all values of the Content-Type header; the encoding is always UTF-8
 * @throws OAuthError `invalid_request` for another media type or charset, bytes or escapes that are not UTF-8, U+0000, a repeated
 *   parameter (also an unknown or empty one), or more than `formParametersMax` parameters
 */
export function parseForm(contentType: readonly string[], body: Uint8Array): Form {
  if (!isFormType(contentType)) refuseFormType();
  const charset = charsetPattern.exec(contentType[0] ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8')
    refuse('invalid_request', 'Content-Type must not name a charset other than UTF-8');
  return parseFormBody(body);
}

/** As `parseForm`, whatever the Content-Type says. */
export function parseFormBody(body: Uint8Array): Form {
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, value] of pairs(decodeBytes(body))) {
    if (seen.has(name)) refuse('invalid_request', `${printable(name)} is sent more than once`);
    if (seen.size === formParametersMax) refuse('invalid_request', `More than ${formParametersMax} parameters`);
    seen.add(name);
    if (value !== '') form.set(name, value);
  }
  return form;
}

/**
 * The value of a parameter that must be present.
 * @throws OAuthError `invalid_request` naming the parameter
 */
export function requireParameter(form: Form, name: string): string {
  return form.get(name) ?? refuse('invalid_request', `${name} is missing or empty`);
}

/**
 * One form-encoded component, decoded: `+` is a space, percent-escapes are UTF-8.
 * @returns undefined when an escape is broken, is not UTF-8, or stands for U+0000
 */
export function decodeComponent(text: string): string | undefined {
  const spaced = text.replaceAll('+', ' ');
  try {
    const decoded = spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined; // URIError: the caller says what was wrong, nothing else can fail here
  }
}

function* pairs(text: string): Generator<[name: string, value: string]> {
  for (const part of text.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = decodeComponent(at < 0 ? part : part.slice(0, at));
    if (name === undefined) refuse('invalid_request', 'A parameter name has a broken percent-escape or U+0000');
    const value = decodeComponent(at < 0 ? '' : part.slice(at + 1));
    if (value === undefined) refuse('invalid_request', `${printable(name)} has a broken percent-escape or U+0000`);
    yield [name, value];
  }
}

function decodeBytes(body: Uint8Array): string {
  try {
    return strictUtf8.decode(body);
  } catch (cause) {
    return refuse('invalid_request', 'The body is not UTF-8', cause);
  }
}

/** A parameter's name as it may stand in an error: unknown names could be anything, even a secret sent in the wrong place. */
function printable(name: string): string {
  return /^[a-z_]{1,40}$/.test(name) ? name : 'A parameter';
}
