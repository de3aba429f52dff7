/**
 * Addresses of host names, asked of the name servers of the machine without its thread pool: a name whose servers are silent
 * would otherwise hold a thread that signs tokens and reads files. Neither `/etc/hosts` nor a search list has a say.
 */
import { Resolver } from 'node:dns/promises';
import { OutboundError } from './outbound-error.ts';
import { isLocalName } from './public-url.ts';

/** All addresses of a host name. Rejects, or returns none, when it has none. */
export type ResolveHost = (hostname: string, signal?: AbortSignal) => Promise<readonly string[]>;

/** Of one question to one server; it is doubled when the question is repeated. */
const questionTimeoutMs = 2_000;
const questionsMax = 2;

/**
 * The addresses of A records, then those of AAAA records. Ends as soon as `signal` is aborted.
 * @param servers addresses of name servers, with ports where they are not 53; those of the machine when absent
 * @throws OutboundError if there are none, or if the name servers do not say
 */
export async function resolveByDns(
  hostname: string,
  signal?: AbortSignal,
  servers?: readonly string[],
): Promise<readonly string[]> {
  if (isLocalName(hostname)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: questionTimeoutMs, tries: questionsMax });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const asked = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length > 0) return addresses;
    const isKnown = asked.every((each) => each.status === 'rejected' && isAbsence(each.reason));
    throw new OutboundError(
      isKnown ? 'names a host that is not found' : 'names a host whose name servers do not answer',
    );
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA');
}
