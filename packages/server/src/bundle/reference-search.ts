/**
 * Conditional references (https://hl7.org/fhir/R4/http.html#trules): `Patient?identifier=…` in the place of a reference
 * stands for the one resource that the search finds, with what the transaction itself writes.
 */
import { PraxisError } from '../base/errors.ts';
import type { InteractionContext } from '../engine/context.ts';
import { findMatches } from '../engine/write/conditional.ts';
import { parseParameters } from '../search/query/query-string.ts';
import type { ConditionalReference } from './entry-links.ts';
import { placeInEntry, runForEntry } from './entry-problem.ts';

/** How many resources a conditional reference finds, and the first of them as `Type/id`. */
export interface Located {
  readonly count: number;
  readonly target: string | undefined;
}

/** What each of the references finds now, by its text. @throws PraxisError `access-denied`, `search-invalid` */
export async function locate(
  context: InteractionContext,
  references: readonly ConditionalReference[],
): Promise<ReadonlyMap<string, Located>> {
  const located = new Map<string, Located>();
  for (const { text, type, criteria, index } of references) {
    const matches = await runForEntry(index, () => findMatches(context, type, parseParameters(criteria)));
    const [first] = matches;
    located.set(text, { count: matches.length, target: first && `${type}/${first.id}` });
  }
  return located;
}

/** @throws PraxisError `precondition-failed` naming the first entry whose reference does not find exactly one resource */
export function requireLocated(
  references: readonly ConditionalReference[],
  located: ReadonlyMap<string, Located>,
): void {
  for (const { text, type, criteria, index } of references) {
    const count = located.get(text)?.count ?? 0;
    if (count === 1) continue;
    // The values of the criteria may be about a person: their names tell which reference is meant.
    const names = parseParameters(criteria).map(([name]) => `${name}=…`);
    const diagnostics = `The conditional reference ${type}?${names.join('&')} finds ${count === 0 ? 'no resource' : 'several resources'}: it must find exactly one`;
    throw placeInEntry(new PraxisError('precondition-failed', { diagnostics }), index);
  }
}
