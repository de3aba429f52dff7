/**
 * Searches by `_lastUpdated` say up to which moment they are complete, so that those who come again for what is new lose
 * nothing that was being written meanwhile (docs/decisions/0172).
 */
import type { FhirRequest, Interaction } from '../context.ts';

/** The same answer with the moment, where the search asks for `_lastUpdated` or sorts by it, and the moment is known. */
export function addCompleteness(answer: Interaction['answer']): Interaction['answer'] {
  return async (context, request) => {
    if (!isByTime(request)) return await answer(context, request);
    // Read before the search is run: what is found may be complete for longer than is told, never for less.
    const completeUntilMs = await context.store.completeUntil(context.scope);
    const response = await answer(context, request);
    return completeUntilMs === 0 ? response : { ...response, completeUntilMs };
  };
}

function isByTime({ parameters }: FhirRequest): boolean {
  return parameters.some(
    ([name, value]) =>
      name === '_lastUpdated' ||
      name.startsWith('_lastUpdated:') ||
      (name === '_sort' && value.includes('_lastUpdated')),
  );
}
