/**
 * The server process of a cluster, found through its lock file `postmaster.pid`
 * (https://www.postgresql.org/docs/current/storage-file-layout.html). PostgreSQL itself makes sure that only one server runs
 * on a cluster; here is what tells whether one does.
 */
import { closeSync, existsSync, openSync, readFileSync, realpathSync, writeSync } from 'node:fs';
import path from 'node:path';
import { type Layout, socketPort } from './layout.ts';
import { isAlive, readCommandLine } from './processes.ts';

/** A server process and where it takes connections. */
export interface Postmaster {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  /** It has finished starting; before, it refuses connections. */
  readonly ready: boolean;
  /** It starts, which takes as long as the replay of its log after a crash. */
  readonly starting: boolean;
}

/** The server that runs on the cluster, if any. A lock file that a dead server left is made harmless. */
export function findPostmaster(layout: Layout): Postmaster | undefined {
  return readLock(layout, path.join(layout.cluster, 'postmaster.pid'));
}

/** The same, for who only looks: what a dead server left stays as it is. */
export function lookForPostmaster(layout: Layout): Postmaster | undefined {
  const lines = readLines(path.join(layout.cluster, 'postmaster.pid'));
  const pid = Number(lines[0]);
  return isServerOf(layout, pid) ? describePostmaster(pid, lines) : undefined;
}

/** None where there is no such file. */
function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Makes the lock file of a Unix socket harmless when its server is dead: PostgreSQL takes a zombie for a living process. */
export function releaseSocketLock(layout: Layout, socketDirectory: string): void {
  readLock(layout, path.join(socketDirectory, `.s.PGSQL.${socketPort}.lock`));
}

/** Larger than any process number can be. */
const impossiblePid = 4_194_305;

/**
 * The server of a lock file. Puts a number that no process has in place of a dead server's. The file stays, since its line
 * about shared memory lets PostgreSQL wait for processes of the dead server that still run; without it two servers could write
 * the same files.
 */
function readLock(layout: Layout, file: string): Postmaster | undefined {
  const descriptor = openIfExists(file);
  if (descriptor === undefined) return undefined;
  try {
    // One descriptor for reading and writing: PostgreSQL makes a new file for each server, so what is written to this one
    // cannot reach a server that another process starts meanwhile.
    const lines = readFileSync(descriptor, 'utf8').split('\n');
    const pid = Number(lines[0]);
    if (isServerOf(layout, pid)) return describePostmaster(pid, lines);
    writeSync(descriptor, [String(impossiblePid), ...lines.slice(1)].join('\n'), 0);
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The server `pid` once it takes connections. Reads only: before that server has written the file, an older one's may still
 * be there.
 */
export function findReadyPostmaster(layout: Layout, pid: number): Postmaster | undefined {
  try {
    const lines = readFileSync(path.join(layout.cluster, 'postmaster.pid'), 'utf8').split('\n');
    const found = describePostmaster(Number(lines[0]), lines);
    return found.pid === pid && found.ready ? found : undefined;
  } catch {
    return undefined; // not written yet
  }
}

/** Lines of the file, from 1: pid, data directory, start time, port, socket directory, address, memory key, status. */
function describePostmaster(pid: number, lines: readonly string[]): Postmaster {
  const host = process.platform === 'win32' ? '127.0.0.1' : (lines[4] ?? '');
  const status = lines[7]?.trim();
  return { pid, host, port: Number(lines[3] ?? 0), ready: status === 'ready', starting: status === 'starting' };
}

/**
 * Whether `pid` is the server of this cluster. After a crash its number may be another process's, and PostgreSQL would then
 * refuse to start.
 */
function isServerOf(layout: Layout, pid: number): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform === 'win32') return true; // PostgreSQL checks with a lock that ends with its process there
  const command = readCommandLine(pid);
  if (!/^postgres(:|$)/.test(path.basename(command[0] ?? ''))) return false;
  const directory = command[command.indexOf('-D') + 1];
  // A directory that is gone was moved with the server running: that server may still be ours.
  return directory === undefined || !existsSync(directory) || realpathSync(directory) === realpathSync(layout.cluster);
}

function openIfExists(file: string): number | undefined {
  try {
    return openSync(file, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
