/**
 * The addresses that the host of a URL has now, each checked: the server connects to these and to no others, so nothing that
 * a name server says later moves a request into its own network.
 */
import { isIP, isIPv4 } from 'node:net';
import { OutboundError, refuseTarget } from './outbound-error.ts';
import { type LoopbackOption, notPublicAddress, readHost, requirePublicUrl } from './public-url.ts';
import { isLoopbackAddress, isPublicAddress } from './remote-address.ts';
import { type ResolveHost, resolveByDns } from './resolver.ts';

export interface TargetOptions extends LoopbackOption {
  /** All addresses of a host name; the name servers of the machine when absent. */
  readonly resolve?: ResolveHost;
}

export interface Target {
  readonly url: URL;
  /** Where to connect, in the order of trying. At least one. */
  readonly addresses: readonly string[];
}

/** Addresses tried per family, so that a name of a thousand addresses does not make a thousand connections. */
const addressesOfFamilyMax = 2;

/**
 * The URL with the addresses of its host, resolved once. All addresses of the host are checked, also those that are not
 * returned.
 * @throws OutboundError naming the rule that the URL or an address breaks
 */
export async function resolveTarget(text: string, options: TargetOptions, signal?: AbortSignal): Promise<Target> {
  const url = requirePublicUrl(text, options);
  const host = readHost(url);
  const addresses = isIP(host) === 0 ? await resolveHost(host, options, signal) : [host];
  const isOpen = (address: string): boolean =>
    (url.protocol === 'https:' && isPublicAddress(address)) || (options.loopback && isLoopbackAddress(address));
  if (!addresses.every(isOpen)) refuseTarget(notPublicAddress);
  const ofFamily = (isWanted: boolean): readonly string[] =>
    addresses.filter((address) => isIPv4(address) === isWanted).slice(0, addressesOfFamilyMax);
  return { url, addresses: [...ofFamily(true), ...ofFamily(false)] };
}

async function resolveHost(
  host: string,
  { resolve = resolveByDns }: TargetOptions,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  try {
    const addresses = await resolve(host, signal);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    refuseTarget('names a host that is not found', { cause: error });
  }
  return refuseTarget('names a host that is not found');
}
