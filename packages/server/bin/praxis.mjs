#!/usr/bin/env node
/**
 * The `praxis` command. In a clone it goes through the set-up, which installs what is missing and runs the pinned Node, in
 * this process if that one runs it; elsewhere (the container image) the Node that runs it must be recent enough.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const setup = new URL('../../../tools/setup.mjs', import.meta.url);
const main = new URL('../src/cli/main.ts', import.meta.url);
const nodeMajorMin = 24;

if (existsSync(setup)) {
  const { run } = await import(setup.href);
  await run(fileURLToPath(main), process.argv.slice(2), { mayRunHere: true });
} else if (Number.parseInt(process.versions.node, 10) >= nodeMajorMin) {
  // The command-line parser of main.ts reads what follows the script's own name.
  process.argv[1] = fileURLToPath(main);
  await import(main.href);
} else {
  process.stderr.write(`praxis: Node ${nodeMajorMin} or newer is needed, this is ${process.version}\n`);
  process.exitCode = 1;
}
