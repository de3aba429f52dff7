/** Statements that are given to a connection before the event loop turns, and how they become one write. */

import type { Sql } from '../sql.ts';
import type { Settle } from './pipelined-query.ts';

/** Value of `praxis.firm`: the firm's number, or '' for none (tenant tables then show nothing). */
export type FirmValue = string;

export interface Queued {
  readonly firm: FirmValue;
  readonly statement: Sql;
  readonly settle: Settle;
  /** It may be part of a batch (multi-tenant-batch.ts). */
  readonly mayShare: boolean;
  /** Instead of the session's statement timeout; then it is sent alone. */
  readonly timeoutMs: number | undefined;
}

/** Those of each firm together, that of `first` before all others; else in the order given. */
export function groupByFirm(queue: readonly Queued[], first: FirmValue | undefined): readonly Queued[] {
  const groups = new Map<FirmValue | undefined, Queued[]>([[first, []]]);
  for (const queued of queue) {
    const group = groups.get(queued.firm);
    if (group === undefined) groups.set(queued.firm, [queued]);
    else group.push(queued);
  }
  return [...groups.values()].flat();
}
