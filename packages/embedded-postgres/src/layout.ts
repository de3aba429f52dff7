/** Where the files of the embedded database are, and where its socket is. */
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Account } from './account.ts';
import type { Application } from './application.ts';
import { EnvironmentError } from './errors.ts';

export interface Layout {
  /** Everything below; made complete in another place and then renamed to this one. */
  readonly root: string;
  /** PostgreSQL's own data directory. */
  readonly cluster: string;
  /** Server logs, one file per weekday. */
  readonly log: string;
  /** Passwords of the roles; readable by the account that runs the application only. */
  readonly credentials: string;
}

/** The layout in `root`, which is `<data dir>/postgres` once it is complete. */
export function resolveLayout(root: string): Layout {
  return {
    root,
    cluster: path.join(root, 'cluster'),
    log: path.join(root, 'log'),
    credentials: path.join(root, 'credentials.json'),
  };
}

/** Part of the socket's file name on Unix, the TCP port on Windows only. */
export const socketPort = 5432;

/** Socket addresses hold 104 bytes on some systems; `/.s.PGSQL.5432` takes 14 and a final zero one. */
const socketDirectoryBytesMax = 88;

/**
 * A directory for the Unix socket that only the account may enter: below the data, or, when that path is too long for a
 * socket address, in the system's directory for temporary files.
 * @throws EnvironmentError when somebody else has made that directory
 */
export function makeSocketDirectory(layout: Layout, account: Account, application: Application): string {
  const own = path.join(layout.root, 'socket');
  if (Buffer.byteLength(own) <= socketDirectoryBytesMax && isPlain(own)) return makePrivate(own, account, application);
  const name = `${application.name}-${createHash('sha256').update(layout.root).digest('hex').slice(0, 16)}`;
  return makePrivate(path.join(os.tmpdir(), name), account, application);
}

/** Removes the directory among temporary files, which is empty once its server has ended. */
export function removeSocketDirectory(layout: Layout, directory: string): void {
  if (process.platform === 'win32' || directory.startsWith(layout.root)) return;
  try {
    rmdirSync(directory);
  } catch {
    // Another process has started a server meanwhile.
  }
}

/** PostgreSQL reads a comma-separated list with quotes, so other names are not worth the quoting. */
function isPlain(directory: string): boolean {
  return /^[\w/.@+=: -]+$/.test(directory) && directory === directory.trim();
}

function makePrivate(directory: string, account: Account, { dataDirSetting }: Application): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  const owners = [process.getuid?.(), account.uid];
  // In a directory where all may write, somebody else could have made this one, or a link in its place.
  if (!found.isDirectory() || (account.uid !== undefined && !owners.includes(found.uid))) {
    throw new EnvironmentError(
      `Socket directory ${directory} belongs to somebody else: remove it or choose a shorter ${dataDirSetting}`,
    );
  }
  chmodSync(directory, 0o700);
  account.own(directory);
  return directory;
}
