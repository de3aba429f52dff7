/**
 * One firm on two nodes, each `praxis serve` as a process of its own, for tests that ask both at once and kill one of them
 * by kill -9.
 */
import type { Random } from '../../src/synthetic/random.ts';
import { keepCalendar, put, putPlaces } from '../practice/calendars/world.ts';
import type { Lifetime } from '../support/database.ts';
import { type Node, startNode } from '../support/nodes.ts';
import {
  type Caller,
  callerOf,
  clientToken,
  makeApplication,
  makeFirm,
  openTestService,
  type TestFirm,
  type TestService,
} from '../support/service.ts';

const dayMs = 86_400_000;

/** A node, and one who asks it with every right. Both are others once the node was killed and replaced. */
export interface Place {
  node: Node;
  caller: Caller;
}

export interface TwoNodes {
  /** Shares the database with the nodes. */
  readonly service: TestService;
  readonly firm: TestFirm;
  /** Of its only calendar: Practitioner/12 at Location/3, VISIT, 30 minutes; there is Patient/p. */
  readonly calendar: number;
  /** Midnight in UTC, the firm's zone, after today. */
  readonly firstDayMs: number;
  readonly places: readonly [Place, Place];
  /** A place chosen by chance. */
  anyPlace(): Place;
  /** The place gets a node that lives in the stead of one that was killed. */
  replace(place: Place): Promise<void>;
  /** New tokens for both: they live for 15 minutes. */
  renew(): Promise<void>;
}

/**
 * Starts both nodes.
 * @param times when the practitioner is there, every day, and for how many at once
 * @param random chooses places
 */
export async function openTwoNodes(
  lifetime: Lifetime,
  times: { readonly from: string; readonly to: string; readonly capacity: number },
  random: Random,
): Promise<TwoNodes> {
  const secretKey = Buffer.alloc(32, 7).toString('base64url');
  const service = await openTestService(lifetime, { PRAXIS_SECRET_KEY: secretKey });
  const firm = await makeFirm(service, 'maple', 'sandbox', 'UTC');
  const application = await makeApplication(service, 'Everything', ['acl/*'], [firm]);
  const here = callerOf(firm, await clientToken(service, application), application.clientKey);
  await putPlaces(here, ['12'], ['3']);
  await put(here, { resourceType: 'Patient', id: 'p' });
  const { number } = await keepCalendar(service.platform, firm, {
    practitioner: '12',
    location: '3',
    appointmentTypes: [{ code: 'VISIT', minutes: 30 }],
    weekly: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], ...times }],
  });
  await service.service.jobs.settle();

  /** By a token of the node's own: it lives by the real clock. */
  const callerAt = async ({ origin }: Node): Promise<Caller> => {
    const token = await clientToken({ ...service, origin }, application);
    return callerOf({ base: firm.base.replace(service.origin, origin) }, token, application.clientKey);
  };
  const open = async (): Promise<Place> => {
    const node = await startNode(service.database, secretKey);
    return { node, caller: await callerAt(node) };
  };
  const places = [await open(), await open()] as const;
  lifetime.after(async () => {
    await Promise.all(places.map(({ node }) => node.stop()));
  });
  return {
    service,
    firm,
    calendar: number,
    // The nodes live by the real clock.
    firstDayMs: Math.ceil(Date.now() / dayMs) * dayMs + dayMs,
    places,
    anyPlace: () => random.pick(places),
    async replace(place) {
      place.node = await startNode(service.database, secretKey);
      place.caller = await callerAt(place.node);
    },
    async renew() {
      for (const place of places) place.caller = await callerAt(place.node);
    },
  };
}
