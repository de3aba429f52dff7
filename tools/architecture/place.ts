/** Where a file stands: package, part of the package, module of the server, tier. */
import { posix } from 'node:path';
import { sideModules, tiers } from './table.ts';

export interface Place {
  /** Directory under packages/; `tools`, `bench` and `examples` stand for themselves. */
  readonly owner: string;
  readonly part: 'src' | 'bin' | 'test' | 'tools';
  /** Module of the server; undefined elsewhere. */
  readonly module?: string;
  /** Path inside the src of its package, for the rows that name single files. */
  readonly inner?: string;
}

/** What an import leads to. */
export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'package'; readonly name: string }
  | { readonly kind: 'builtin' | 'dependency'; readonly name: string };

/** The place of a file by its path from the root. */
export function placeOf(path: string): Place {
  const [top = '', owner = '', part = '', ...rest] = path.split('/');
  if (top !== 'packages') return { owner: top, part: path.startsWith('tools/test/') ? 'test' : 'tools' };
  if (part === 'test' || part === 'bin') return { owner, part };
  const inner = rest.join('/');
  if (owner !== 'server') return { owner, part: 'src', inner };
  const module = (rest[0] ?? '').replace(/\.ts$/, '');
  return { owner, part: 'src', module, inner };
}

/** What others import of a package: its index. */
export function indexPathOf(owner: string): string {
  return `packages/${owner}/src/index.ts`;
}

/** The package whose index a file is; undefined: it is none. */
export function findIndexOwner(path: string): string | undefined {
  const { owner } = placeOf(path);
  return path === indexPathOf(owner) ? owner : undefined;
}

/** What a specifier in a file means: https://nodejs.org/api/esm.html#import-specifiers */
export function targetOf(path: string, specifier: string): Target {
  if (specifier.startsWith('.')) return { kind: 'file', path: posix.join(posix.dirname(path), specifier) };
  if (specifier.startsWith('node:')) return { kind: 'builtin', name: specifier };
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  return name.startsWith('@praxis/')
    ? { kind: 'package', name: name.slice('@praxis/'.length) }
    : { kind: 'dependency', name };
}

interface Rank {
  readonly tier: number;
  readonly group: number;
}

const ranks: ReadonlyMap<string, Rank> = new Map(
  tiers.flatMap(({ groups }, tier) =>
    groups.flatMap((group, index) => group.map(({ name }) => [name, { tier, group: index }])),
  ),
);
const sideNames: ReadonlySet<string> = new Set(sideModules.map(({ name }) => name));

/** Whether the table has a row for a module. */
export function isModule(name: string): boolean {
  return ranks.has(name) || sideNames.has(name);
}

/** Why a module may not import another; undefined if it may. */
export function refusalOf(from: string, to: string): string | undefined {
  if (from === to) return undefined;
  const [importer, imported] = [ranks.get(from), ranks.get(to)];
  const top = tiers.length - 1;
  if (sideNames.has(from)) return `"${from}" stands beside the tiers and imports no other module`;
  if (sideNames.has(to)) {
    return importer?.tier === top ? undefined : `"${to}" is imported by the tier "${tiers[top]?.name}" alone`;
  }
  if (importer === undefined || imported === undefined) return `"${from}" or "${to}" is not in the table of tiers`;
  if (imported.tier < importer.tier) return undefined;
  if (imported.tier > importer.tier) return `"${to}" is of a higher tier than "${from}"`;
  if (imported.group < importer.group) return undefined;
  return imported.group > importer.group
    ? `"${to}" stands to the right of "${from}" in their tier`
    : `"${to}" and "${from}" stand side by side in their tier and do not import each other`;
}
