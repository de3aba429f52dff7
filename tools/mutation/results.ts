/** What came of each mutant, kept on disk as lines of JSON so that a run that is broken off goes on where it was. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Result {
  readonly id: string;
  /**
   * `killed`: a test failed, or did not end in time. `refused`: no test failed, but the type check of every change does.
   * `survived`: neither. `uncovered`: no test runs it.
   */
  readonly status: 'killed' | 'refused' | 'survived' | 'uncovered';
  /** Of a survivor: the type check accepts it. */
  readonly isTyped?: true;
  /** What killed it. */
  readonly by?: { readonly file: string; readonly test: string; readonly isTimeout: boolean };
  /** Test files that passed, with the hash of their text. */
  readonly passed: Readonly<Record<string, string>>;
  /** How many test files run the place, or load its file where coverage is of an earlier text. */
  readonly covering: number;
  readonly ms: number;
}

const fileName = 'results.jsonl';

/** The last result of each mutant, by its id. */
export function readResults(directory: string): Map<string, Result> {
  const path = join(directory, fileName);
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const result: Result = JSON.parse(line);
      return [result.id, result] as const;
    }),
  );
}

export function keepResult(directory: string, result: Result): void {
  appendFileSync(join(directory, fileName), `${JSON.stringify(result)}\n`);
}
