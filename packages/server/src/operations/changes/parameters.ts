/**
 * What a follower of the change feed asks for: its parameters, read.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import type { InteractionContext } from '../../engine/context.ts';
import { type RightsContext, requireGrants } from '../../engine/rights/denials.ts';
import type { SearchParameters } from '../../search/query/query.ts';
import { quoteName } from '../../search/query/search-values.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import { readIntegerInput, readTextInput, readTextInputs } from '../input.ts';
import { parseMoment } from '../moments.ts';
import type { OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { isCursor } from './cursor.ts';

/** Changes of a page at most, and where `_count` is not given. */
export const changesMax = 500;
const changesDefault = 100;

/** Longest wait for a change, in seconds. */
export const waitSecondsMax = 30;

export type Since =
  | { readonly kind: 'beginning' }
  | { readonly kind: 'moment'; readonly ms: number; readonly text: string }
  | { readonly kind: 'cursor'; readonly text: string };

export interface ChangesParameters {
  readonly since: Since;
  /** As they were asked for, sorted, each once; undefined: all that the caller may search. */
  readonly types: readonly string[] | undefined;
  readonly count: number;
  readonly waitMs: number;
}

/** The types whose changes the caller may be told; the service's own have their own order. */
export function listSearchableTypes({ policy }: RightsContext): readonly string[] {
  return resourceTypesWithEndpoint.filter((type) => !ledgerTypes.has(type) && policy.allows(type, 's'));
}

/** @throws PraxisError `operation-parameter-invalid`, `access-denied` (a type that the caller may not search) */
export function readChangesParameters(
  context: InteractionContext,
  { input, prefer }: OperationRequest,
): ChangesParameters {
  const wait = readIntegerInput(input, '_wait') ?? prefer.waitSeconds ?? 0;
  if (wait < 0) refuseParameter('_wait', `takes seconds from 0 to ${waitSecondsMax}`);
  const count = readIntegerInput(input, '_count') ?? changesDefault;
  if (count < 1) refuseParameter('_count', `takes an integer from 1; ${changesMax} at most are told on a page`);
  return {
    types: typesOf(context, readTextInputs(input, '_type')),
    since: sinceOf(context, readTextInput(input, 'since')),
    count: Math.min(count, changesMax),
    waitMs: Math.min(wait, waitSecondsMax) * 1000,
  };
}

/** The parameters that a link repeats beside `since`. */
export function encodeChangesParameters({ types, count }: ChangesParameters): SearchParameters {
  return [...(types === undefined ? [] : [['_type', types.join(',')] as const]), ['_count', String(count)]];
}

function typesOf(context: InteractionContext, texts: readonly string[]): readonly string[] | undefined {
  const names = [...new Set(texts.flatMap((text) => text.split(',')))].toSorted();
  for (const name of names) {
    if (ledgerTypes.has(name))
      refuseParameter('_type', `takes no ${name}: what the service notes itself is not in the feed`);
    if (!resourceTypesWithEndpoint.includes(name))
      refuseParameter('_type', `names ${quoteName(name)}: it takes names of resource types of R4, separated by commas`);
    requireGrants(context, name, 's');
  }
  return names.length === 0 ? undefined : names;
}

function sinceOf(context: InteractionContext, text: string | undefined): Since {
  if (text === undefined) return { kind: 'beginning' };
  if (isCursor(text)) return { kind: 'cursor', text };
  const ms = parseMoment(context, text);
  if (ms === undefined)
    return refuseParameter(
      'since',
      'takes what a next link holds, or a date or an instant such as 2026-11-21T09:30:00Z',
    );
  return { kind: 'moment', ms, text };
}
