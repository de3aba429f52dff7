/** TLS: whether the public origins are https, and their certificates are trusted and last. */
import { isIP } from 'node:net';
import { connect, type PeerCertificate } from 'node:tls';
import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../base/config.ts';
import { isLoopback } from './check-proxies.ts';
import { type Finding, reportOn } from './finding.ts';
import { probeMaxMs } from './probe.ts';

const dayMs = 86_400_000;
/** A certificate that is renewed by itself has more days left. */
const daysMin = 14;

/** Origins that are looked at: an environment or a realm may have one of its own. */
const originsMax = 20;

/** Looks at all public origins of the settings. */
export async function checkTls(config: Config): Promise<readonly Finding[]> {
  const { ok, warning } = reportOn('tls');
  const given = [config.baseUrl, ...config.environmentOrigins.values(), ...config.realmOrigins.values()];
  const origins = [...new Set(given)].filter((origin) => origin !== '');
  if (origins.length === 0 && isLoopback(config.host)) return [ok('the service is for this machine alone')];
  if (origins.length === 0)
    return [
      warning(
        `the service listens on ${config.host} without TLS, and no public origin is set`,
        'let a proxy end TLS, as docs/operate/proxy.md shows, and set PRAXIS_BASE_URL to its https origin',
      ),
    ];
  return (await Promise.all(origins.slice(0, originsMax).map(checkOrigin))).flat();
}

async function checkOrigin(origin: string): Promise<readonly Finding[]> {
  const { ok, problem } = reportOn('tls');
  const { protocol, hostname, port } = new URL(origin);
  if (protocol === 'https:') return await checkCertificate(origin, hostname, Number(port || 443));
  if (isLoopback(hostname)) return [ok(`${origin} is for this machine alone`)];
  return [
    problem(
      `${origin} is not https: credentials and records travel in the clear`,
      'let a proxy end TLS, as docs/operate/proxy.md shows, and name the https origin',
    ),
  ];
}

interface Handshake {
  /** Why clients will not trust it; undefined: they will. */
  readonly fault: string | undefined;
  readonly certificate: PeerCertificate;
}

async function checkCertificate(origin: string, host: string, port: number): Promise<readonly Finding[]> {
  const { ok, warning, problem } = reportOn('tls');
  const found = await shakeHands(host.replace(/^\[|\]$/g, ''), port);
  if (typeof found === 'string')
    return [
      problem(
        `${origin} cannot be reached by TLS (${found})`,
        'start the proxy, or correct the origin or its DNS record',
      ),
    ];
  const endsMs = Date.parse(found.certificate.valid_to);
  const days = Math.floor((endsMs - systemClock.now()) / dayMs);
  if (days < 0) return [problem(`the certificate of ${origin} expired ${-days} days ago`, 'renew it')];
  if (found.fault !== undefined)
    return [
      problem(
        `clients do not trust the certificate of ${origin} (${found.fault})`,
        'let the proxy send a certificate of that name with its chain, from an authority that clients trust',
      ),
    ];
  const text = `the certificate of ${origin} is valid for ${days} more days`;
  return [days < daysMin ? warning(text, 'renew it, and look why it is not renewed by itself') : ok(text)];
}

/** What the server shows; the error where it shows nothing. */
async function shakeHands(host: string, port: number): Promise<Handshake | string> {
  return await new Promise((resolve) => {
    const named = isIP(host) === 0 ? { servername: host } : {};
    // What clients would refuse is told, too.
    const socket = connect({ host, port, ...named, rejectUnauthorized: false, timeout: probeMaxMs });
    const settle = (result: Handshake | string): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('secureConnect', () => {
      const fault = socket.authorized ? undefined : String(socket.authorizationError);
      settle({ fault, certificate: socket.getPeerCertificate() });
    });
    socket.once('timeout', () => settle('ETIMEDOUT'));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
  });
}
