/**
 * The work for subscriptions beside the requests: changes are looked at as soon as there are any, and what is due is done by any
 * number of processes together. Where no subscription is active the database is asked once in a while whether one is; while
 * changes come it is asked every few milliseconds, by one statement for all firms (docs/decisions/0309).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { buildJsonRequest } from '../../base/worst-case.ts';
import type { Database } from '../../database/database.ts';
import type { DeclaredJob } from '../../jobs/declared-job.ts';
import type { Job, Progress } from '../../jobs/jobs.ts';
import { openKeptConnections } from '../../outbound/kept-connections.ts';
import type { FeatureServices } from '../feature.ts';
import { openRecentRights, type RecentRights } from './acting.ts';
import { admitNext, type Feed, type Feeds, listFeeds, openKnown } from './admission.ts';
import { attend } from './delivery.ts';
import { claimDue, type DueSubscription, leaseMs, renewLeases } from './due.ts';
import { openLaneRoom } from './lanes.ts';
import { askedChannel } from './store.ts';

/** Pauses between two looks: while changes come, and while none do; each look without any makes the pause longer. */
const busyPauseMs = 40;
const idlePauseMs = 400;

/** Firms whose changes are looked at at the same time, and how long a look waits for them, in ms. */
const lookingMax = 4;
const lookMs = 100;

/** Where no subscription is active: until one is asked for, which a notification tells; this is for those that are lost. */
const sleepMs = 5_000;

/** A look is not spared for longer, whatever the numbers of transactions say: a crash of the database may give some again. */
const sparedMaxMs = 5_000;

/**
 * Subscriptions that a process attends to at once: over all, of one firm, of one application, and taken at one look. An application
 * has less than a firm, so that others of the firm have their turn.
 */
const sendingMax = 64;
const shareMax = { firm: 40, application: 12 } as const;
const takenMax = 4;

export const subscriptionsJob: DeclaredJob<FeatureServices> = {
  firmJob: 'subscriptions',
  worstCase: {
    because: 'a subscription whose criteria each change of the type is searched by',
    request: ({ next }) =>
      buildJsonRequest('POST', 'Subscription', {
        resourceType: 'Subscription',
        status: 'requested',
        reason: `Siege ${next()}`,
        criteria: 'Patient?name:contains=a&address:contains=b&birthdate=ge1900-01-01',
        channel: { type: 'rest-hook', endpoint: 'https://subscriber.example.com/siege' },
      }),
  },
  open: openSubscriptionsJob,
};

function openSubscriptionsJob(services: FeatureServices): Job {
  const { database } = services;
  const rights = openRecentRights(services);
  const looking = openLooking(services, rights);
  const sending = openSending(services, rights);
  const asking = openAsking(database);
  let pauseMs = idlePauseMs;
  let running: Promise<Progress> | undefined;

  const run = async (): Promise<Progress> => {
    await asking.begin();
    await sending.renew();
    const looked = await looking.look();
    const taken = await sending.claim();
    const isBusy = looked.hasMoved || looked.isWaiting || taken > 0 || sending.count() > 0;
    pauseMs = isBusy ? busyPauseMs : looked.isAsleep ? sleepMs : Math.min(idlePauseMs, pauseMs * 2);
    if (looked.hasMore) return 'more';
    return looked.isWaiting || taken > 0 || sending.count() > 0 ? 'waiting' : 'done';
  };

  return {
    name: 'subscriptions',
    get pauseMs() {
      return pauseMs;
    },
    woken: asking.wait,
    async run() {
      // One after another: what one has taken up, another would not see.
      while (running !== undefined) await running.catch(() => undefined);
      running = run().finally(() => {
        running = undefined;
      });
      return await running;
    },
    async stop() {
      await sending.stop();
      await looking.stop();
      await asking.stop();
    },
  };
}

interface Looked {
  /** No subscription admits anything. */
  readonly isAsleep: boolean;
  readonly hasMoved: boolean;
  readonly hasMore: boolean;
  /** Changes of some firm are still looked at. */
  readonly isWaiting: boolean;
}

