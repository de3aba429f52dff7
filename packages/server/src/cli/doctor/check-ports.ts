/** The addresses that the service listens on: free, or its own already. */
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import os from 'node:os';
import type { Config } from '../../base/config.ts';
import { version } from '../../version.ts';
import { type Finding, reportOn } from './finding.ts';
import { askForProblems, askForVersion, tryToConnect } from './probe.ts';

const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

export interface PortFindings {
  readonly findings: readonly Finding[];
  /** Where a Praxis answers that runs with these settings; undefined: none does. */
  readonly running: string | undefined;
}

/** Looks at PRAXIS_PORT and PRAXIS_METRICS_PORT of PRAXIS_HOST. */
export async function checkPorts({ host, port, metricsPort }: Config): Promise<PortFindings> {
  const { problem } = reportOn('ports');
  const address = await findOwnAddress(host);
  if (address === undefined)
    return {
      findings: [problem(`PRAXIS_HOST=${host} is no address of this machine`, 'set PRAXIS_HOST to one, or to 0.0.0.0')],
      running: undefined,
    };
  const [service, metrics] = await Promise.all([
    checkServicePort(address, port),
    metricsPort === 0 ? [] : checkMetricsPort(address, metricsPort),
  ]);
  return { findings: [...service.findings, ...metrics], running: service.running };
}

/** An address that reaches what listens on `host` here; undefined where it is of another machine, or of none. */
async function findOwnAddress(host: string): Promise<string | undefined> {
  if (everywhere.has(host)) return host === '::' ? '::1' : '127.0.0.1';
  const found = await lookup(host).catch(() => undefined);
  const own = Object.values(os.networkInterfaces()).flatMap((each) => each ?? []);
  const isOwn = found?.address.startsWith('127.') || own.some(({ address }) => address === found?.address);
  return isOwn ? found?.address : undefined;
}

async function checkServicePort(address: string, port: number): Promise<PortFindings> {
  const { ok, warning, problem } = reportOn('ports');
  const name = `PRAXIS_PORT=${port}`;
  if (port === 0) return { findings: [ok(`${name}: a free port is taken`)], running: undefined };
  const refused = await tryToConnect(address, port);
  if (refused !== undefined) return { findings: [judgeFreePort(name, port, refused)], running: undefined };
  const origin = `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const found = await askForVersion(origin);
  if (found === undefined) {
    const mend = 'stop it, or set another port';
    return { findings: [problem(`${name} is used by another program`, mend)], running: undefined };
  }
  const findings: Finding[] = [ok(`${name} is used by Praxis ${found}, which runs`)];
  if (found !== version)
    findings.push(
      warning(`Praxis ${found} runs, and this is ${version}`, 'restart the service, or run praxis of its version'),
    );
  for (const each of await askForProblems(origin)) findings.push(problem(`the service is not ready: ${each}`));
  return { findings, running: origin };
}

async function checkMetricsPort(address: string, port: number): Promise<readonly Finding[]> {
  const { ok } = reportOn('ports');
  const name = `PRAXIS_METRICS_PORT=${port}`;
  const refused = await tryToConnect(address, port);
  if (refused !== undefined) return [judgeFreePort(name, port, refused)];
  return [ok(`${name} is used: by the service that runs, or by another program`)];
}

/** The kernel's first port that everybody may listen on (https://man7.org/linux/man-pages/man7/ip.7.html). */
const unprivilegedFile = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const unprivilegedDefault = 1024;

function judgeFreePort(name: string, port: number, refused: string): Finding {
  const { ok, warning } = reportOn('ports');
  if (refused !== 'ECONNREFUSED')
    return warning(`${name} cannot be asked (${refused})`, 'let the firewall of this machine pass its own connections');
  if (process.getuid?.() !== 0 && port < readUnprivilegedPort())
    return warning(`${name} is free, but this user may not listen there`, 'set a port of 1024 or higher');
  return ok(`${name} is free`);
}

function readUnprivilegedPort(): number {
  try {
    return Number(readFileSync(unprivilegedFile, 'utf8'));
  } catch {
    return unprivilegedDefault;
  }
}
