/**
 * Whether a request comes from a person at this machine. The credentials of the sandbox are shown to nobody else: not to a proxy,
 * not to a page of another origin that a browser here has open, and not to a name that was made to point here (DNS rebinding).
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Config } from '../../base/config.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** `localhost`, `127.0.0.1:8080`, `[::1]:8080` (RFC 9110 §7.2) */
const ownHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Headers that somebody between the client and this service adds. */
const ofProxies = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|x-client-ip|x-original-.*|cf-.*)$/;

/** Of https://w3c.github.io/webappsec-fetch-metadata/#sec-fetch-site-header, those that mean the page itself. */
const ownSites: ReadonlySet<unknown> = new Set([undefined, 'none', 'same-origin']);

/** Whether a service with these settings is for people at its machine alone: it listens there, and is reached in no other way. */
export function servesOwnMachineAlone(
  config: Pick<Config, 'host' | 'trustedProxies' | 'baseUrl' | 'environmentOrigins' | 'realmOrigins'>,
): boolean {
  const { host, trustedProxies, baseUrl, environmentOrigins, realmOrigins } = config;
  const origins = [baseUrl, ...environmentOrigins.values(), ...realmOrigins.values()].filter(Boolean);
  return (
    trustedProxies.length === 0 &&
    ownHost.test(host === '::1' ? '[::1]' : host) &&
    origins.every((origin) => ownHost.test(new URL(origin).host))
  );
}

/** All that is in doubt is no. Proxies that add no header ask by HTTP/1.0 as a rule. */
export function isFromOwnMachine({ socket, headers, httpVersion }: IncomingMessage): boolean {
  const { remoteAddress = '' } = socket;
  const family = isIP(remoteAddress) === 6 ? 'ipv6' : 'ipv4';
  return (
    isIP(remoteAddress) > 0 &&
    loopback.check(remoteAddress, family) &&
    ownHost.test(headers.host ?? '') &&
    headers.origin === undefined &&
    ownSites.has(headers['sec-fetch-site']) &&
    httpVersion === '1.1' &&
    !Object.keys(headers).some((name) => ofProxies.test(name))
  );
}
