/**
 * Which addresses the server may connect to on behalf of a client's `jwks_uri`: the public Internet's, so that a URL can
 * never make the server ask something in its own network
 * (https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry).
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Not globally reachable, or leading elsewhere: private, shared, local, documentation, benchmarks, multicast, reserved. */
const closedIpv4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Within the global unicast addresses 2000::/3, the only ones that are open. */
const closedIpv6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4 leads to any IPv4 address
  ['3fff::', 20],
];

const closed = new BlockList();
for (const [network, prefix] of closedIpv4) closed.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of closedIpv6) closed.addSubnet(network, prefix, 'ipv6');
const globalIpv6 = new BlockList();
globalIpv6.addSubnet('2000::', 3, 'ipv6');
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether the address is one of the public Internet. Anything that is no address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closed.check(address, 'ipv4');
  return (
    isIPv6(address) && !address.includes('%') && globalIpv6.check(address, 'ipv6') && !closed.check(address, 'ipv6')
  );
}

/** Whether the address is this machine's own. */
export function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return loopback.check(address, 'ipv4');
  return isIPv6(address) && loopback.check(address, 'ipv6');
}
