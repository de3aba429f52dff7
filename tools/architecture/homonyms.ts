/** Names with two meanings: a reader has to look up which of them is meant. */
import { placeOf } from './place.ts';
import type { SourceFile } from './tree.ts';

export interface Homonym {
  readonly name: string;
  /** The files that declare and export it, in order. */
  readonly paths: readonly string[];
}

const declaration =
  /^export (?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

/**
 * Names that two files of the server declare and export, where both files are of one module, or of two of which one imports
 * the other.
 * @param links file → the files that it imports
 */
export function homonymsOf(files: readonly SourceFile[], links: ReadonlyMap<string, readonly string[]>): Homonym[] {
  const meetings = meetingsOf(links);
  const meet = (one: string, other: string): boolean => {
    const [from, to] = [moduleOf(one), moduleOf(other)];
    return from === to || meetings.has(`${from} ${to}`) || meetings.has(`${to} ${from}`);
  };
  return [...exportersOf(files)].flatMap(([name, all]) => {
    const paths = all.filter((path) => all.some((other) => other !== path && meet(path, other)));
    return paths.length === 0 ? [] : [{ name, paths: paths.sort() }];
  });
}

/** Name → the sources of the server that declare and export it. */
function exportersOf(files: readonly SourceFile[]): ReadonlyMap<string, string[]> {
  const exporters = new Map<string, string[]>();
  for (const { path, text, isGenerated } of files) {
    if (isGenerated || moduleOf(path) === undefined) continue;
    const names = new Set([...text.matchAll(declaration)].map(([, name = '']) => name));
    for (const name of names) exporters.set(name, [...(exporters.get(name) ?? []), path]);
  }
  return exporters;
}

/** `importing imported`, of modules. */
function meetingsOf(links: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  return new Set([...links].flatMap(([path, targets]) => targets.map((to) => `${moduleOf(path)} ${moduleOf(to)}`)));
}

/** A module of the server; each feature of the practice counts as one. */
function moduleOf(path: string): string | undefined {
  const { part, module, inner = '' } = placeOf(path);
  if (part !== 'src') return undefined;
  const [, feature, file] = inner.split('/');
  return module === 'practice' && file !== undefined ? `practice/${feature}` : module;
}
