/**
 * The process of the attackers: `node attacking.ts`, with a channel to the siege. It is one of its own, with the lowest priority:
 * real attackers use other machines, so those who are attacked must not wait for a processor on their account.
 */
import os from 'node:os';
import { learnWorld, listAttacks, prepareAttacks } from '../../packages/server/test/support/worst-cases.ts';
import type { FromAttackers, ToAttackers } from './attackers.ts';
import { openAttackers, openSilentSockets } from './attacks.ts';
import { type Caller, openCaller } from './caller.ts';
import { applicationOf } from './installation.ts';

const lowestPriority = 19;
const silentSockets = 40;
/** Connections of one attacking application. */
const connectionsMax = 64;

/** Those who attack are authorised at maple alone. */
const names = ['Maple only', 'Full access'] as const;

const heard = {
  prepare: Promise.withResolvers<Extract<ToAttackers, { kind: 'prepare' }>>(),
  attack: Promise.withResolvers<void>(),
  stop: Promise.withResolvers<void>(),
};

process.on('message', (message: ToAttackers) => {
  if (message.kind === 'prepare') heard.prepare.resolve(message);
  else heard[message.kind].resolve();
});
process.on('disconnect', () => process.exit(1));

const { sandbox, concurrency } = await heard.prepare.promise;
const attacks = listAttacks();
const callers = names.map((name) => openCaller(sandbox, applicationOf(sandbox, name), 'maple', connectionsMax));
const [first] = callers as [Caller, ...Caller[]];
const world = await learnWorld(first.send);
await prepareAttacks(first.send, attacks);
say({ kind: 'prepared' });
await heard.attack.promise;
os.setPriority(lowestPriority);
const total = concurrency * callers.length;
const attackers = callers.map((caller, at) =>
  openAttackers(caller, world, attacks, { first: at * concurrency, count: concurrency, total }),
);
const silent = openSilentSockets(sandbox.origin, 'GET /docs HTTP/1.1\r\nhost: x\r\n\r\n', silentSockets);
await heard.stop.promise;
silent.stop();
const struck = (await Promise.all(attackers.map((each) => each.stop()))).flat();
for (const caller of callers) caller.close();
process.send?.({ kind: 'struck', struck } satisfies FromAttackers, () => process.exit(0));

function say(message: FromAttackers): void {
  process.send?.(message);
}
