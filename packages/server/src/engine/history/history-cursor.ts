/**
 * Where the next page of a history begins, as a text in its link: sealed, and bound to firm, application, access policy and
 * what was asked for, like the cursors of searches (search/sql/cursor.ts).
 */
import { fail } from '../../base/errors.ts';
import type { HistoryPeriod, HistoryPosition } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';

/** What the history is of: a type, or '' for the whole firm. */
export interface HistoryAsked {
  readonly type: string;
  readonly period: HistoryPeriod;
}

const cursorPattern = /^[A-Za-z0-9_-]+$/;

/** Longest cursor that is looked at: a snapshot names the transactions that were open, some 20 bytes each. */
const cursorLengthMax = 12_000;

/** The sealed position, in characters that need no percent-encoding. */
export function sealPosition(context: InteractionContext, asked: HistoryAsked, position: HistoryPosition): string {
  const { lastUpdatedMs, seq, moment } = position;
  const plain = JSON.stringify([lastUpdatedMs, seq, moment.epoch, moment.snapshot, moment.own]);
  return context.secrets.sealText('page-link', Buffer.from(plain), bindingOf(context, asked));
}

/**
 * What was sealed.
 * @throws PraxisError `cursor-invalid`: altered, or made for another caller, firm, policy or history
 */
export function openPosition(context: InteractionContext, asked: HistoryAsked, cursor: string): HistoryPosition {
  const isCursor = cursor.length <= cursorLengthMax && cursorPattern.test(cursor);
  const plain = isCursor ? context.secrets.openText('page-link', cursor, bindingOf(context, asked)) : undefined;
  if (plain === undefined) {
    return fail('cursor-invalid', {
      diagnostics:
        '_cursor belongs to another history or caller, or was altered: follow next links as they are, or begin again without it',
      expression: ['_cursor'],
    });
  }
  const [lastUpdatedMs, seq, epoch, snapshot, own]: [number, number, number, string, string | null] = JSON.parse(
    plain.toString(),
  );
  return { lastUpdatedMs, seq, moment: { epoch, snapshot, own } };
}

function bindingOf({ scope, policy }: InteractionContext, { type, period }: HistoryAsked): string {
  const times = [period.sinceMs, period.beforeMs, period.currentAfterMs]; // absent: null, as JSON has no other word
  return JSON.stringify(['history', scope.firm, scope.application, policy.fingerprint, type, ...times]);
}
