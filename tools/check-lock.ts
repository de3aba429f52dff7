/**
 * Checks package-lock.json: `npm ci` must succeed on every platform and install exactly what was reviewed.
 *
 *     node tools/check-lock.ts
 *
 * npm leaves the packages of other platforms out of a lock file if it could not look them up, and then refuses that
 * file elsewhere (https://github.com/npm/cli/issues/4828).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Lines that say what is wrong with the text of a lock file. */
export function lockProblems(text: string): string[] {
  const lock: { readonly packages: Readonly<Record<string, LockEntry>> } = JSON.parse(text);
  return Object.entries(lock.packages).flatMap(([path, entry]) => [
    ...missingDependencies(path, entry, lock.packages).map(
      (name) => `${path || 'the root'} needs ${name}, which is missing`,
    ),
    ...originProblems(path, entry),
  ]);
}

function missingDependencies(path: string, entry: LockEntry, packages: Readonly<Record<string, LockEntry>>): string[] {
  const names = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
  return names.filter((name) => !directoriesAbove(path).some((above) => `${above}node_modules/${name}` in packages));
}

/** Where Node looks for a dependency: https://nodejs.org/api/modules.html#loading-from-node_modules-folders */
function directoriesAbove(path: string): string[] {
  const parts = path.split('/').filter(Boolean);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`).concat('');
}

function originProblems(path: string, entry: LockEntry): string[] {
  if (!path.includes('node_modules/') || entry.link) return [];
  if (entry.integrity === undefined) return [`${path} has no hash`];
  return entry.resolved === undefined
    ? []
    : [`${path} names the registry it came from: install with the .npmrc of the clone`];
}

/** The same for the lock file under `root`, as lines with its path. */
export function checkLock(root: string): string[] {
  const path = 'package-lock.json';
  return lockProblems(readFileSync(join(root, path), 'utf8')).map((problem) => `${path}:1 ${problem}`);
}

if (import.meta.main) {
  const lines = checkLock(join(import.meta.dirname, '..'));
  for (const line of lines) console.error(line);
  process.exitCode = lines.length === 0 ? 0 : 1;
}
