/**
 * The sockets of one process, and which subscriptions they are bound to
 * (https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/channels.html#websockets). A subscription has one socket at a time: the
 * last that was bound. Who binds proves that by a token, which is good once.
 */
import type { Clock } from '../../../base/clock.ts';
import { makeUuid } from '../../../base/ids.ts';
import type { Secrets } from '../../../base/secrets.ts';
import type { Database } from '../../../database/database.ts';
import { findFirm } from '../../../tenancy/firms.ts';
import {
  type Held,
  type HeldChange,
  heldMs,
  listHeldChanges,
  makeDueNow,
  readTokenEpoch,
  releaseBindings,
  renewBindings,
  type TokenRights,
  takeBindings,
  takeToken,
} from './binding-store.ts';

/** Sockets of one application that a process serves at once. */
export const socketsOfApplicationMax = 50;

/** Subscriptions of one socket. */
export const subscriptionsOfSocketMax = 100;

/** How a socket ends (https://www.rfc-editor.org/rfc/rfc6455#section-7.4.2: those from 4000 are the application's own). */
export const closeCodes = {
  tokenRefused: 4401,
  rightsEnded: 4403,
  notTaken: 4408,
  boundElsewhere: 4409,
  subscriptionEnded: 4410,
  tooMany: 4429,
} as const;

/** The connection of a client. */
export interface EventSocket {
  /** Sends `text`, where it is not empty, and a ping behind it. False: the client did not answer the ping in time, or is gone. */
  deliver(text: string, timeoutMs: number): Promise<boolean>;
  /** Nothing more is sent. */
  close(code: number, reason: string): void;
}

/** A subscription that a socket of this process is bound to. */
export interface Binding extends Held {
  epoch: number;
  readonly socket: EventSocket;
  /** The client was sent a handshake since it was bound. */
  isGreeted: boolean;
}

/** Why a socket was not bound. */
export interface BindRefusal {
  readonly code: number;
  readonly reason: string;
}

/** Where a socket was opened: the firm of its URL. */
export interface SocketPlace {
  readonly environment: string;
  readonly firm: string;
}

export interface Bindings {
  /** The name of this process in the database. */
  readonly holder: string;
  /** Binds the socket to what the token is good for. The token is good for nothing after that, whatever comes of it. */
  bind(socket: EventSocket, place: SocketPlace, token: string): Promise<BindRefusal | Pick<Held, 'apiKey' | 'firm'>>;
  /** The socket has ended. */
  leave(socket: EventSocket): Promise<void>;
  find(firm: number, id: string): Binding | undefined;
  /** Subscriptions that are bound. */
  count(): number;
  /** Closes the sockets whose subscriptions have ended, are bound elsewhere, or whose rights ended; holds the others for longer. */
  look(): Promise<void>;
  /** `wake` is called when a socket was bound. */
  onBound(wake: () => void): void;
  /** Lets go of all. */
  close(): Promise<void>;
}

const refusedToken: BindRefusal = {
  code: closeCodes.tokenRefused,
  reason: 'the token is wrong, used, expired or of another practice: ask $get-ws-binding-token for one',
};

export interface BindingsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, 'hash' | 'matches'>;
}

