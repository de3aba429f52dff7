/**
 * What one process attends to at once: it takes what is due, holds it while it works, and gives it back. What it has just admitted it
 * takes with that, and tells at once, where nobody else waits for the place (docs/decisions/0332).
 */
import { openKeptConnections } from '../../../outbound/kept-connections.ts';
import type { FeatureServices } from '../../feature.ts';
import type { RecentRights } from '../acting.ts';
import type { Admitted } from '../admitting/keeping.ts';
import type { Bindings } from '../sockets/bindings.ts';
import { attend, type Sender } from './delivery.ts';
import { claimDue, type DueSubscription, leaseMs, renewLeases } from './due.ts';
import { openLaneRoom } from './lanes.ts';
import { type Acceptances, openAcceptances } from './noting.ts';

/**
 * Subscriptions that a process attends to at once: over all, of one firm, of one application, and taken at one look. An application
 * has less than a firm, so that others of the firm have their turn.
 */
const sendingMax = 64;
const shareMax = { firm: 40, application: 12 } as const;
const takenMax = 4;

/** Of one page of changes, subscriptions that are told at once. */
const admittedMax = 8;

/** While changes come and all that was admitted is told at once: what else is due is looked for so often, in ms. */
const claimPauseMs = 400;

/** Whose a place is. */
type Place = Pick<DueSubscription, 'firm' | 'application'>;

/** Places for what is about to be admitted. */
interface Reserved {
  /** Tells what was taken, and gives the places back that are left. */
  begin(taken: readonly Admitted[]): void;
}

/** What one process attends to. */
export interface Attending {
  /** Subscriptions that it attends to, and places that are reserved. */
  count(): number;
  /** Whether all that may be due has to be looked for, beside what is told as soon as it is admitted. */
  isClaimDue(): boolean;
  /** Takes what is due. @returns how many */
  claim(): Promise<number>;
  /**
   * Places to tell at once what is about to be admitted, one for each of the applications; undefined: there is no room, or others wait
   * for it.
   */
  reserve(feed: Omit<DueSubscription, 'id' | 'application'>, applications: readonly number[]): Reserved | undefined;
  /** What was accepted, and is not noted yet. */
  readonly noting: Acceptances;
  /** Something was admitted for these and not taken. */
  leave(firm: number, ids: readonly string[]): void;
  /** Holds for longer what it attends to. */
  renew(): Promise<void>;
  /** Ends what is under way; what is reserved has ended or ends at once. */
  stop(): Promise<void>;
}

/**
 * Attending to what is due, so much at once that no firm takes the place of others.
 * @param bindings only what sockets of this process are bound to; absent: what no process has a socket for
 */
export function openSending(services: FeatureServices, rights: RecentRights, bindings?: Bindings): Attending {
  const { database, clock } = services;
  const stopping = new AbortController();
  const connections = openKeptConnections();
  const noting = openAcceptances(database);
  let claimedMs = 0;
  /** Nothing is due that was not taken, and nobody waits for a share. */
  let isDrained = false;
  /** How often something may have become due that nobody has taken. */
  let becameDue = 0;
  const expectDue = (): void => {
    isDrained = false;
    becameDue += 1;
  };
  const sender = { rights, connections, room: openLaneRoom(), bindings, noting };
  const work = openWork(services, sender, stopping.signal, expectDue);
  // What is merely to be noted takes no place.
  const places = openPlaces(() => work.list().filter(({ firm, id }) => !noting.has(firm, id)));

  return {
    count: () => work.list().length + places.reserved(),
    noting,
    isClaimDue: () => !isDrained || performance.now() - claimedMs >= claimPauseMs,
    reserve({ firm, environment, prefix }, applications) {
      if (!isDrained || stopping.signal.aborted) return undefined;
      const giveBack = places.reserve(applications.map((application) => ({ firm, application })));
      if (giveBack === undefined) return undefined;
      return {
        begin(taken) {
          giveBack();
          for (const admitted of taken) {
            const { id, application } = admitted.state;
            work.begin({ firm, environment, prefix, id, application }, admitted);
          }
        },
      };
    },
    leave(firm, ids) {
      // Of what this process is telling already it sees by itself that there is more.
      if (ids.some((id) => !work.has(firm, id))) expectDue();
    },
    async claim() {
      claimedMs = performance.now();
      // A few at once until there are no more, so that shares are kept to in between.
      for (let taken = 0; ; ) {
        const limit = Math.min(sendingMax - places.list().length, takenMax);
        const before = becameDue;
        isDrained = false;
        if (limit <= 0 || stopping.signal.aborted) return taken;
        const busy = { busyFirms: places.listBusy('firm'), busyApplications: places.listBusy('application') };
        const found = await claimDue(database, { nowMs: clock.now(), limit, ...busy, holder: bindings?.holder });
        for (const due of found) work.begin(due);
        taken += found.length;
        if (found.length < limit) {
          isDrained = becameDue === before && busy.busyFirms.length === 0 && busy.busyApplications.length === 0;
          return taken;
        }
      }
    },
    renew: () => work.renew(),
    async stop() {
      stopping.abort();
      await noting.flush('all');
      await work.end();
      connections.close();
    },
  };
}

