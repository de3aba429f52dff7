/**
 * The programs of PostgreSQL where the account that runs them can reach them. Root runs them as an unprivileged account, which
 * may not enter a clone below a home of mode 0700; then they are copied to a directory that only root can write and everybody
 * can enter, once for each version, and used again at the next start (docs/decisions/0231).
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Account } from './account.ts';
import type { Application } from './application.ts';
import { type Binaries, resolveBinaries } from './binaries.ts';
import { ServerError } from './errors.ts';
import { isAlive, listRunningPrograms } from './processes.ts';

/** Where copies may lie, the best place first: what a cache of the system is for, else where everybody may write. */
const places = ['/var/cache', os.tmpdir(), '/tmp'];

/**
 * `binaries`, or a copy of them that `account` can run.
 * @throws ServerError when there is no place for a copy
 */
export function ensureReachableBinaries(
  binaries: Binaries,
  account: Account,
  { name }: Application,
  candidates: readonly string[] = places,
): Binaries {
  const obstacle = account.obstacleTo(binaries.postgres);
  if (obstacle === undefined) return binaries;
  const files = filesOf(binaries.root);
  const reasons: string[] = [];
  for (const place of candidates) {
    try {
      const directory = openOwnDirectory(path.join(place, name), account);
      const target = path.join(directory, `postgres-${digestOf(files)}`);
      if (!isWhole(target, files)) makeCopy(binaries.root, target, files);
      removeOthers(directory, target);
      return resolveBinaries(target);
    } catch (error) {
      reasons.push(`${place} (${error instanceof Error ? error.message : String(error)})`);
    }
  }
  throw new ServerError(
    `The account ${account.name}, which PostgreSQL runs as, cannot enter ${obstacle}, and its programs cannot be copied to ${reasons.join(' or ')}: put ${name} where it can enter, or run ${name} as a normal user`,
  );
}

interface CopiedFile {
  /** Relative to the directory. */
  readonly name: string;
  readonly kind: 'directory' | 'file' | 'link';
  /** 0 but for files. */
  readonly size: number;
  readonly isProgram: boolean;
  /** Of a link. */
  readonly target: string;
}

/** What lies in `root`, a directory before what is in it. */
function filesOf(root: string, below = ''): CopiedFile[] {
  return readdirSync(path.join(root, below))
    .sort()
    .flatMap((entry) => {
      const name = path.join(below, entry);
      const found = lstatSync(path.join(root, name));
      const common = { name, size: 0, isProgram: false, target: '' };
      if (found.isDirectory()) return [{ ...common, kind: 'directory' as const }, ...filesOf(root, name)];
      if (found.isSymbolicLink())
        return [{ ...common, kind: 'link' as const, target: readlinkSync(path.join(root, name)) }];
      return [{ ...common, kind: 'file' as const, size: found.size, isProgram: (found.mode & 0o100) !== 0 }];
    });
}

/** Another version of the programs has another one. */
function digestOf(files: readonly CopiedFile[]): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
}

/** @throws Error when somebody else has made the directory, or could change what is in it, or the account cannot enter it */
function openOwnDirectory(directory: string, account: Account): string {
  if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) mkdirSync(directory, { mode: 0o755 });
  const found = lstatSync(directory); // of a link itself, which is no directory
  const { uid, mode } = found;
  if (!found.isDirectory() || uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new Error(`${directory} belongs to somebody else, or others may write it`);
  chmodSync(directory, 0o755); // whatever the umask
  const obstacle = account.obstacleTo(directory);
  if (obstacle !== undefined) throw new Error(`${obstacle} cannot be entered either`);
  return directory;
}

/** Whether every file is there as it should be: directories for temporary files are cleaned from time to time. */
function isWhole(target: string, files: readonly CopiedFile[]): boolean {
  return [{ name: '', kind: 'directory', size: 0 } as const, ...files].every(({ name, kind, size }) => {
    const found = lstatSync(path.join(target, name), { throwIfNoEntry: false });
    if (found === undefined || found.uid !== process.getuid?.()) return false;
    if (kind === 'link') return found.isSymbolicLink();
    if ((found.mode & 0o022) !== 0) return false;
    return kind === 'directory' ? found.isDirectory() : found.isFile() && found.size === size;
  });
}

/** Makes the copy under another name and renames it, so that what has the name is whole. */
function makeCopy(root: string, target: string, files: readonly CopiedFile[]): void {
  const draft = `${target}.new-${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  try {
    makeDirectory(draft);
    for (const { name, kind, isProgram, target: linked } of files) {
      const copy = path.join(draft, name);
      if (kind === 'directory') makeDirectory(copy);
      else if (kind === 'link') symlinkSync(linked, copy);
      else {
        copyFileSync(path.join(root, name), copy);
        chmodSync(copy, isProgram ? 0o755 : 0o644);
      }
    }
    moveInto(target, draft, files);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function makeDirectory(directory: string): void {
  mkdirSync(directory);
  chmodSync(directory, 0o755);
}

function moveInto(target: string, draft: string, files: readonly CopiedFile[]): void {
  if (isWhole(target, files)) return; // another process was faster
  const broken = `${target}.old-${process.pid}`;
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) renameSync(target, broken);
  try {
    renameSync(draft, target);
  } catch (error) {
    if (!isWhole(target, files)) throw error;
  } finally {
    rmSync(broken, { recursive: true, force: true });
  }
}

/** Removes copies of other versions that no server runs from, and what processes left that were killed while copying. */
function removeOthers(directory: string, target: string): void {
  const programs = listRunningPrograms();
  if (programs === undefined) return;
  for (const name of readdirSync(directory)) {
    const other = path.join(directory, name);
    const [, maker] = /\.(?:new|old)-(\d+)$/.exec(name) ?? [];
    const isUsed = programs.some((program) => program.startsWith(`${other}${path.sep}`));
    const isMade = maker !== undefined && isAlive(Number(maker));
    if (other !== target && name.startsWith('postgres-') && !isUsed && !isMade)
      rmSync(other, { recursive: true, force: true });
  }
}
