/**
 * Which URLs the server may ask on behalf of others, as far as a URL tells by itself: https at a host of the public Internet.
 * What the name of the host resolves to is checked at each connection (`target.ts`).
 */
import { isIP } from 'node:net';
import { refuseTarget } from './outbound-error.ts';
import { isLoopbackAddress, isPublicAddress } from './remote-address.ts';

export interface LoopbackOption {
  /** Lets URLs of this machine be asked, by http too: for development and tests. */
  readonly loopback: boolean;
}

export const notPublicAddress = 'names an address that is not of the public Internet';

const urlCharactersMax = 2_000;
/** https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4, without the dot of the root */
const hostCharactersMax = 253;
/** https://www.iana.org/assignments/special-use-domain-names, and `internal`, which ICANN reserved for private networks */
const privateDomain = /(?:^|\.)(?:internal|invalid|local|onion|home\.arpa)$/;

/**
 * The URL, when it is one that may be asked as far as it tells by itself. Numbers in odd spellings, and characters that
 * stand for others, are those that the URL standard makes of them (https://url.spec.whatwg.org/#host-parsing).
 * @throws OutboundError naming the rule that it breaks
 */
export function requirePublicUrl(text: string, { loopback }: LoopbackOption): URL {
  if (text.length > urlCharactersMax) refuseTarget(`is longer than ${urlCharactersMax} characters`);
  // The URL standard takes these away without a word, so what is stored would not be what is asked.
  if (/[\0-\x20\x7f]/.test(text)) refuseTarget('must have no blanks or control characters');
  const url = URL.canParse(text) ? new URL(text) : refuseTarget('is not a URL');
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    refuseTarget('must have no user, password or fragment');
  const host = readHost(url);
  const isOwn = isLocalName(host) || isLoopbackAddress(host);
  if (isOwn && loopback && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  if (url.protocol !== 'https:') refuseTarget('must begin with https://');
  if (isOwn || (isIP(host) !== 0 && !isPublicAddress(host))) refuseTarget(notPublicAddress);
  if (isIP(host) === 0) requirePublicName(host);
  if (!isOpenPort(url.port)) refuseTarget('must have no port below 1024 other than 443');
  return url;
}

/** The host without the brackets of an IPv6 address, and without the dot of the root. */
export function readHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '');
}

/** Whether the name is this machine's (https://www.rfc-editor.org/rfc/rfc6761#section-6.3). */
export function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function requirePublicName(host: string): void {
  const labels = host.split('.');
  const isName = host.length <= hostCharactersMax && labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  if (!isName) refuseTarget('names a host by what is no name of the DNS');
  // A name of one label is completed by the search list of the machine.
  if (labels.length < 2 || privateDomain.test(host)) refuseTarget('names a host that is not of the public Internet');
}

/** Below 1024 lie the services of a machine. None but 443 is one for https. */
function isOpenPort(port: string): boolean {
  return port === '' || port === '443' || Number(port) >= 1024;
}
