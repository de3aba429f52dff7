/** Which addresses are of the public Internet, and which are this machine's. Denials first. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { isLoopbackAddress, isPublicAddress } from '../../src/outbound/remote-address.ts';

const closedAddresses = [
  ['this network', '0.0.0.0 0.1.2.3 ::'],
  ['private', '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12:3456::1'],
  ['shared', '100.64.0.1 100.127.255.255'],
  ['loopback', '127.0.0.1 127.255.255.255 ::1'],
  ['link-local, where clouds keep their metadata', '169.254.169.254 fe80::1 fe80::1%eth0'],
  ['special and documentation', '192.0.0.8 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 2001:db8::1 3fff::1 2001::1'],
  ['anycast services', '192.31.196.1 192.52.193.1 192.175.48.6 2620:4f:8000::6'],
  ['benchmarks', '198.18.0.1 198.19.255.255'],
  ['multicast and reserved', '224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 ff02::1'],
  ['IPv4 in IPv6', '::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::a00:1 2002:a00:1:: ::10.0.0.1'],
  ['no address', 'localhost 1.2.3 8.8.8.8.8 0x7f.1 2130706433 [::1]'],
] as const;
for (const [name, addresses] of closedAddresses) {
  test(`addresses that are ${name} are not of the public Internet`, () => {
    for (const address of [...addresses.split(' '), '']) assert.equal(isPublicAddress(address), false, address);
  });
}

test('addresses of the public Internet are open, those of this machine are its own', () => {
  for (const address of ['8.8.8.8', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:2800:220:1::1', '2a00:1450::1'])
    assert.equal(isPublicAddress(address), true, address);
  assert.deepEqual(
    ['127.0.0.1', '127.1.2.3', '::1', '10.0.0.1', '8.8.8.8', 'localhost', '::ffff:127.0.0.1'].map(isLoopbackAddress),
    [true, true, true, false, false, false, true],
  );
});
