/**
 * A copy of the working tree in which mutants are tried, so that the tree that people work in is never changed. Its
 * dependencies are those of the working tree; the packages of the workspace are its own.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A copy on disk. */
export interface Tree {
  /** Absolute path of its root. */
  readonly root: string;
  /** Text of a file, by its path from the root. */
  read(path: string): string;
  write(path: string, text: string): void;
}

/** What a copy does without: installed packages (linked instead), history, and data of a service that was started here. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git', 'data', '.setup-lock']);
const workspace = '@praxis';

/** Copies the tree under `root` to `target`, which is emptied first. */
export function copyTree(root: string, target: string): Tree {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(root)) {
    if (!leftOut.has(name)) cpSync(join(root, name), join(target, name), { recursive: true });
  }
  linkDependencies(root, target);
  return {
    root: target,
    read: (path) => readFileSync(join(target, path), 'utf8'),
    write: (path, text) => writeFileSync(join(target, path), text),
  };
}

function linkDependencies(root: string, target: string): void {
  const modules = join(target, 'node_modules');
  mkdirSync(join(modules, workspace), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== workspace) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  for (const name of readdirSync(join(target, 'packages'))) {
    symlinkSync(join(target, 'packages', name), join(modules, workspace, name));
  }
}
