/**
 * Who is behind a proxy, for requests that are answered without Fastify. As there, what a trusted proxy says in X-Forwarded-For and
 * X-Forwarded-Host is believed, and of several addresses the last one that is no trusted proxy's counts.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

export interface Proxies {
  /** The address of the client. */
  findAddress(request: IncomingMessage): string;
  /** The host that the client named. */
  findHost(request: IncomingMessage): string | undefined;
}

/** Names that stand for ranges, as Fastify takes them. */
export const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** @param trusted addresses, ranges, and names of ranges */
export function openProxies(trusted: readonly string[]): Proxies {
  const list = new BlockList();
  for (const entry of trusted.flatMap((name) => namedRanges[name] ?? [name])) {
    const [address = '', bits] = entry.split('/');
    if (isIP(address) === 0) continue;
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string): boolean =>
    isIP(address) > 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return {
    findAddress({ socket, headers }) {
      const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
      const hops = [...forwarded.map((each) => each.trim()).filter((each) => each !== ''), socket.remoteAddress ?? ''];
      return hops.findLast((address, index) => index === 0 || !isTrusted(address)) ?? '';
    },
    findHost({ socket, headers }) {
      const forwarded = headers['x-forwarded-host'];
      if (forwarded === undefined || !isTrusted(socket.remoteAddress ?? '')) return headers.host;
      return String(forwarded).split(',').at(-1)?.trim();
    },
  };
}
