/** All mutants of a set of sources, and a sample of them that depends on nothing but the sources and a seed. */
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { hashOf } from './baseline.ts';
import type { Change } from './changes.ts';
import { mutators } from './mutators.ts';
import { parseSources } from './parsed-source.ts';
import { isLeftOut } from './wording.ts';

export interface Mutant extends Change {
  /** The same as long as its line is the same, wherever in the file that stands. */
  readonly id: string;
  /** From the root. */
  readonly file: string;
  readonly line: number;
  /** The line in which it begins, without indentation. */
  readonly code: string;
  readonly mutator: string;
  readonly before: string;
}

/** In the order of the sources. Two mutators may propose the same text: the first has it. */
export function mutantsOf(texts: ReadonlyMap<string, string>): readonly Mutant[] {
  return parseSources(texts, (path, source) => {
    const found = new Map<string, Mutant>();
    const seen = new Map<string, number>();
    const visit = (node: Node): void => {
      if (isLeftOut(node, source)) return;
      for (const { name, of } of mutators) {
        for (const change of of(node, source)) {
          const place = `${change.start} ${change.end} ${change.replacement}`;
          if (!found.has(place)) found.set(place, mutantOf(path, source, name, change, seen));
        }
      }
      node.forEachChild(visit);
    };
    source.forEachChild(visit);
    return [...found.values()];
  });
}

function mutantOf(
  file: string,
  source: SourceFile,
  mutator: string,
  change: Change,
  seen: Map<string, number>,
): Mutant {
  const { text } = source;
  const lineBegin = text.lastIndexOf('\n', change.start - 1) + 1;
  const lineEnd = text.indexOf('\n', change.start);
  const code = text.slice(lineBegin, lineEnd < 0 ? text.length : lineEnd).trim();
  const before = text.slice(change.start, change.end);
  const what = JSON.stringify([file, code, mutator, before, change.replacement]);
  const nth = seen.get(what) ?? 0;
  seen.set(what, nth + 1);
  const line = text.slice(0, change.start).split('\n').length;
  return { id: hashOf(`${what} ${nth}`).slice(0, 12), file, line, code, mutator, before, ...change };
}

/**
 * As many mutants of each folder, the folders by turns, in an order that is random by the seed: the beginning of a sample is
 * the smaller sample of the same seed, and a change of the sources leaves the rest of it as it was.
 * @param count of all folders together
 */
export function sampleOf(
  mutants: readonly Mutant[],
  folders: readonly string[],
  count: number,
  seed: string,
): readonly Mutant[] {
  const ranked = folders.map((folder) =>
    mutants
      .filter(({ file }) => file.startsWith(`${folder}/`))
      .map((mutant) => ({ mutant, rank: hashOf(`${seed} ${mutant.id}`) }))
      .toSorted((a, b) => (a.rank < b.rank ? -1 : 1)),
  );
  const each = Math.ceil(count / folders.length);
  return Array.from({ length: each }, (_, at) => ranked.flatMap((list) => list[at]?.mutant ?? [])).flat();
}