/** Who has which places, and for whom some are kept. @param listSent those that are taken */
function openPlaces(listSent: () => readonly Place[]) {
  const reserved = new Set<Place>();
  const list = (): readonly Place[] => [...listSent(), ...reserved];
  /** Those that have their share already, or so much more. */
  const listBusy = (of: 'firm' | 'application', more = 0): readonly number[] => {
    const counts = new Map<number, number>();
    for (const place of list()) counts.set(place[of], (counts.get(place[of]) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= shareMax[of] + more).map(([number]) => number);
  };
  return {
    list,
    listBusy,
    reserved: () => reserved.size,
    /** Keeps places. @returns gives them back; undefined: that would be more than there are, or more than a share */
    reserve(places: readonly Place[]): (() => void) | undefined {
      if (places.length > admittedMax) return undefined;
      const giveBack = (): void => {
        for (const place of places) reserved.delete(place);
      };
      for (const place of places) reserved.add(place);
      const isBeyond = listBusy('firm', 1).length > 0 || listBusy('application', 1).length > 0;
      if (!isBeyond && list().length <= sendingMax) return giveBack;
      giveBack();
      return undefined;
    },
  };
}

/**
 * What is under way.
 * @param expectDue called when something may be due at once for one that was attended to
 */
function openWork(
  services: FeatureServices,
  sender: Omit<Sender, 'signal' | 'isLost'>,
  stopped: AbortSignal,
  expectDue: () => void,
) {
  const { database, clock, log } = services;
  const underWay = new Map<
    string,
    { readonly due: DueSubscription; readonly lost: AbortController; done: Promise<void> }
  >();
  let renewedMs = performance.now();
  return {
    list: () => [...underWay.values()].map(({ due }) => due),
    has: (firm: number, id: string) => underWay.has(keyOf({ firm, id })),
    begin(due: DueSubscription, admitted?: Admitted): void {
      const key = keyOf(due);
      const lost = new AbortController();
      const entry = { due, lost, done: Promise.resolve() };
      // Taken again by this process: whoever had it before has lost it, and ends before it is sent twice at once.
      const before = underWay.get(key);
      before?.lost.abort();
      const signal = AbortSignal.any([stopped, lost.signal]);
      const isLost = (): boolean => lost.signal.aborted;
      entry.done = (before?.done ?? Promise.resolve())
        .then(() => attend(services, due, { ...sender, signal, isLost }, admitted))
        .then((isDone) => {
          if (!isDone) expectDue();
        })
        .catch((error: unknown) => log.error({ err: error, firm: due.firm }, 'a subscription could not be attended to'))
        .finally(() => {
          if (underWay.get(key) === entry) underWay.delete(key);
        });
      underWay.set(key, entry);
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
    /** Waits for all that is under way. */
    async end(): Promise<void> {
      await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}

function keyOf({ firm, id }: Pick<DueSubscription, 'firm' | 'id'>): string {
  return `${firm} ${id}`;
}
