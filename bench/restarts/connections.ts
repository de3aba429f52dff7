/** Which connections a process holds, as Linux tells in /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Ports at the other end of its connections to `port` of this machine. */
export function peerPortsOf(pid: number, port: number): ReadonlySet<number> {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  const ports = new Set<number>();
  for (const line of lines) {
    // "sl local_address rem_address st … uid timeout inode"; addresses are ADDRESS:PORT in hexadecimal
    const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/);
    if (inodes.has(inode) && portOf(local) === port) ports.add(portOf(remote));
  }
  return ports;
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}
