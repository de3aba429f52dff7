/**
 * Headers of every answer: no cache keeps it unless the page says that it may, no browser guesses its type
 * (https://fetch.spec.whatwg.org/#x-content-type-options-header), and, where the operator wants it, browsers come by TLS alone
 * (https://www.rfc-editor.org/rfc/rfc6797#section-6.1).
 */
import type { Config } from '../base/config.ts';

/** By name, in lower case. */
export function buildSecurityHeaders({ hstsSeconds }: Pick<Config, 'hstsSeconds'>): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...(hstsSeconds === 0 ? {} : { 'strict-transport-security': `max-age=${hstsSeconds}; includeSubDomains` }),
  };
}
