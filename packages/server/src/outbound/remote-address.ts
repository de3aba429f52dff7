/**
 * Which addresses the server may connect to on behalf of a client's `jwks_uri`: the public Internet's, so that a URL can
 * never make the server ask something in its own network. Which ranges are special is kept by `ipaddr.js`
 * (https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry).
 */
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Of IPv6 the global unicast addresses alone are open; the library takes what nobody was given yet for unicast, too. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether the address is one of the public Internet. Anything that is no address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return ipaddr.IPv4.parse(address).range() === 'unicast';
  if (!isIPv6(address) || address.includes('%')) return false;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.match(globalIpv6) && parsed.range() === 'unicast';
}

/** Whether the address is this machine's own, also where it is written as one of IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return (isIPv4(address) || isIPv6(address)) && ipaddr.process(address).range() === 'loopback';
}
