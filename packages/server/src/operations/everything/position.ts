/**
 * Where the next page of a $everything begins, as a text in its link: sealed, and bound to firm, application, access policy
 * and what was asked for, like the cursors of searches (search/sql/cursor.ts).
 */
import { fail } from '../../base/errors.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { type EverythingParameters, encodeEverythingParameters } from './parameters.ts';

export interface Position {
  /** Id of the resource whose compartment is walked. */
  readonly of: string;
  /** `_cursor` of the search for the one after it, at type level; undefined: it is the last one. */
  readonly following: string | undefined;
  /** The type that the walk has come to. */
  readonly type: string;
  /** `_cursor` of the search in that type; undefined: at its beginning. */
  readonly within: string | undefined;
}

const cursorPattern = /^[A-Za-z0-9_-]+$/;

/** Longest cursor that is looked at: it holds two of a search. */
const cursorLengthMax = 40_000;

/** The sealed position, in characters that need no percent-encoding. */
export function sealEverythingPosition(
  context: InteractionContext,
  asked: EverythingParameters,
  position: Position,
): string {
  const { of, following, type, within } = position;
  const plain = Buffer.from(JSON.stringify([of, following ?? null, type, within ?? null]));
  return context.secrets.sealText('page-link', plain, bindingOf(context, asked));
}

/**
 * What was sealed.
 * @throws PraxisError `cursor-invalid`: altered, or made for another caller, firm, policy or request
 */
export function openEverythingPosition(
  context: InteractionContext,
  asked: EverythingParameters,
  cursor: string,
): Position {
  const isCursor = cursor.length <= cursorLengthMax && cursorPattern.test(cursor);
  const plain = isCursor ? context.secrets.openText('page-link', cursor, bindingOf(context, asked)) : undefined;
  if (plain === undefined) {
    return fail('cursor-invalid', {
      diagnostics:
        '_cursor belongs to another request or caller, or was altered: follow next links as they are, or begin again without it',
      expression: ['_cursor'],
    });
  }
  const [of, following, type, within]: [string, string | null, string, string | null] = JSON.parse(plain.toString());
  return { of, following: following ?? undefined, type, within: within ?? undefined };
}

function bindingOf({ scope, policy }: InteractionContext, asked: EverythingParameters): string {
  const { firm, application } = scope;
  const criteria = encodeEverythingParameters(asked).filter(([name]) => name !== '_count');
  return JSON.stringify(['everything', firm, application, policy.fingerprint, asked.type, asked.id, criteria]);
}
