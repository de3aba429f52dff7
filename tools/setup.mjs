/**
 * The first program of every `npm start`, `npm test` and `npx praxis`: installs what the lock file names if it is not
 * installed yet, then runs a script with the pinned Node.
 *
 *     node tools/setup.mjs                        install only
 *     node tools/setup.mjs SCRIPT [ARGUMENT …]    install, then run SCRIPT (a path from the root of the clone)
 *
 * It depends on nothing but Node 20 or newer, runs safely several times at once, and prints on stderr only, so that
 * what SCRIPT writes to stdout can be piped. See docs/decisions/0002-pinned-node.md.
 */
import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from './setup/install.mjs';
import { launch, runHere } from './setup/launch.mjs';
import { isRunningPinnedNode } from './setup/pinned-node.mjs';
import { SetupError, say } from './setup/report.mjs';

const nodeMajorMin = 20;
const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Installs what is missing, then runs `script` (a path from the root of the clone) until it ends. Ends this process
 * with the exit code or the signal of the script; with 1 and one line on stderr if the set-up itself fails.
 * @param mayRunHere whether the script may run in this process, where that is the pinned Node already: a process less
 */
export async function run(script, scriptArguments, { mayRunHere = false } = {}) {
  try {
    requireNode();
    await install(root);
    if (script === undefined) return;
    const runScript = mayRunHere && isRunningPinnedNode(root) ? runHere : launch;
    await runScript(root, resolve(root, script), scriptArguments);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    process.exitCode = error.exitCode;
  }
}

function requireNode() {
  if (Number.parseInt(process.versions.node, 10) >= nodeMajorMin) return;
  throw new SetupError(
    `Node ${nodeMajorMin} or newer is needed to begin (this is ${process.version}); Node 24 is then installed by npm.`,
  );
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [script, ...scriptArguments] = process.argv.slice(2);
  await run(script, scriptArguments);
}
