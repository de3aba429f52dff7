/** The rules of the architecture over a tree of files. Each returns what breaks it; none stops at the first. */
import { posix } from 'node:path';
import { cyclesOf } from './cycles.ts';
import { homonymsOf } from './homonyms.ts';
import { exportedNamesOf, type Import, importsOf } from './imports.ts';
import { indexPathOf, isModule, type Place, placeOf, refusalOf, type Target, targetOf } from './place.ts';
import {
  builtinImporters,
  dependencyImporters,
  featureImports,
  filesOfFolderMax,
  forbiddenWords,
  linesMax,
  type Maker,
  makers,
  packages,
  regExpComposers,
} from './table.ts';
import { TokenError } from './tokens.ts';
import type { SourceFile, Tree } from './tree.ts';

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** Everything in the tree that breaks a rule, by path and line. */
export function violationsOf(tree: Tree): Violation[] {
  const links = new Map<string, string[]>();
  const found = tree.files.flatMap((file) => [
    ...placeViolations(file),
    ...(isRead(file) ? [...nameViolations(file), ...importViolations(file, tree, links)] : []),
  ]);
  const cycles = cyclesOf(links).map((cycle) => ({
    path: cycle[0] ?? '',
    line: 1,
    message: `imports itself in a circle: ${cycle.join(' → ')}`,
  }));
  return [...found, ...cycles, ...homonyms(tree, links), ...missingMakers(tree), ...crowds(tree)].sort(
    (a, b) => a.path.localeCompare(b.path) || a.line - b.line,
  );
}

const exportedFunction = /^export (?:async )?function\*? ([A-Za-z]+)/gm;

/** A participle or `…Of`: a name without a verb. `seed` is a verb. */
const nameWithoutVerb = /^(?!is[A-Z]).*Of$|^(?!seed)[a-z]+ed(?=[A-Z]|$)/;

/** Exported functions of the packages whose names do not say what they do. */
function nameViolations({ path, text }: SourceFile): Violation[] {
  if (placeOf(path).part !== 'src') return [];
  return [...text.matchAll(exportedFunction)].flatMap(({ 1: name = '', index }) =>
    nameWithoutVerb.test(name)
      ? [
          {
            path,
            line: text.slice(0, index).split('\n').length,
            message: `function "${name}" has no verb: say what it does, such as find, compute, build or parse`,
          },
        ]
      : [],
  );
}

/** Names that two files export which a reader may have before him together. */
function homonyms(tree: Tree, links: ReadonlyMap<string, readonly string[]>): Violation[] {
  return homonymsOf(tree.files, links).map(({ name, paths: [path = '', ...others] }) => ({
    path,
    line: 1,
    message: `"${name}" has another meaning in ${others.join(', ')}: give one of them its own name`,
  }));
}

function isRead(file: SourceFile): boolean {
  return !file.isGenerated && !file.path.endsWith('.sql');
}

/** Name, size and module of a file. */
function placeViolations({ path, text, isGenerated }: SourceFile): Violation[] {
  const messages: string[] = [];
  const place = placeOf(path);
  for (const word of path.split(/[/.-]/).filter((part) => forbiddenWords.has(part))) {
    messages.push(`"${word}" in a name says nothing: name the file after its subject`);
  }
  const lines = text.split('\n').length - 1;
  const most = place.part === 'test' ? linesMax.test : linesMax.source;
  if (!isGenerated && !path.endsWith('.sql') && lines > most)
    messages.push(`${lines} lines, ${most} at most: split it by subject`);
  if (place.part === 'src' && !(place.owner in packages))
    messages.push(`package "${place.owner}" is not in the table of packages`);
  if (place.module !== undefined && !isModule(place.module))
    messages.push(`module "${place.module}" is not in the table of tiers`);
  return messages.map((message) => ({ path, line: 1, message }));
}

/** Folders with more sources than one can look over. */
function crowds(tree: Tree): Violation[] {
  const sources = tree.files.filter((file) => isRead(file) && placeOf(file.path).part !== 'test');
  return Object.entries(Object.groupBy(sources, ({ path }) => posix.dirname(path))).flatMap(
    ([path, { length } = []]) =>
      length > filesOfFolderMax
        ? [{ path, line: 1, message: `${length} source files, ${filesOfFolderMax} at most: divide it by subject` }]
        : [],
  );
}

function importViolations(file: SourceFile, tree: Tree, links: Map<string, string[]>): Violation[] {
  const { path, text } = file;
  try {
    const refused = importsOf(text).flatMap((item) =>
      importRefusals(item, path, tree, links).map((message) => ({ path, line: item.line, message })),
    );
    return [...refused, ...handedOn(file), ...composedPatterns(file)];
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return [{ path, line: error.line, message: error.message }];
  }
}

function importRefusals(item: Import, path: string, tree: Tree, links: Map<string, string[]>): string[] {
  const place = placeOf(path);
  if (item.specifier === undefined)
    return place.part === 'src' ? ['import() of what is not a literal escapes this check'] : [];
  const target = targetOf(path, item.specifier);
  if (target.kind === 'file' || target.kind === 'package') {
    const imported = target.kind === 'file' ? target.path : indexPathOf(target.name);
    links.set(path, [...(links.get(path) ?? []), imported]);
  }
  return refusalsOf(item, target, place, tree).map((refusal) => `import of "${item.specifier}": ${refusal}`);
}

function refusalsOf(item: Import, target: Target, place: Place, tree: Tree): string[] {
  switch (target.kind) {
    case 'file':
      return [...fileRefusals(target.path, place, tree), ...makerRefusals(item, target.path, place)];
    case 'package':
      return packageRefusals(target.name, place);
    case 'builtin':
    case 'dependency':
      return foreignRefusals(target.kind, target.name, place, tree);
  }
}

