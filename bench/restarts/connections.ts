/** Which connections a process holds, as Linux tells in /proc. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Ports at the other end of its connections to `port` of this machine. */
export async function peerPortsOf(pid: number, port: number): Promise<ReadonlySet<number>> {
  const directory = `/proc/${pid}/fd`;
  const inodeOf = async (fd: string): Promise<string | undefined> => {
    // It may have been closed meanwhile.
    const target = await readlink(`${directory}/${fd}`).catch(() => '');
    return /^socket:\[(\d+)\]$/.exec(target)?.[1];
  };
  const inodes = new Set(await Promise.all((await readdir(directory)).map(inodeOf)));
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1);
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
