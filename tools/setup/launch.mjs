/**
 * Runs a script with the pinned Node in a process of its own, as if it had been started directly: same terminal,
 * signals passed on, same exit code. The script ends with its launcher, also when the launcher (or the npm that
 * started it) is killed: nothing that still holds a port stays behind.
 */
import { spawn } from 'node:child_process';
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRunningNodeRecent, nodeMajorMin, nodeProgram, platform } from './pinned-node.mjs';
import { SetupError, say } from './report.mjs';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];
const parentPollMs = 500;

/** Runs `script` until it ends; then this process ends the same way. Throws SetupError if it cannot be started. */
export async function launch(root, script, scriptArguments) {
  const { code, signal } = await runWith(root, nodeProgram(root), script, scriptArguments).catch((error) => {
    // The pinned program is there but cannot run, for instance because it is linked to another C library.
    if (isRunningNodeRecent()) return runWith(root, process.execPath, script, scriptArguments);
    throw new SetupError(
      `the pinned Node cannot run on this ${platform} (${error.message}). ` +
        `Install Node ${nodeMajorMin} and run the same command again.`,
      { cause: error },
    );
  });
  if (signal !== null) process.kill(process.pid, signal);
  process.exitCode = code ?? 1;
}

/** Runs `script` in this process, which goes on until the script ends. */
export async function runHere(root, script, scriptArguments) {
  process.env.NODE_COMPILE_CACHE ??= compileCache(root); // for processes that the script starts
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  process.argv.splice(1, Number.POSITIVE_INFINITY, script, ...scriptArguments);
  watchParent(() => {
    say('npm has ended; stopping');
    process.kill(process.pid, 'SIGTERM');
  })?.unref();
  await import(pathToFileURL(script).href);
}

function runWith(root, program, script, scriptArguments) {
  const preload = new URL('./stop-with-launcher.mjs', import.meta.url).href;
  const child = spawn(program, ['--import', preload, script, ...scriptArguments], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { NODE_COMPILE_CACHE: compileCache(root), ...process.env, SETUP_LAUNCHER_PID: String(process.pid) },
  });
  const forward = (signal) => {
    // Ctrl-C reaches every process of the terminal: passing it on would make two of one.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, forward);
  const watch = watchParent(() => {
    say('npm has ended; stopping');
    child.kill('SIGTERM');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve({ code, signal }));
  }).finally(() => {
    clearInterval(watch);
    for (const signal of signals) process.off(signal, forward);
  });
}

/**
 * Where Node keeps what it compiled, types already removed: the service then loads in about half the time. A directory
 * that cannot be written to is ignored. https://nodejs.org/api/module.html#module-compile-cache
 */
function compileCache(root) {
  return join(root, 'node_modules', '.cache', 'compile');
}

/** Calls `gone` once when the npm that started this process is no longer there; undefined if none did. */
function watchParent(gone) {
  if (process.env.npm_execpath === undefined) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    gone();
  }, parentPollMs);
  return watch;
}
