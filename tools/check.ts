/**
 * The static checks: `npm run check`, or some of them by name.
 *
 *     node tools/check.ts [--write] [architecture] [decisions] [docs] [interface] [links] [lock] [lint] [types]
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkArchitecture } from './check-architecture.ts';
import { checkDecisions } from './check-decisions.ts';
import { checkInterface } from './check-interface.ts';
import { checkLinks } from './check-links.ts';
import { checkLock } from './check-lock.ts';
import { checkDocs } from './generate-docs.ts';

const root = join(import.meta.dirname, '..');

/** Each returns lines that say what is wrong; none if all is well. `isWrite`: renew what is generated. */
const checks: Readonly<Record<string, (isWrite: boolean) => readonly string[]>> = {
  architecture: (isWrite) => checkArchitecture(root, isWrite),
  decisions: () => checkDecisions(root),
  docs: (isWrite) => checkDocs(root, isWrite),
  interface: () => checkInterface(root),
  links: () => checkLinks(root),
  lock: () => checkLock(root),
  lint: () => run('@biomejs/biome/bin/biome', ['check', '--max-diagnostics=100', '--error-on-warnings', '.']),
  types: () => run('typescript/bin/tsc', ['--project', '.', '--noEmit', '--pretty', 'false']),
};

/** Runs a program of node_modules and returns what it says if it finds fault. */
function run(program: string, programArguments: readonly string[]): readonly string[] {
  const result = spawnSync(process.execPath, [join(root, 'node_modules', program), ...programArguments], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.status === 0) return [];
  return `${result.stdout}${result.stderr}`.trimEnd().split('\n');
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } });
const unknown = positionals.filter((name) => !Object.hasOwn(checks, name));
if (unknown.length > 0) {
  console.error(`there is no check ${unknown.join(', ')}; the checks are ${Object.keys(checks).join(', ')}`);
  process.exit(1);
}
for (const [name, check] of Object.entries(checks)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const beginMs = performance.now();
  const lines = check(values.write ?? false);
  for (const line of lines) console.error(line);
  const seconds = ((performance.now() - beginMs) / 1000).toFixed(1);
  console.log(`${lines.length === 0 ? '✔' : '✖'} ${name} (${seconds} s)`);
  if (lines.length > 0) process.exitCode = 1;
}
