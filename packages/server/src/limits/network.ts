/**
 * What counts as one address. A single customer is given a whole /64 of IPv6, and may ask from any address in it
 * (https://www.rfc-editor.org/rfc/rfc6177); an IPv4 address may come written as an IPv6 one (RFC 4291 §2.5.5.2).
 */
/** Groups of 16 bits that name the network. */
const networkGroups = 4;
const groupsCount = 8;

/** As far as addresses of connections, or from proxies that are trusted, can be told apart: only IPv6 has colons. */
const ipv6 = /^(?=.*:)[0-9a-f:.]+(?:%.*)?$/i;

/** The IPv4 address, or the first 64 bits of the IPv6 address. What is no address stays as it is. */
export function toNetwork(address: string): string {
  if (!ipv6.test(address)) return address;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [before = '', after] = (address.split('%')[0] ?? '').split('::');
  const [head, tail] = [groupsOf(before), groupsOf(after ?? '')];
  const zeros = after === undefined ? 0 : Math.max(0, groupsCount - head.length - tail.length);
  const groups = [...head, ...Array.from({ length: zeros }, () => 0), ...tail];
  return `${groups
    .slice(0, networkGroups)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The last group may be an IPv4 address, which stands for two: both are behind the network. */
function groupsOf(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? [0, 0] : [Number.parseInt(group, 16)]));
}
