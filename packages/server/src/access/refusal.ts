/** Why a text is not an access entry. */

export type RefusalRule =
  | 'prefix'
  | 'too-long'
  | 'code'
  | 'letter'
  | 'field'
  | 'bundle'
  | 'filter'
  | 'context'
  | 'type'
  | 'query';

export interface EntryRefusal {
  readonly kind: 'refused';
  readonly text: string;
  readonly rule: RefusalRule;
  /** For whoever wrote the entry: what is wrong, and what would be right. */
  readonly diagnostics: string;
}

/** Characters of a refused text that its diagnostics repeat. */
const shownCharactersMax = 100;

/** @param problem what is wrong, and what would be right */
export function makeEntryRefusal(text: string, rule: RefusalRule, problem: string): EntryRefusal {
  const shown = JSON.stringify(text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text);
  return { kind: 'refused', text, rule, diagnostics: `${shown} is not an access entry: ${problem}` };
}
