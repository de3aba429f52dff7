/**
 * How a client says who it is: id and secret in the body (`client_secret_post`) or in the Authorization header
 * (`client_secret_basic`), or an assertion signed with its own key (`private_key_jwt`); one of them, never two
 * (https://www.rfc-editor.org/rfc/rfc6749#section-2.3, https://www.rfc-editor.org/rfc/rfc7523#section-2.2).
 */
import { refuse } from '../errors.ts';
import { decodeComponent, type Form } from '../form.ts';

export const clientAuthenticationMethods = ['client_secret_post', 'client_secret_basic', 'private_key_jwt'] as const;

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface ClientSecretCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface ClientAssertionCredentials {
  readonly assertion: string;
  /** The parameter of that name, which must then be the assertion's subject. */
  readonly clientId?: string;
}

export type ClientCredentials = ClientSecretCredentials | ClientAssertionCredentials;

const basicPattern = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;

/**
 * The credentials that the request names; nothing is checked against the database.
 * @param authorization every value of the header; schemes other than Basic do not authenticate a client and are not read
 * @throws OAuthError `invalid_request` for two methods at once or two headers, `invalid_client` for none or a malformed one
 */
export function readClientCredentials(authorization: readonly string[], form: Form): ClientCredentials {
  if (authorization.length > 1) refuse('invalid_request', 'Authorization header is sent more than once');
  const basic = authorization.find((value) => /^Basic(?: |$)/i.test(value));
  const asserts = form.has('client_assertion') || form.has('client_assertion_type');
  if (asserts && (basic !== undefined || form.has('client_secret'))) {
    refuse(
      'invalid_request',
      'client_assertion is sent beside a client secret: authenticate the client in one way, not in two',
    );
  }
  if (asserts) return fromAssertion(form);
  if (basic === undefined) return fromForm(form);
  if (form.has('client_secret'))
    refuse('invalid_request', 'client_secret is sent twice: use the body or the Authorization header, not both');
  const credentials = fromBasic(basic);
  const named = form.get('client_id');
  if (named !== undefined && named !== credentials.clientId)
    refuse('invalid_request', 'client_id differs from the one in the Authorization header');
  return credentials;
}

function fromAssertion(form: Form): ClientAssertionCredentials {
  const assertion = form.get('client_assertion');
  if (assertion === undefined) refuse('invalid_request', 'client_assertion is missing or empty');
  if (form.get('client_assertion_type') !== assertionType)
    refuse('invalid_request', `client_assertion_type must be ${assertionType}`);
  const clientId = form.get('client_id');
  return { assertion, ...(clientId === undefined ? {} : { clientId }) };
}

function fromForm(form: Form): ClientSecretCredentials {
  const clientId = form.get('client_id');
  const clientSecret = form.get('client_secret');
  if (clientId === undefined && clientSecret === undefined)
    refuse('invalid_client', 'client_id and client_secret are missing');
  if (clientId === undefined) refuse('invalid_request', 'client_id is missing or empty');
  if (clientSecret === undefined) refuse('invalid_client', 'client_secret is missing or empty');
  return { clientId, clientSecret };
}

/** RFC 6749 §2.3.1: id and secret are form-encoded before they are joined by a colon and encoded in base64. */
function fromBasic(header: string): ClientSecretCredentials {
  const encoded =
    basicPattern.exec(header)?.[1] ?? refuse('invalid_client', 'Authorization header is not Basic followed by base64');
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) refuse('invalid_client', 'Authorization header holds no client_id:client_secret');
  const clientId = decodeComponent(text.slice(0, colon));
  const clientSecret = decodeComponent(text.slice(colon + 1));
  if (!clientId || !clientSecret)
    refuse('invalid_client', 'Authorization header needs form-encoded client_id and client_secret, neither empty');
  return { clientId, clientSecret };
}
