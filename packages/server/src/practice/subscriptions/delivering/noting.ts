/**
 * What endpoints have accepted, on its way to the database: it goes with the next events of the firm that are admitted, or by itself
 * after the next look. Until then the process holds the subscription, and whoever takes it after the process has died tells the same
 * again (docs/decisions/0332).
 */
import type { Database } from '../../../database/database.ts';
import { type Accepted, type Noted, noteDelivered } from './attempts.ts';

/** On its way. */
export interface Acceptance {
  readonly firm: number;
  readonly accepted: Accepted;
  /** Whether the process still holds the subscription. */
  readonly isHeld: () => boolean;
  /** Number of the look that it came in or after. */
  readonly look: number;
  /** Somebody else's statement has noted it; undefined: as of `noteDelivered`. */
  settle(noted: Noted | undefined): void;
  /** It is to be noted by itself. */
  noteAlone(): Promise<void>;
}

/** What no look has noted until then is noted by itself, well before its lease is over, in ms. */
const waitingMaxMs = 1_000;

/** Of one process. */
export interface Acceptances {
  /** Resolves when it is noted, as `noteDelivered`. */
  note(firm: number, accepted: Accepted, isHeld: () => boolean): Promise<Noted | undefined>;
  /** Whether something of this subscription is on its way. */
  has(firm: number, id: string): boolean;
  /** A look begins. */
  beginLook(): void;
  /** Those of a firm, for a statement that notes them; whoever takes them settles each, or has it noted alone. */
  take(firm: number): readonly Acceptance[];
  /** Notes those by themselves that came before this look, or all. */
  flush(which: 'old' | 'all'): Promise<void>;
}

/** Nothing is on its way. */
export function openAcceptances(database: Database): Acceptances {
  const waiting = new Map<string, Acceptance>();
  let look = 0;
  /** False: somebody else has taken it. */
  const remove = (each: Acceptance): boolean =>
    waiting.get(keyOf(each.firm, each.accepted.id)) === each && waiting.delete(keyOf(each.firm, each.accepted.id));
  let isEnding = false;

  return {
    async note(firm, accepted, isHeld) {
      const { promise, resolve, reject } = Promise.withResolvers<Noted | undefined>();
      const noteAlone = (): Promise<void> =>
        noteDelivered(database, firm, accepted, { ...accepted, mayGiveBack: isHeld() }, accepted.attempt).then(
          resolve,
          reject,
        );
      if (isEnding) await noteAlone();
      else {
        const each = { firm, accepted, isHeld, look, settle: resolve, noteAlone };
        waiting.set(keyOf(firm, accepted.id), each);
        // Where no more looks come, nobody else would note it.
        const timer = setTimeout(() => remove(each) && void noteAlone(), waitingMaxMs).unref();
        promise.finally(() => clearTimeout(timer)).catch(() => undefined);
      }
      return await promise;
    },
    has: (firm, id) => waiting.has(keyOf(firm, id)),
    beginLook() {
      look += 1;
    },
    take(firm) {
      const taken = [...waiting.values()].filter((each) => each.firm === firm && each.isHeld());
      for (const { accepted } of taken) waiting.delete(keyOf(firm, accepted.id));
      return taken;
    },
    async flush(which) {
      if (which === 'all') isEnding = true;
      const left = [...waiting].filter(([, each]) => which === 'all' || each.look < look);
      for (const [key] of left) waiting.delete(key);
      await Promise.all(left.map(([, each]) => each.noteAlone()));
    },
  };
}

function keyOf(firm: number, id: string): string {
  return `${firm} ${id}`;
}
