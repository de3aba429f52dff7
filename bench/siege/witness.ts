/**
 * A second application of the practice, which writes through all faults and keeps account of what it was promised: versions, creates
 * with a key, bookings, cancellations and revocations. What was not answered may have taken effect, once.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  buildGetRequest,
  buildJsonRequest,
  buildOperationRequest,
  type WorstRequest,
} from '../../packages/server/src/base/worst-case.ts';
import type { Answer, Caller } from './caller.ts';
import type { Deed, Practice } from './victim.ts';

/** A resource that one writer changes again and again. */
export interface Chain {
  readonly id: string;
  /** By version: what was written, where that was acknowledged. */
  readonly acknowledged: Map<number, string>;
  readonly uncertain: string[];
}

export interface Booking {
  readonly id: string;
  readonly slot: string;
  status: 'booked' | 'cancelled' | 'perhaps cancelled';
}

export interface Account {
  readonly chains: readonly Chain[];
  /** Identifiers of creates that were sent with a key until they were answered. */
  readonly created: Map<string, string>;
  readonly bookings: Booking[];
  /** Tokens whose revocation was acknowledged. */
  readonly revoked: string[];
  /** `Type/id/version` of every write that was acknowledged. */
  readonly versions: Set<string>;
  /** What was seen to be wrong meanwhile. */
  readonly broken: string[];
}

export interface Witness {
  readonly account: Account;
  /** What was answered, and when. */
  readonly deeds: readonly Deed[];
  /** Ends what is under way; resolves when all of it is answered. */
  stop(): Promise<void>;
}

export const witnessSystem = 'https://example.com/witness';

const pauseMs = 250;
const chainCount = 3;
/** Tokens live for 15 minutes; a revoked one proves something until then. */
const revokedMax = 40;

/** Prepares what it writes at, and begins. */
export async function openWitness(unheard: Caller, practice: Practice): Promise<Witness> {
  const deeds: Deed[] = [];
  const caller = noting(unheard, deeds);
  const chains = await Promise.all(Array.from({ length: chainCount }, () => beginChain(caller)));
  const account: Account = {
    chains,
    created: new Map(),
    bookings: [],
    revoked: [],
    versions: new Set(chains.map(({ id }) => `Patient/${id}/1`)),
    broken: [],
  };
  let isOpen = true;
  const again = async (step: (round: number) => Promise<void>): Promise<void> => {
    for (let round = 0; isOpen; round++) {
      await step(round);
      await delay(pauseMs);
    }
  };
  const working = [
    ...chains.map((chain) => again(() => prolong(caller, account, chain))),
    again(() => createWithKey(caller, account)),
    again((round) => race(caller, practice, account, round)),
    again(() => revoke(caller, account)),
  ];
  return {
    account,
    deeds,
    async stop() {
      isOpen = false;
      await Promise.all(working);
    },
  };
}

/** The caller, each of whose answers is noted. */
function noting(caller: Caller, deeds: Deed[]): Caller {
  const note = async (kind: string, answering: Promise<Answer>): Promise<Answer> => {
    const answer = await answering;
    const { status, ms, body } = answer;
    // What a condition refuses, or a late effect of a write whose answer was lost, is judged by the account.
    const isAnswer = status === 412 || (status >= 200 && status < 300);
    deeds.push({
      kind,
      status: isAnswer ? 200 : status,
      ms,
      atMs: performance.now(),
      said: isAnswer ? '' : body.slice(0, 300),
    });
    return answer;
  };
  return {
    ...caller,
    send: (asked) => note(`witness’s ${asked.method} ${asked.path.split(/[/?]/)[0]}`, caller.send(asked)),
    token: () => note('witness’s token', caller.token()),
    revoke: (token) => note('witness’s revocation', caller.revoke(token)),
  };
}

/** Sends a read until it is answered. */
export async function ask(caller: Caller, path: string): Promise<Answer> {
  return await untilAnswered(caller, buildGetRequest(path));
}

async function untilAnswered(caller: Caller, request: WorstRequest): Promise<Answer> {
  for (;;) {
    const answer = await caller.send(request);
    if (!isOpenEnded(answer) && answer.status !== 429) return answer;
    await delay(200);
  }
}

/** Whether it is not known what came of it. */
function isOpenEnded({ status }: Answer): boolean {
  return status === 0 || status >= 500;
}

function versionOf({ headers }: Answer): number {
  return Number(/^W\/"(\d+)"$/.exec(String(headers['etag'] ?? ''))?.[1] ?? Number.NaN);
}

const patient = (more: object) => ({ resourceType: 'Patient', name: [{ family: 'Witness' }], ...more });

async function beginChain(caller: Caller): Promise<Chain> {
  const answer = await untilAnswered(
    caller,
    buildJsonRequest('POST', 'Patient', patient({ identifier: [marked('0')] })),
  );
  if (answer.status !== 201) throw new Error(`a witness cannot begin: ${answer.status} ${answer.body}`);
  return { id: JSON.parse(answer.body).id, acknowledged: new Map([[1, '0']]), uncertain: [] };
}

function marked(value: string) {
  return { system: witnessSystem, value };
}

