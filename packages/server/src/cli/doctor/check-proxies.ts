/** Proxies: whom the service believes, and what it calls itself. */
import { isIP } from 'node:net';
import { suggestName } from '@praxis/fhir/suggestion';
import type { Config } from '../../base/config.ts';
import { namedRanges } from '../../http/connections/proxies.ts';
import { version } from '../../version.ts';
import { type Finding, reportOn } from './finding.ts';
import { askForVersion } from './probe.ts';

const names = Object.keys(namedRanges);

/** Whether every entry of PRAXIS_TRUSTED_PROXIES is one, and the public origin leads here. */
export async function checkProxies(config: Config, running: string | undefined): Promise<readonly Finding[]> {
  const { ok, warning } = reportOn('proxies');
  const findings: Finding[] = config.trustedProxies.flatMap(judgeEntry);
  const isPublic = config.baseUrl.startsWith('https:');
  if (isPublic && config.trustedProxies.length === 0)
    findings.push(
      warning(
        'PRAXIS_BASE_URL is https, so a proxy ends TLS, but PRAXIS_TRUSTED_PROXIES is empty: all clients count as one address',
        'set PRAXIS_TRUSTED_PROXIES to the address of the proxy',
      ),
    );
  if (config.baseUrl === '' && !isLoopback(config.host))
    findings.push(
      warning(
        `PRAXIS_BASE_URL is empty: links and issuers name http://${config.host}:${config.port}`,
        'set PRAXIS_BASE_URL to the origin that clients use',
      ),
    );
  if (config.baseUrl !== '' && running !== undefined) findings.push(...(await checkWayBack(config.baseUrl)));
  return findings.length > 0 ? findings : [ok(describe(config))];
}

function describe({ trustedProxies, baseUrl }: Config): string {
  const trusted = trustedProxies.length === 0 ? 'no proxy is trusted' : `trusted are ${trustedProxies.join(', ')}`;
  return baseUrl === '' ? trusted : `${trusted}; links name ${baseUrl}`;
}

function judgeEntry(entry: string): readonly Finding[] {
  const { problem } = reportOn('proxies');
  if (names.includes(entry)) return [];
  const [address = '', bits, ...more] = entry.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  if (isIP(address) === 0 || !isRange || more.length > 0)
    return [
      problem(
        `PRAXIS_TRUSTED_PROXIES names ${entry}, which is no address and no range${suggestName(entry, names)}`,
        `write addresses, CIDR ranges such as 10.0.0.0/8, or ${names.join(', ')}`,
      ),
    ];
  if (Number(bits) === 0)
    return [
      problem(
        `PRAXIS_TRUSTED_PROXIES names ${entry}: every client may say which address it has`,
        'name the addresses of the proxies alone',
      ),
    ];
  return [];
}

/** Whether the public origin leads to the service that runs here. */
async function checkWayBack(baseUrl: string): Promise<readonly Finding[]> {
  const { ok, warning, problem } = reportOn('proxies');
  const found = await askForVersion(baseUrl);
  if (found === undefined)
    return [
      problem(
        `the service runs, but no Praxis answers at PRAXIS_BASE_URL (${baseUrl})`,
        'let the proxy hand requests to this service, as docs/operate/proxy.md shows',
      ),
    ];
  if (found !== version)
    return [warning(`Praxis ${found} answers at ${baseUrl}, and this is ${version}`, 'restart the nodes behind it')];
  return [ok(`${baseUrl} leads to Praxis ${found}`)];
}

/** Whether only this machine reaches the host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
