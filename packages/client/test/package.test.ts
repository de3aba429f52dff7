/**
 * The package as npm publishes it: what a fresh project installs, compiles strictly and runs. The examples of its README and of
 * docs/integrate/sdk-typescript.md are programs of that project, and print what the pages show.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { keepCalendar, plainCalendar, putPlaces } from '../../server/test/practice/calendars/world.ts';
import { openWorld, passwordCredentialsOf, type World } from './world.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const client = join(root, 'packages/client');
const directory = mkdtempSync(join(tmpdir(), 'praxis-package-'));
after(() => rmSync(directory, { recursive: true }));

const run = promisify(execFile);
/** The one that npm runs under, if npm has started this: it may be older than the one that runs the sources. */
const node = process.env['npm_node_execpath'] ?? process.execPath;
const tsc = join(root, 'node_modules/typescript/bin/tsc');
/** Of all JavaScript of the package, `@praxis/client/node` included. */
const compressedBytesMax = 15_000;

const world = await openWorld({ after });
const { maple, service, caller } = world;
await putPlaces(caller, ['12'], ['3']);
await keepCalendar(service.platform, maple, plainCalendar);
await service.service.jobs.settle();
const project = await installPackage();

/** Packs a copy of the package, since npm's scripts change it for the moment, and installs it in a project of its own. */
async function installPackage(): Promise<string> {
  const [copy, fresh] = [join(directory, 'client'), join(directory, 'project')];
  const isSource = (path: string): boolean => !/\/(?:node_modules|dist|test)(?:\/|$)/.test(path.slice(client.length));
  cpSync(client, copy, { recursive: true, filter: isSource });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const quiet = ['--offline', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['pack', '--pack-destination', directory, ...quiet], { cwd: copy });
  const packed = readdirSync(directory).find((name) => name.endsWith('.tgz')) ?? assert.fail('nothing was packed');
  const { exports } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
  assert.deepEqual(exports, { '.': './src/index.ts', './node': './src/node.ts' }, 'package.json is as it was');
  mkdirSync(fresh);
  writeFileSync(join(fresh, 'package.json'), '{"name":"fresh","private":true,"type":"module"}');
  await run('npm', ['install', join(directory, packed), ...quiet], { cwd: fresh });
  return fresh;
}

const browser = { lib: ['es2022', 'dom', 'dom.iterable'], types: [] };
const nodeAlone = { lib: ['es2023'], types: ['node'], typeRoots: [join(root, 'node_modules/@types')] };

/** Compiles files of the project strictly. @throws AssertionError with what the compiler says */
async function compile(files: readonly string[], options: object): Promise<void> {
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const compilerOptions = { target: 'es2022', module: 'nodenext', outDir: 'out', ...strict, ...options };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  await run(process.execPath, [tsc, '--project', project]).catch((error: { readonly stdout?: string }) =>
    assert.fail(error.stdout ?? String(error)),
  );
}

const pages = {
  'readme.ts': join(client, 'README.md'),
  'guide.ts': join(root, 'docs/integrate/sdk-typescript.md'),
} as const;

/** The blocks of a page in a language, in their order. */
function readBlocks(page: string, language: string): readonly string[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , block = '']) => block);
}

/** The program that the blocks of a page are, with values for what a reader fills in. */
function writeProgram(name: string, page: string, { application, maple: firm }: World): void {
  const { username, password, apiKey: legacyKey } = passwordCredentialsOf(application, firm);
  const values: Readonly<Record<string, string>> = {
    clientId: application.clientId,
    clientSecret: application.clientSecret,
    username,
    password,
  };
  const program = readBlocks(page, 'ts')
    .join('')
    .replaceAll('http://127.0.0.1:8080', service.origin)
    .replaceAll(
      /(flow: '([\w-]+)',\s+apiKey: )'…'/g,
      (_all, before: string, flow: string) => `${before}'${flow === 'password' ? legacyKey : application.clientKey}'`,
    )
    .replaceAll(
      /\b(\w+): '…'/g,
      (_all, key: string) => `${key}: '${values[key] ?? assert.fail(`no value for ${key}`)}'`,
    );
  writeFileSync(join(project, name), program);
}

for (const [name, page] of Object.entries(pages)) writeProgram(name, page, world);
cpSync(join(client, 'test/misspelt.test.ts'), join(project, 'misspelt.ts'));
await compile(Object.keys(pages), browser);

test(`the JavaScript of the package has ${compressedBytesMax} bytes at most, compressed together and not minified`, () => {
  const dist = join(project, 'node_modules/@praxis/client/dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  assert.ok(files.length > 20);
  const bytes = gzipSync(Buffer.concat(files.map((file) => readFileSync(join(dist, file))))).length;
  assert.ok(bytes <= compressedBytesMax, `${bytes} bytes`);
});

test('the package holds what it runs and its types, and depends on nothing', () => {
  const installed = join(project, 'node_modules/@praxis/client');
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  assert.equal(manifest.dependencies, undefined);
  assert.deepEqual(manifest.exports['.'], { types: './dist/index.d.ts', default: './dist/index.js' });
  assert.deepEqual(
    readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['@praxis'],
  );
  const main = readFileSync(join(installed, 'dist/index.js'), 'utf8');
  assert.doesNotMatch(main, /node:/);
});

test('misspelt elements and search parameters do not compile against the package, in Node without types of browsers', async () => {
  // Without skipLibCheck the declarations of Node itself are checked, too.
  await compile(['misspelt.ts', ...Object.keys(pages)], { ...nodeAlone, skipLibCheck: true, noEmit: true });
});

test('the sources of the main entry need no types of Node: they run in browsers and workers', async () => {
  const sources = { rootDir: join(client, 'src'), noEmit: true, allowImportingTsExtensions: true };
  await compile([join(client, 'src/index.ts')], { ...browser, ...sources });
});

for (const [name, page] of Object.entries(pages)) {
  test(`${page.slice(root.length)}: the examples print what the page shows`, async () => {
    const program = join(project, 'out', name.replace('.ts', '.js'));
    const { stdout, stderr } = await run(node, [program], { cwd: project });
    assert.equal(stderr, '');
    const shown = readBlocks(page, 'text').join('');
    const [printed, wanted] = [stdout, shown].map((text) => text.trimEnd().split('\n'));
    assert.deepEqual(
      printed?.map((line, index) => (matches(line, wanted?.[index] ?? '') ? wanted?.[index] : line)),
      wanted,
    );
  });
}

/** Whether a line is the one shown, with anything for `…`. */
function matches(line: string, shown: string): boolean {
  const [begin = '', end] = shown.split('…');
  return end === undefined
    ? line === shown
    : line.startsWith(begin) && line.endsWith(end) && line.length > begin.length + end.length;
}