/** Writes the next version, on condition that the last one is the current one. */
async function prolong(caller: Caller, account: Account, chain: Chain): Promise<void> {
  const version = await currentVersion(caller, account, chain);
  const marker = randomUUID();
  const resource = patient({ id: chain.id, identifier: [marked(marker)] });
  const headers = { 'if-match': `W/"${version}"` };
  const answer = await caller.send({ ...buildJsonRequest('PUT', `Patient/${chain.id}`, resource), headers });
  if (isOpenEnded(answer)) return void chain.uncertain.push(marker);
  if (answer.status === 429) return;
  // A write whose answer was lost may have arrived late.
  if (answer.status === 412 && chain.uncertain.length > 0) return;
  if (answer.status !== 200 || versionOf(answer) !== version + 1)
    return void account.broken.push(
      `an update of version ${version} was answered ${answer.status}, version ${versionOf(answer)}: ${answer.body.slice(0, 300)}`,
    );
  chain.acknowledged.set(version + 1, marker);
  account.versions.add(`Patient/${chain.id}/${version + 1}`);
}

async function currentVersion(caller: Caller, account: Account, chain: Chain): Promise<number> {
  const answer = await ask(caller, `Patient/${chain.id}`);
  const version = versionOf(answer);
  const marker: string | undefined = answer.status === 200 ? JSON.parse(answer.body).identifier[0].value : undefined;
  const known = chain.acknowledged.get(version);
  const last = Math.max(...chain.acknowledged.keys());
  const isKnown = known === undefined ? chain.uncertain.includes(marker ?? '') : known === marker;
  if (answer.status !== 200 || !isKnown || version < last)
    account.broken.push(
      `Patient/${chain.id} is ${marker} as version ${version} after version ${last}: ${answer.status}`,
    );
  return version;
}

/** Sends a create with a key until it is answered: it takes effect once. */
async function createWithKey(caller: Caller, account: Account): Promise<void> {
  const value = randomUUID();
  const request = {
    ...buildJsonRequest('POST', 'Patient', patient({ identifier: [marked(value)] })),
    headers: { 'idempotency-key': `"${value}"` },
  };
  for (;;) {
    const answer = await untilAnswered(caller, request);
    if (answer.status === 409) await delay(200);
    else if (answer.status === 201) {
      const { id } = JSON.parse(answer.body);
      account.created.set(value, id);
      account.versions.add(`Patient/${id}/1`);
      return;
    } else
      return void account.broken.push(
        `a create with a key was answered ${answer.status}: ${answer.body.slice(0, 300)}`,
      );
  }
}

/** Two book the same slot at once; every other appointment is cancelled. */
async function race(caller: Caller, practice: Practice, account: Account, round: number): Promise<void> {
  const { appointmentType, patients } = practice;
  const day = new Date(Date.now() + ((round % 60) + 1) * 86_400_000).toISOString().slice(0, 10);
  const found = await ask(caller, `Slot/$find?appointment-type=${appointmentType}&start=${day}&_count=50`);
  const slots: { resource: { id: string } }[] = found.status === 200 ? (JSON.parse(found.body).entry ?? []) : [];
  const slot = slots[(round * 7) % Math.max(1, slots.length)]?.resource.id;
  if (slot === undefined)
    return void account.broken.push(`no slot is found: ${found.status} ${found.body.slice(0, 300)}`);
  const book = async (racer: number): Promise<void> => {
    const actor = { reference: `Patient/${patients[(round + racer) % patients.length]}` };
    const resource = { resourceType: 'Appointment', participant: [{ actor, status: 'accepted' }] };
    const asked = buildOperationRequest('Appointment/$book', [
      { name: 'slot', valueString: `Slot/${slot}` },
      { name: 'appointment', resource },
    ]);
    const answer = await caller.send(asked);
    if (isOpenEnded(answer) || answer.status === 409 || answer.status === 429) return;
    if (answer.status !== 201)
      return void account.broken.push(`$book was answered ${answer.status}: ${answer.body.slice(0, 300)}`);
    const { id } = JSON.parse(answer.body);
    account.bookings.push({ id, slot, status: 'booked' });
    account.versions.add(`Appointment/${id}/${versionOf(answer)}`);
  };
  await Promise.all([book(0), book(1)]);
  const booking = account.bookings.at(-1);
  if (round % 2 === 0 && booking?.slot === slot) await cancel(caller, account, booking);
}

async function cancel(caller: Caller, account: Account, booking: Booking): Promise<void> {
  const cancelled = [{ op: 'replace', path: '/status', value: 'cancelled' }];
  const path = `Appointment/${booking.id}`;
  const answer = await caller.send(buildJsonRequest('PATCH', path, cancelled, 'application/json-patch+json'));
  if (answer.status === 200) {
    booking.status = 'cancelled';
    account.versions.add(`${path}/${versionOf(answer)}`);
  } else if (isOpenEnded(answer)) booking.status = 'perhaps cancelled';
  else if (answer.status !== 429)
    account.broken.push(`a cancellation was answered ${answer.status}: ${answer.body.slice(0, 300)}`);
}

/** Gets a token, ends it, and asks with one that was ended: it is refused from then on, by whichever worker. */
async function revoke(caller: Caller, account: Account): Promise<void> {
  const issued = await caller.token();
  if (issued.status !== 200) return;
  const token: string = JSON.parse(issued.body).access_token;
  await caller.sendAs(token, buildGetRequest('Patient?_count=1'));
  const answer = await caller.revoke(token);
  if (answer.status === 200) account.revoked.push(token);
  else if (!isOpenEnded(answer) && answer.status !== 429)
    account.broken.push(`a revocation was answered ${answer.status}: ${answer.body.slice(0, 300)}`);
  for (const ended of account.revoked.slice(-revokedMax)) {
    const { status } = await caller.sendAs(ended, buildGetRequest('Patient?_count=1'));
    if (status !== 401 && status !== 0 && status < 500 && status !== 429)
      account.broken.push(`a token was answered ${status} after its revocation`);
    await delay(20);
  }
}
