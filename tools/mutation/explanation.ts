/** What a survivor is, and the shape in which explanations are written down. */
import type { Mutant } from './mutants.ts';

/** Why no test notices a mutant. */
export type Reason =
  /** No input and no state makes a difference. */
  | 'equivalent'
  /** The answer is the same, only the time or memory that it takes is another. */
  | 'speed'
  /** Another check refuses the same; this one is there in case that one fails. */
  | 'second guard'
  /** A test that the run leaves out, or a check that is none of the tests, notices it. */
  | 'shown elsewhere'
  /** It makes a difference that no test is worth. */
  | 'accepted';

export interface Explanation {
  /** From packages/server/src. */
  readonly file: string;
  /** The line in which the mutant begins, without indentation. */
  readonly code: string;
  /** `before → after`, or only some of them; all mutants of the line where it is left out. */
  readonly changes?: readonly string[];
  readonly reason: Reason;
  readonly why: string;
}

export const sourcesFolder = 'packages/server/src/';

/** The change in one line, as explanations name it. */
export function changeText({ before, replacement }: Pick<Mutant, 'before' | 'replacement'>): string {
  const after = replacement === '' ? 'nothing' : oneLine(replacement);
  return `${oneLine(before)} → ${after}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The explanation of a mutant, undefined where there is none. */
export function explanationOf(mutant: Mutant, explanations: readonly Explanation[]): Explanation | undefined {
  const change = changeText(mutant);
  return explanations.find(
    ({ file, code, changes }) =>
      mutant.file === sourcesFolder + file &&
      mutant.code === code &&
      (changes === undefined || changes.includes(change)),
  );
}