/** The sockets of this process. */
export function openBindings({ database, clock, secrets }: BindingsOptions): Bindings {
  const holder = makeUuid();
  const bound = new Map<string, Binding>();
  let wake = (): void => undefined;
  let renewedMs = Number.NEGATIVE_INFINITY;

  /** What is not committed yet is not held: it may be sent to as soon as it is found here. */
  const keep = (bindings: readonly Binding[]): void => {
    const replaced = bindings.flatMap((binding) => bound.get(keyOf(binding.firm, binding.id)) ?? []);
    // All of them first: a socket that ends lets go of what it still has.
    for (const binding of bindings) bound.set(keyOf(binding.firm, binding.id), binding);
    const others = new Map(replaced.map((each) => [each.socket, each]));
    for (const each of others.values()) if (each.socket !== bindings[0]?.socket) endElsewhere(each);
  };

  const leave = async (socket: EventSocket): Promise<void> => {
    const left = listBindings(bound, socket);
    for (const { firm, id } of left) bound.delete(keyOf(firm, id));
    if (left.length > 0) await releaseBindings(database, holder, left, clock.now());
  };

  /** What is no longer as it was: the socket is closed, or the rights are looked at anew. */
  const heed = async (change: HeldChange, nowMs: number): Promise<void> => {
    const binding = bound.get(keyOf(change.firm, change.id));
    if (binding === undefined) return;
    const { socket, firm, id, application } = binding;
    if (change.isEnded) return endBound(binding);
    if (change.isElsewhere) return endElsewhere(binding);
    if (change.isRevoked || change.epoch === null)
      return socket.close(closeCodes.rightsEnded, 'the API key or access token that asked for the binding has ended');
    if (change.isLapsed) {
      const own = { firm, application, holder };
      const taken = await database.transaction(firm, (tx) => takeBindings(tx, own, [id], nowMs));
      if (taken.length === 0) return endBound(binding);
      // Its socket has ended meanwhile.
      if (!bound.has(keyOf(firm, id))) await releaseBindings(database, holder, [binding], nowMs);
    }
    // Whether the rights of its run are still the same is asked before anything is sent, and now.
    if (change.epoch !== binding.epoch) await makeDueNow(database, binding, nowMs);
    binding.epoch = change.epoch;
  };

  const bind: Bindings['bind'] = async (socket, { environment, firm: prefix }, token) => {
    const firm = await findFirm(database, environment, prefix);
    if (firm === undefined) return refusedToken;
    const nowMs = clock.now();
    const outcome = await database.transaction(firm.id, async (tx) => {
      const kept = await takeToken(tx, firm.id, secrets.hash('websocket-token', token));
      // The index has compared digests; this does it in constant time.
      if (kept === undefined || !secrets.matches('websocket-token', token, kept.hash)) return refusedToken;
      const excess = findExcess(bound, socket, kept);
      if (kept.expiresMs <= nowMs || excess !== undefined) return excess ?? refusedToken;
      const epoch = await readTokenEpoch(tx, firm.id, kept);
      if (epoch === undefined) return refusedToken;
      const { application, apiKey, accessToken } = kept;
      const ids = await takeBindings(tx, { firm: firm.id, application, holder }, kept.subscriptions, nowMs);
      return ids.length === 0 ? nothingLeft : { application, apiKey, accessToken, epoch, ids };
    });
    if ('code' in outcome) return outcome;
    const { ids, ...rights } = outcome;
    keep(ids.map((id) => ({ ...rights, firm: firm.id, id, socket, isGreeted: false })));
    wake();
    return { apiKey: rights.apiKey, firm: firm.id };
  };

  return {
    holder,
    bind,
    leave,
    find: (firm, id) => bound.get(keyOf(firm, id)),
    count: () => bound.size,
    async look() {
      const nowMs = clock.now();
      const held = [...bound.values()];
      if (held.length === 0) return;
      for (const change of await listHeldChanges(database, holder, held, nowMs)) await heed(change, nowMs);
      // A process that looked at it before it was bound may have said since that there is nothing to do.
      for (const binding of bound.values()) if (!binding.isGreeted) await makeDueNow(database, binding, nowMs);
      if (performance.now() - renewedMs < heldMs / 3) return;
      renewedMs = performance.now();
      await renewBindings(database, holder, [...bound.values()], clock.now());
    },
    onBound(handler) {
      wake = handler;
    },
    async close() {
      const left = [...bound.values()];
      bound.clear();
      if (left.length > 0) await releaseBindings(database, holder, left, clock.now());
    },
  };
}

function endElsewhere({ socket, id }: Binding): void {
  socket.close(closeCodes.boundElsewhere, `Subscription/${id} is bound by another connection`);
}

function endBound({ socket, id }: Binding): void {
  socket.close(closeCodes.subscriptionEnded, `Subscription/${id} has ended: read its status`);
}

/** By firm and id. */
type Bound = ReadonlyMap<string, Binding>;

function listBindings(bound: Bound, socket: EventSocket): readonly Binding[] {
  return [...bound.values()].filter((each) => each.socket === socket);
}

function countSockets(bound: Bound, application: number): number {
  const its = [...bound.values()].filter((each) => each.application === application);
  return new Set(its.map(({ socket }) => socket)).size;
}

/** Whether the socket may have these subscriptions beside its own. */
function findExcess(
  bound: Bound,
  socket: EventSocket,
  { application, subscriptions }: TokenRights,
): BindRefusal | undefined {
  const mine = listBindings(bound, socket);
  if (mine.some((each) => each.application !== application)) return refusedToken;
  if (mine.length === 0 && countSockets(bound, application) >= socketsOfApplicationMax) return tooManySockets;
  const names = new Set([...mine.map(({ id }) => id), ...subscriptions]);
  return names.size > subscriptionsOfSocketMax ? tooManySubscriptions : undefined;
}

const tooManySockets: BindRefusal = {
  code: closeCodes.tooMany,
  reason: `the application has ${socketsOfApplicationMax} connections: bind more subscriptions by one`,
};

const tooManySubscriptions: BindRefusal = {
  code: closeCodes.tooMany,
  reason: `a connection has ${subscriptionsOfSocketMax} subscriptions at most`,
};

const nothingLeft: BindRefusal = {
  code: closeCodes.subscriptionEnded,
  reason: 'the subscriptions of the token have ended: read their status',
};

function keyOf(firm: number, id: string): string {
  return `${firm} ${id}`;
}
