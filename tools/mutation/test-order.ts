/**
 * In which order test files are asked about a mutant: those first that are likely to notice it and quick to say so. The
 * order has no influence on whether a mutant that all of them are asked about survives.
 */
import { basename } from 'node:path';
import type { Result } from './results.ts';

export interface Candidate {
  readonly file: string;
  readonly ms: number;
}

/** How often, for mutants of one source, a test file was asked and was the one that noticed. */
export interface Experience {
  note(source: string, result: Result | undefined): void;
  /**
   * Candidates for a mutant of the source, best first.
   * @param text of the source
   */
  order(source: string, text: string, candidates: readonly Candidate[]): readonly Candidate[];
}

/** Guesses for a test file that was never asked: of the same name, of the same module, of one that the source imports. */
const likely = { sameName: 0.6, sameModule: 0.2, imported: 0.1, other: 0.05 };
/** How many answers a guess weighs as much as. */
const guessWeight = 2;
/** A process takes this long before its first test. */
const startMs = 250;

export function newExperience(): Experience {
  const asked = new Map<string, number>();
  const noticed = new Map<string, number>();
  const keyOf = (source: string, test: string): string => `${source} ${test}`;
  const chance = (source: string, test: string, imported: ReadonlySet<string>): number => {
    const key = keyOf(source, test);
    const weighed = guessWeight * guess(source, test, imported);
    return ((noticed.get(key) ?? 0) + weighed) / ((asked.get(key) ?? 0) + guessWeight);
  };
  return {
    note(source, result) {
      if (result === undefined) return;
      const { by, passed } = result;
      const all = [...Object.keys(passed), ...(by === undefined ? [] : [by.file])];
      for (const key of all.map((test) => keyOf(source, test))) asked.set(key, (asked.get(key) ?? 0) + 1);
      if (by !== undefined) noticed.set(keyOf(source, by.file), (noticed.get(keyOf(source, by.file)) ?? 0) + 1);
    },
    order(source, text, candidates) {
      const imported = new Set([...text.matchAll(/ from '\.\.\/([\w-]+)\//g)].map(([, name = '']) => name));
      return candidates
        .map((candidate) => ({ candidate, rate: chance(source, candidate.file, imported) / (candidate.ms + startMs) }))
        .toSorted((a, b) => b.rate - a.rate || (a.candidate.file < b.candidate.file ? -1 : 1))
        .map(({ candidate }) => candidate);
    },
  };
}

function guess(source: string, test: string, imported: ReadonlySet<string>): number {
  const name = basename(source, '.ts');
  const words = basename(test, '.test.ts');
  if (words.startsWith(name) || name.startsWith(words.replace(/s$/, ''))) return likely.sameName;
  const module = moduleOf(test);
  if (module === moduleOf(source)) return likely.sameModule;
  return imported.has(module) ? likely.imported : likely.other;
}

/** `access` of packages/server/test/access/mask.test.ts. */
function moduleOf(path: string): string {
  return path.split('/')[3] ?? '';
}
