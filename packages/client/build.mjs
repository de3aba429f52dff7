/**
 * Makes of the sources what is published, in dist/: JavaScript without comments, and declarations with them. npm runs this
 * before it packs, and with --restore afterwards. The repository itself runs the sources (docs/decisions/0327).
 *
 *     node build.mjs              builds, and lets package.json lead to dist/
 *     node build.mjs --restore    lets package.json lead to src/ again
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, 'dist');
const manifest = join(root, 'package.json');
/** npm packs no file with this ending. */
const original = `${manifest}.orig`;

/** npm, unlike other package managers, does not take `exports` from publishConfig. */
function publishExports() {
  const text = readFileSync(manifest, 'utf8');
  const { publishConfig, ...rest } = JSON.parse(text);
  writeFileSync(original, text);
  writeFileSync(manifest, `${JSON.stringify({ ...rest, ...publishConfig }, undefined, 2)}\n`);
}

function restoreExports() {
  if (existsSync(original)) renameSync(original, manifest);
}

function compile(...options) {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '--project', root, ...options], { stdio: 'inherit' });
}

/** Compilers before 5.7 do not know the ending of sources in declarations. */
function renameImports() {
  for (const name of readdirSync(dist, { recursive: true }).filter((each) => each.endsWith('.d.ts'))) {
    const text = readFileSync(join(dist, name), 'utf8');
    writeFileSync(join(dist, name), text.replaceAll(/( from '\.[^']*)\.ts'/g, "$1.js'"));
  }
}

/** Files that declare types alone compile to nothing. */
function removeEmptyModules() {
  const generated = join(dist, 'generated');
  for (const name of readdirSync(generated).filter((each) => each.endsWith('.js'))) rmSync(join(generated, name));
}

restoreExports();
if (!process.argv.includes('--restore')) {
  rmSync(dist, { recursive: true, force: true });
  compile('--emitDeclarationOnly');
  compile('--declaration', 'false', '--removeComments');
  renameImports();
  removeEmptyModules();
  publishExports();
}
