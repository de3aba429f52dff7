/** What one process attends to at once: it takes what is due, holds it while it works, and gives it back. */
import { openKeptConnections } from '../../outbound/kept-connections.ts';
import type { FeatureServices } from '../feature.ts';
import type { RecentRights } from './acting.ts';
import { attend } from './delivery.ts';
import { claimDue, type DueSubscription, leaseMs, renewLeases } from './due.ts';
import { openLaneRoom } from './lanes.ts';
import type { Bindings } from './sockets/bindings.ts';

/**
 * Subscriptions that a process attends to at once: over all, of one firm, of one application, and taken at one look. An application
 * has less than a firm, so that others of the firm have their turn.
 */
const sendingMax = 64;
const shareMax = { firm: 40, application: 12 } as const;
const takenMax = 4;

/**
 * Attending to what is due, so much at once that no firm takes the place of others.
 * @param bindings only what sockets of this process are bound to; absent: what no process has a socket for
 */
export function openSending(services: FeatureServices, rights: RecentRights, bindings?: Bindings) {
  const { database, clock, log } = services;
  const stopping = new AbortController();
  const connections = openKeptConnections();
  const room = openLaneRoom();
  const underWay = new Map<
    string,
    { readonly due: DueSubscription; readonly lost: AbortController; done: Promise<void> }
  >();
  let renewedMs = performance.now();

  const begin = (due: DueSubscription): void => {
    const key = keyOf(due);
    const lost = new AbortController();
    const entry = { due, lost, done: Promise.resolve() };
    // Taken again by this process: whoever had it before has lost it, and ends before it is sent twice at once.
    const before = underWay.get(key);
    before?.lost.abort();
    const signal = AbortSignal.any([stopping.signal, lost.signal]);
    const isLost = (): boolean => lost.signal.aborted;
    entry.done = (before?.done ?? Promise.resolve())
      .then(() => attend(services, due, { rights, signal, connections, room, bindings, isLost }))
      .catch((error: unknown) => log.error({ err: error, firm: due.firm }, 'a subscription could not be attended to'))
      .finally(() => {
        if (underWay.get(key) === entry) underWay.delete(key);
      });
    underWay.set(key, entry);
  };

  /** Those that have their share already. */
  const listBusy = (of: 'firm' | 'application'): readonly number[] => {
    const counts = new Map<number, number>();
    for (const { due } of underWay.values()) counts.set(due[of], (counts.get(due[of]) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= shareMax[of]).map(([number]) => number);
  };

  return {
    count: () => underWay.size,
    /** How many were taken: a few at once until there are no more, so that shares are kept to in between. */
    async claim(): Promise<number> {
      for (let taken = 0; ; ) {
        const limit = Math.min(sendingMax - underWay.size, takenMax);
        if (limit <= 0 || stopping.signal.aborted) return taken;
        const busy = { busyFirms: listBusy('firm'), busyApplications: listBusy('application') };
        const found = await claimDue(database, { nowMs: clock.now(), limit, ...busy, holder: bindings?.holder });
        for (const due of found) begin(due);
        taken += found.length;
        if (found.length < limit) return taken;
      }
    },
    async renew(): Promise<void> {
      if (performance.now() - renewedMs < leaseMs / 3) return;
      renewedMs = performance.now();
      const held = [...underWay.values()];
      const renewed = await renewLeases(
        database,
        held.map(({ due }) => due),
        clock.now(),
      );
      const kept = new Set(renewed.map(keyOf));
      // What was not renewed in time another process may have taken: it is for that one to go on.
      for (const { due, lost } of held) if (!kept.has(keyOf(due))) lost.abort();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([...underWay.values()].map(({ done }) => done));
      connections.close();
    },
  };
}

function keyOf({ firm, id }: Pick<DueSubscription, 'firm' | 'id'>): string {
  return `${firm} ${id}`;
}