function fileRefusals(target: string, place: Place, tree: Tree): string[] {
  const to = placeOf(target);
  if (place.part === 'src' && needsNode(to)) return ['needs Node, and is an entry of its own'];
  if (!tree.files.some(({ path }) => path === target) && !target.endsWith('.json')) return ['there is no such file'];
  if (place.part !== 'src') return [];
  if (to.owner !== place.owner) return ['leaves its package: import other packages by their names'];
  if (to.part !== 'src') return [`is under ${to.part}, which sources do not import`];
  if (place.module === undefined || to.module === undefined) return [];
  const refusal = refusalOf(place.module, to.module) ?? featureRefusalOf(place, to);
  return refusal === undefined ? [] : [refusal];
}

/**
 * Features import each other where the table says so. Of the files beside their folders, which list all of them, they import
 * the form of their declaration.
 */
function featureRefusalOf(place: Place, to: Place): string | undefined {
  const feature = featureOf(place);
  if (feature === undefined || to.module !== practice) return undefined;
  const other = featureOf(to);
  if (other === undefined && to.inner === declarationOfFeature) return undefined;
  if (other === undefined) return 'lists all features: a feature does not import it';
  if (other === feature || featureImports[feature]?.includes(other)) return undefined;
  return `feature "${feature}" must not import "${other}"`;
}

const practice = 'practice';
const declarationOfFeature = `${practice}/feature.ts`;

/** The folder of practice/ that a source stands in; undefined: it stands in none. */
function featureOf({ module, inner }: Place): string | undefined {
  const [, feature, file] = (inner ?? '').split('/');
  return module === practice && file !== undefined ? feature : undefined;
}

function packageRefusals(name: string, place: Place): string[] {
  if (place.part !== 'src') return [];
  const rule = packages[place.owner];
  if (!rule?.imports.includes(name)) return [`package "${place.owner}" must not import "${name}"`];
  const importers = dependencyImporters[`@praxis/${name}`];
  if (place.module === undefined || importers === undefined || importers.includes(place.module)) return [];
  return [`only ${importers.join(', ')} may import it`];
}

function foreignRefusals(kind: 'builtin' | 'dependency', name: string, place: Place, tree: Tree): string[] {
  if (packages[place.owner]?.pure && place.part === 'src' && !needsNode(place))
    return [`package "${place.owner}" is pure and runs in browsers`];
  if (kind === 'dependency' && !isDeclared(name, place, tree)) return ['is not declared in package.json'];
  if (place.module === undefined) return [];
  const importers = kind === 'builtin' ? builtinImporters[name] : (dependencyImporters[name] ?? []);
  if (importers === undefined || importers.includes(place.module)) return [];
  return [importers.length === 0 ? 'is in no table of importers' : `only ${importers.join(', ')} may import it`];
}

/** Whether it is a file of a pure package that browsers do not load. */
function needsNode({ owner, inner = '' }: Place): boolean {
  return packages[owner]?.nodeFiles?.includes(inner) ?? false;
}

/** Sources use what their package declares; tests, tools and benchmarks also what the root declares. */
function isDeclared(name: string, place: Place, tree: Tree): boolean {
  if (tree.dependencies.get(place.owner)?.has(name)) return true;
  if (place.part === 'src') return false;
  return [...tree.dependencies.values()].some((declared) => declared.has(name));
}

function makerRefusals(item: Import, target: string, place: Place): string[] {
  if (place.part !== 'src') return [];
  return makers
    .filter(({ file }) => target === `packages/server/src/${file}`)
    .filter(({ name }) => item.names.includes(name) || item.names.includes('*'))
    .flatMap((maker) => {
      if (item.isReexport) return [`"${maker.name}" must not be handed on: its callers are listed`];
      return mayCall(maker, place) ? [] : [`"${maker.name}" is for ${maker.callers.join(', ')} (${maker.reason})`];
    });
}

function mayCall(maker: Maker, place: Place): boolean {
  return maker.callers.some((caller) => caller === place.module || caller === place.inner);
}

/** Makers that a file exports although they are not its own. */
function handedOn({ path, text }: SourceFile): Violation[] {
  if (placeOf(path).part !== 'src') return [];
  const names = new Set(exportedNamesOf(text));
  return makers
    .filter(({ name, file }) => names.has(name) && path !== `packages/server/src/${file}`)
    .map(({ name }) => ({ path, line: 1, message: `"${name}" must not be handed on: its callers are listed` }));
}

/** Regular expressions that are not literals, but for those of which the table says where they come from. */
function composedPatterns({ path, text }: SourceFile): Violation[] {
  if (placeOf(path).part !== 'src' || path in regExpComposers) return [];
  const message =
    'a regular expression that is no literal: match what comes from outside with re2js, else name the file in the table of composers';
  return text
    .split('\n')
    .flatMap((line, index) => (/\bRegExp\(/.test(line) ? [{ path, line: index + 1, message }] : []));
}

/** A tree without the server has nothing that rows about its files could guard. */
function hasServer(tree: Tree): boolean {
  return tree.files.some(({ path }) => path.startsWith('packages/server/src/'));
}

/** Rows that have come to name nothing would guard nothing. */
function missingMakers(tree: Tree): Violation[] {
  if (!hasServer(tree)) return [];
  return makers.flatMap(({ name, file }) => {
    const path = `packages/server/src/${file}`;
    const source = tree.files.find((item) => item.path === path);
    if (source && new RegExp(`^export (async )?(function|const) ${name}\\b`, 'm').test(source.text)) return [];
    return [{ path, line: 1, message: `the table of makers names "${name}", which this file does not export` }];
  });
}