/**
 * Looking at the changes of all firms with subscriptions: of some at the same time, so that a firm whose searches take long holds
 * up no other.
 */
function openLooking(services: FeatureServices, rights: RecentRights) {
  const { database, log } = services;
  const known = openKnown(rights);
  const waiting = new Map<number, Feed>();
  const underWay = new Map<number, Promise<void>>();
  let seen: Omit<Feeds, 'feeds'> | undefined;
  let lookedMs = performance.now();
  let looks = 0;
  let told = { hasMoved: false, hasMore: false };

  const admit = async (feed: Feed): Promise<void> => {
    const look = looks;
    try {
      const progress = await admitNext(services, feed, known);
      if (progress === 'more' || progress === 'raced') told.hasMore = true;
      if (progress !== 'still') told.hasMoved = true;
      // Looks in between passed it over.
      if (look !== looks) seen = undefined;
    } catch (error) {
      seen = undefined;
      log.error({ err: error, firm: feed.firm }, 'changes could not be looked at for subscriptions and will be again');
    }
  };

  const begin = (): void => {
    for (const [firm, feed] of waiting) {
      if (underWay.size >= lookingMax) return;
      waiting.delete(firm);
      const done = admit(feed).finally(() => {
        underWay.delete(firm);
        begin();
      });
      underWay.set(firm, done);
    }
  };

  /** Waits for those under way, and not for long for one of them. */
  const settle = async (): Promise<void> => {
    const ended = new AbortController();
    const over = delay(lookMs, true, { signal: ended.signal }).catch(() => true);
    for (let isOver = false; underWay.size > 0 && !isOver; )
      isOver = await Promise.race([over, ...[...underWay.values()].map((each) => each.then(() => false))]);
    ended.abort();
  };

  return {
    async look(): Promise<Looked> {
      const { feeds, ...now } = await listFeeds(database);
      if (feeds.length === 0) {
        waiting.clear();
        return { isAsleep: true, hasMoved: false, hasMore: false, isWaiting: underWay.size > 0 };
      }
      looks += 1;
      const before = seen;
      seen = now;
      // A subscription that began meanwhile has its place before what comes next, so nothing is missed by not looking.
      const isSpared =
        performance.now() - lookedMs < sparedMaxMs && before?.isSettled === true && before.next === now.next;
      if (!isSpared) {
        lookedMs = performance.now();
        for (const feed of feeds) if (!underWay.has(feed.firm)) waiting.set(feed.firm, feed);
      }
      begin();
      await settle();
      const looked = { ...told, isAsleep: false, isWaiting: waiting.size > 0 || underWay.size > 0 };
      told = { hasMoved: false, hasMore: false };
      if (looked.hasMore) seen = undefined;
      return looked;
    },
    async stop(): Promise<void> {
      waiting.clear();
      await Promise.all(underWay.values());
    },
  };
}

/** Attending to what is due, so much at once that no firm takes the place of others. */
function openSending(services: FeatureServices, rights: RecentRights) {
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
    // Taken again by this process: whoever had it before has lost it.
    underWay.get(key)?.lost.abort();
    const signal = AbortSignal.any([stopping.signal, lost.signal]);
    entry.done = attend(services, due, { rights, signal, connections, room, isLost: () => lost.signal.aborted })
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
        const found = await claimDue(database, { nowMs: clock.now(), limit, ...busy });
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

/** Being told that a subscription was asked for, so that an idle service need not look for one often. */
function openAsking(database: Pick<Database, 'listen'>) {
  let isAsked = false;
  let wake: (() => void) | undefined;
  let listening: Promise<() => Promise<void>> | undefined;
  return {
    async begin(): Promise<void> {
      listening ??= database.listen(askedChannel, () => {
        isAsked = true;
        wake?.();
      });
      try {
        await listening;
      } catch (error) {
        listening = undefined; // the next look tries again
        throw error;
      }
      isAsked = false;
    },
    wait: (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (isAsked) resolve();
        wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    async stop(): Promise<void> {
      await (await listening?.catch(() => undefined))?.();
    },
  };
}
