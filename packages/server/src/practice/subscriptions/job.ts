/**
 * The work for subscriptions beside the requests: changes are looked at as soon as there are any, and what is due is done by any
 * number of processes together. Where no subscription is active the database is asked once in a while whether one is; while
 * changes come it is asked every few milliseconds, by one statement for all firms (docs/decisions/0309).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { buildJsonRequest } from '../../base/worst-case.ts';
import type { DeclaredJob } from '../../jobs/declared-job.ts';
import type { Job, Progress } from '../../jobs/jobs.ts';
import type { FeatureServices } from '../feature.ts';
import { openRecentRights, type RecentRights } from './acting.ts';
import { admitNext, type Feed, type Feeds, listFeeds, openKnown } from './admitting/admission.ts';
import { openAsking } from './asking.ts';
import { type Attending, openSending } from './delivering/sending.ts';
import { askedChannel } from './store.ts';

/**
 * While changes come, looks begin so long after each other, with so long a pause at least. A look costs the same for one change and for
 * many: so seldom that half of the events still come within 50 ms (docs/decisions/0332).
 */
const busyPeriodMs = 70;
const busyPauseMinMs = 20;

/** The pause while no changes come; each look without any makes it longer. */
const idlePauseMs = 400;

/** Firms whose changes are looked at at the same time, and how long a look waits for them, or for what is noted, in ms. */
const lookingMax = 4;
const lookMs = 100;

/** Where no subscription is active: until one is asked for, which a notification tells; this is for those that are lost. */
const sleepMs = 5_000;

/** A look is not spared for longer, whatever the numbers of transactions say: a crash of the database may give some again. */
const sparedMaxMs = 5_000;

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
  const sending = openSending(services, rights);
  const looking = openLooking(services, rights, sending);
  const asking = openAsking(database, askedChannel);
  let pauseMs = idlePauseMs;
  let running: Promise<Progress> | undefined;

  const run = async (): Promise<Progress> => {
    const begunMs = performance.now();
    const isAsked = await asking.begin();
    await sending.renew();
    sending.noting.beginLook();
    const looked = await looking.look();
    await waitBriefly(sending.noting.flush('old'));
    // What was admitted is told already as a rule: then a later look asks what else is due.
    const isClaimed = isAsked || !looked.hasMoved || sending.isClaimDue();
    const taken = isClaimed ? await sending.claim() : 0;
    const isBusy = looked.hasMoved || looked.isWaiting || taken > 0 || sending.count() > 0;
    const busyPauseMs = Math.max(busyPauseMinMs, busyPeriodMs - (performance.now() - begunMs));
    pauseMs = isBusy ? busyPauseMs : looked.isAsleep ? sleepMs : Math.min(idlePauseMs, pauseMs * 2);
    if (looked.hasMore) return 'more';
    return !isClaimed || looked.isWaiting || taken > 0 || sending.count() > 0 ? 'waiting' : 'done';
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
      await Promise.all([sending.stop(), looking.stop()]);
      // What was admitted meanwhile is given back.
      await sending.stop();
      await asking.stop();
    },
  };
}

/** Waits for what goes on by itself, and not for long: a row that somebody holds stops nothing else. */
async function waitBriefly(done: Promise<void>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([done, delay(lookMs, undefined, { signal: ended.signal }).catch(() => undefined)]);
  ended.abort();
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
function openLooking(services: FeatureServices, rights: RecentRights, sending: Attending) {
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
      const progress = await admitNext(services, feed, known, sending);
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
