/**
 * What a $everything asks for: its parameters, read.
 */
import { isResourceType } from '../../search/numbers.ts';
import type { SearchParameters } from '../../search/query/query.ts';
import { quoteName } from '../../search/query/search-values.ts';
import { readIntegerInput, readTextInput, readTextInputs } from '../input.ts';
import type { OperationInput, OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';

/** Rows of a page at most, and as many as a page has when `_count` does not say less; what supports them is not counted. */
export const everythingRowsMax = 500;

export interface EverythingParameters {
  /** `Patient` or `Encounter`: whose compartments. */
  readonly type: string;
  /** '' for those of all resources of the type that the caller may see. */
  readonly id: string;
  readonly since: string | undefined;
  readonly start: string | undefined;
  readonly end: string | undefined;
  /** Types to return; undefined: all. */
  readonly types: ReadonlySet<string> | undefined;
  /** Rows of a page. */
  readonly count: number;
  readonly cursor: string | undefined;
}

/** @throws PraxisError `operation-parameter-invalid` */
export function readEverythingParameters({ type, id, input }: OperationRequest): EverythingParameters {
  return {
    type,
    id,
    since: readTextInput(input, '_since'),
    start: readTextInput(input, 'start'),
    end: readTextInput(input, 'end'),
    types: typesOf(input),
    count: countOf(input),
    cursor: readTextInput(input, '_cursor'),
  };
}

/** The parameters as a link repeats them, without the cursor. */
export function encodeEverythingParameters(asked: EverythingParameters): SearchParameters {
  const texts: readonly (readonly [string, string | undefined])[] = [
    ['start', asked.start],
    ['end', asked.end],
    ['_since', asked.since],
    ['_type', asked.types && [...asked.types].join(',')],
    ['_count', String(asked.count)],
  ];
  return texts.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

/** R4: each `_type` holds one or more types, separated by commas. */
function typesOf(input: OperationInput): ReadonlySet<string> | undefined {
  const names = readTextInputs(input, '_type').flatMap((text) => text.split(','));
  for (const name of names) {
    if (isResourceType(name)) continue;
    refuseParameter('_type', `names ${quoteName(name)}: it takes names of resource types of R4, separated by commas`);
  }
  return names.length === 0 ? undefined : new Set(names);
}

function countOf(input: OperationInput): number {
  const count = readIntegerInput(input, '_count');
  if (count !== undefined && count < 1) refuseParameter('_count', 'takes an integer from 1');
  return Math.min(count ?? everythingRowsMax, everythingRowsMax);
}
