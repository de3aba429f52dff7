/** What attackers send: every worst case that the service's own lists name, and what only a socket can do. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorstCaseWorld } from '../../packages/server/src/base/worst-case.ts';
import type { Attack } from '../../packages/server/test/support/worst-cases.ts';
import type { Caller } from './caller.ts';

/** What became of one attack. */
export interface Struck {
  readonly name: string;
  readonly status: number;
  readonly ms: number;
  readonly said: string;
}

/** Attackers of one application, who are some of `total`. */
export interface Attacking {
  /** Number of the first of them. */
  readonly first: number;
  readonly count: number;
  readonly total: number;
}

/** Who is told to wait waits so long, in ms: attackers lose no time by waiting for their minute to end. */
const refusedPauseMs = 200;

/**
 * Attackers who send one attack after another. Each begins elsewhere in the list, so that all of it is sent soon.
 * @returns `stop` resolves with all that was struck
 */
export function openAttackers(
  caller: Caller,
  world: WorstCaseWorld,
  attacks: readonly Attack[],
  { first, count, total }: Attacking,
): { stop(): Promise<readonly Struck[]> } {
  const struck: Struck[] = [];
  let isOpen = true;
  const attack = async (attacker: number): Promise<void> => {
    for (let number = Math.floor((attacker * attacks.length) / total); isOpen; number++) {
      const chosen = attacks[number % attacks.length];
      if (chosen === undefined) return;
      const { status, ms, body } = await caller.send(chosen.worstCase.request(world));
      struck.push({ name: chosen.name, status, ms, said: status >= 400 ? body.slice(0, 200) : '' });
      if (status === 429 || status === 0) await delay(refusedPauseMs);
    }
  };
  const attacking = Array.from({ length: count }, (_, number) => attack(first + number));
  return {
    async stop() {
      isOpen = false;
      await Promise.all(attacking);
      return struck;
    },
  };
}

/** Connections that send next to nothing, or read nothing of what they asked for, until `stop`. */
export function openSilentSockets(origin: string, request: string, count: number): { stop(): void } {
  const port = Number(new URL(origin).port);
  let isOpen = true;
  const sockets = new Set<ReturnType<typeof connect>>();
  const open = (number: number): void => {
    if (!isOpen) return;
    const socket = connect(port, '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (isOpen) setTimeout(() => open(number), 1_000).unref();
    });
    // Half of them ask and never read, half of them never end what they ask.
    if (number % 2 === 0) {
      socket.pause();
      socket.write(request.repeat(3));
    } else socket.write(request.slice(0, -2));
  };
  for (let number = 0; number < count; number++) open(number);
  return {
    stop() {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
  };
}
