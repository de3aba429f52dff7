/**
 * Where a follower has come to, as a text in the link `next`: sealed, and bound to firm and application. It lasts as long as
 * the rights that it was given under and the data that it speaks of (docs/decisions/0171).
 */
import { fail } from '../../base/errors.ts';
import type { InteractionContext } from '../../engine/context.ts';
import type { ChangePlace } from '../../storage/store.ts';
import { refuseParameter } from '../parameter-problem.ts';

/** A follower's place in the feed. */
export interface FollowerPlace {
  readonly after: ChangePlace;
  /** Changes before it are of the time before the follower began: of those the last ones are told alone. */
  readonly began: ChangePlace;
  /** Whether it began with nothing, and so needs no deletions of what was gone by then. */
  readonly isCopy: boolean;
}

/** Longest cursor that is looked at, in characters. */
const cursorLengthMax = 8000;

/** Begins with what no date begins with. */
const cursorPattern = /^c[A-Za-z0-9_-]+$/;

/** Sealed places are filled up to a multiple of this, in bytes. */
const paddedTo = 256;

/** Raised with the form of what is sealed. */
const cursorForm = 1;

export function isCursor(text: string): boolean {
  return text.length <= cursorLengthMax && cursorPattern.test(text);
}

/** The sealed place, in characters that need no percent-encoding. @param types the wanted ones, sorted; undefined: all */
export function sealFollower(
  context: InteractionContext,
  types: readonly string[] | undefined,
  { after, began, isCopy }: FollowerPlace,
): string {
  const plain = JSON.stringify([
    [after.epoch, after.xid, after.seq, after.isVersion],
    [began.epoch, began.xid],
    isCopy,
    types ?? null,
    context.policy.fingerprint,
  ]);
  // Of one length whatever the numbers: they count what others have written, too.
  const padded = plain.padEnd(Math.ceil(plain.length / paddedTo) * paddedTo);
  return `c${context.secrets.sealText('page-link', Buffer.from(padded), bindingOf(context))}`;
}

/**
 * What was sealed.
 * @throws PraxisError `cursor-invalid` (altered, or of another firm or application), `operation-parameter-invalid` (of
 *   other types), `feed-ended` (of other rights)
 */
export function openFollower(
  context: InteractionContext,
  types: readonly string[] | undefined,
  cursor: string,
): FollowerPlace {
  const plain = context.secrets.openText('page-link', cursor.slice(1), bindingOf(context));
  if (plain === undefined) {
    return fail('cursor-invalid', {
      diagnostics:
        'since belongs to another feed or caller, or was altered: follow the next links unchanged, or start again without since',
      expression: ['since'],
    });
  }
  const [after, began, isCopy, sealedTypes, fingerprint]: SealedPlace = JSON.parse(plain.toString());
  if (fingerprint !== context.policy.fingerprint) {
    fail('feed-ended', {
      diagnostics:
        'The rights of the application at the practice have changed since this position in the feed: discard the copy and start again without since',
      expression: ['since'],
    });
  }
  if (JSON.stringify(sealedTypes) !== JSON.stringify(types ?? null)) {
    const told = sealedTypes === null ? 'no _type' : `_type=${sealedTypes.join(',')}`;
    refuseParameter('_type', `differs from that of the feed that since continues, which has ${told}`);
  }
  const [epoch, xid, seq, isVersion] = after;
  return {
    after: { epoch, xid, seq, isVersion },
    began: { epoch: began[0], xid: began[1], seq: 0, isVersion: false },
    isCopy,
  };
}

type SealedPlace = [
  after: [epoch: number, xid: string, seq: number, isVersion: boolean],
  began: [epoch: number, xid: string],
  isCopy: boolean,
  types: readonly string[] | null,
  fingerprint: string,
];

function bindingOf({ scope }: InteractionContext): string {
  return JSON.stringify(['changes', cursorForm, scope.firm, scope.application]);
}
