/** What kept a host from answering, for whoever mends it: words that follow its name, and nothing that the host said. */
import { OutboundError } from './outbound-error.ts';
import { headerBytesMax } from './pinned-request.ts';

/** Codes of Node, OpenSSL (https://docs.openssl.org/3.0/man3/X509_STORE_CTX_get_error) and the HTTP parser. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection before it answered',
  EPIPE: 'closed the connection before it answered',
  ETIMEDOUT: 'did not take the connection in time',
  EADDRNOTAVAIL: 'is on a network that cannot be reached',
  EHOSTUNREACH: 'is on a network that cannot be reached',
  ENETUNREACH: 'is on a network that cannot be reached',
  CERT_HAS_EXPIRED: 'has a TLS certificate that has expired',
  CERT_NOT_YET_VALID: 'has a TLS certificate that is not valid yet',
  CERT_REVOKED: 'has a TLS certificate that was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a TLS certificate of another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a TLS certificate that it signed itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a TLS certificate of an authority that is not known',
  UNABLE_TO_GET_ISSUER_CERT: 'has a TLS certificate without the certificate of its issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a TLS certificate without the certificate of its issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a TLS certificate without the certificate of its issuer',
  HPE_HEADER_OVERFLOW: `answered with more than ${headerBytesMax} bytes of headers`,
};

const reasonsByPrefix: readonly (readonly [prefix: string, reason: string])[] = [
  ['HPE_', 'did not answer in HTTP/1.1'],
  ['ERR_SSL_', 'does not speak TLS 1.2 or 1.3'],
  ['EPROTO', 'does not speak TLS 1.2 or 1.3'],
  ['CERT_', 'has a TLS certificate that is not valid'],
  ['INVALID_', 'has a TLS certificate that is not valid'],
  ['UNABLE_', 'has a TLS certificate that is not valid'],
];

/** Why there is no answer. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof OutboundError)) return 'cannot be reached';
  const { cause } = error;
  if (error.message !== 'cannot be reached' || !(cause instanceof Error) || !('code' in cause)) return error.message;
  const code = String(cause.code);
  return reasons[code] ?? reasonsByPrefix.find(([prefix]) => code.startsWith(prefix))?.[1] ?? error.message;
}
