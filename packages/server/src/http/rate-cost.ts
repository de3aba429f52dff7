/**
 * What a request costs beside the one unit that every request costs: those that make the database read more than one page
 * count more than once against the rate limits (limits/rate-limit.ts).
 */
import type { JsonValue } from '@praxis/fhir';
import type { FhirCall, FhirRequest } from '../interactions/context.ts';

/** By interaction, or operation with its $; others cost nothing beside. */
const units: Readonly<Record<string, number>> = {
  'search-system': 4,
  'history-system': 4,
  $document: 4,
  $everything: 9,
  $expand: 4,
  $lastn: 4,
  $validate: 1,
};

/** Entries of a Bundle that cost a unit. */
const entriesPerUnit = 10;

/** Names of search parameters that each cost a unit, wherever they stand. */
const costly: readonly RegExp[] = [/^_(?:rev)?include(?::|$)/, /^_has:/, /\./, /^_(?:filter|text|content)$/];

/** The same call, which tells `charge` what it costs as soon as that is known. */
export function charging<C extends Pick<FhirCall, 'open'>>(call: C, name: string, charge: (units: number) => void): C {
  return {
    ...call,
    open: async () => {
      const request = await call.open();
      charge((units[name] ?? 0) + costOf(request));
      return name === 'bundle'
        ? { ...request, body: async () => countedEntries(await request.body(), charge) }
        : request;
    },
  };
}

function costOf({ parameters }: FhirRequest): number {
  return parameters.filter(
    ([name, value]) => costly.some((pattern) => pattern.test(name)) || (name === '_total' && value === 'accurate'),
  ).length;
}

function countedEntries(body: JsonValue, charge: (units: number) => void): JsonValue {
  const entries = typeof body === 'object' && body !== null && 'entry' in body ? body.entry : undefined;
  if (Array.isArray(entries)) charge(Math.floor(entries.length / entriesPerUnit));
  return body;
}
