/**
 * Whether a request comes from a person at this machine. The credentials of the sandbox are shown to nobody else: not to a proxy,
 * not to a page of another origin that a browser here has open, and not to a name that was made to point here (DNS rebinding).
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** `localhost`, `127.0.0.1:8080`, `[::1]:8080` (RFC 9110 §7.2) */
const ownHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Headers that somebody between the client and this service adds. */
const ofProxies = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** Of https://w3c.github.io/webappsec-fetch-metadata/#sec-fetch-site-header, those that mean the page itself. */
const ownSites: ReadonlySet<unknown> = new Set([undefined, 'none', 'same-origin']);

/** All that is in doubt is no. */
export function isFromOwnMachine({ socket, headers }: IncomingMessage): boolean {
  const { remoteAddress = '' } = socket;
  const family = isIP(remoteAddress) === 6 ? 'ipv6' : 'ipv4';
  return (
    isIP(remoteAddress) > 0 &&
    loopback.check(remoteAddress, family) &&
    ownHost.test(headers.host ?? '') &&
    headers.origin === undefined &&
    ownSites.has(headers['sec-fetch-site']) &&
    !ofProxies.some((name) => headers[name] !== undefined)
  );
}
