/**
 * Events that are never lost, and that tell nothing they must not: writers change resources, subscribers of three kinds of rights keep
 * copies, and everything fails: endpoints in every way, nodes, workers and the database by kill -9; rights change now and then. At
 * the end each copy is compared with a search of its application, and all that was told with the rights of its moment. Linux only.
 *
 *     npm run bench -- events-proof [--changes N] [--writers N] [--subscriptions N] [--endpoints N] [--nodes N] [--faults N]
 *                                   [--rights N] [--seed TEXT]
 *
 *     --changes N        acknowledged ones (100,000)
 *     --writers N        at once (50)
 *     --subscriptions N  by topics (20)
 *     --endpoints N      that the subscriptions send to, each failing in turns by itself (12)
 *     --nodes N          processes of the service with one worker each (2)
 *     --faults N         kills of nodes, workers and the database (200)
 *     --rights N         changes of rights: narrowed, widened, suspended (a fifth of the faults)
 *     --seed TEXT        decides what is written and struck (the time)
 *
 * Ends with 1 when anything of it does not hold.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openRandom } from '../../packages/server/src/synthetic/random.ts';
import { makeCertificate } from '../../packages/server/test/outbound/certificates.ts';
import { inYard, type Yard } from '../service/processes.ts';
import { Account } from './proof/account.ts';
import { openProofClient, type ProofClient } from './proof/client.ts';
import { type Endpoint, openEndpoint } from './proof/endpoints.ts';
import { type Ground, openProofGround } from './proof/ground.ts';
import { type JudgedSubscriber, judgeAll } from './proof/judgement.ts';
import { panels, proofTypes, RightsJournal, rightsKinds } from './proof/rights.ts';
import { type Counts, changeRights, failByTurns, type Judged, strikeFaults } from './proof/strikes.ts';
import { openSubscriber, type SubscriptionWish } from './proof/subscriber.ts';
import { buildResource, startWriters, type Writers } from './proof/writers.ts';

export interface ProofOptions {
  readonly changes: number;
  readonly writers: number;
  readonly subscriptions: number;
  readonly endpoints: number;
  readonly nodes: number;
  readonly faults: number;
  readonly rights: number;
  readonly seed: string;
}

/** What was seen. */
export interface Proof {
  readonly changes: number;
  /** Requests of writers that were not acknowledged. */
  readonly failures: number;
  readonly faults: number;
  readonly events: number;
  readonly deliveries: number;
  readonly repetitions: number;
  /** Beginnings of runs, the first ones included. */
  readonly runs: number;
  /** What was done, by its name. */
  readonly counts: Counts;
  readonly seconds: number;
  readonly broken: readonly string[];
}

/** Applications of each kind of rights. */
const applicationsEach = 2;
/** Between a failed attempt and the next one, at first. */
const pauseMs = 50;
/** After the last change nobody waits for longer without being told something. */
const quietMaxMs = 60_000;
const maxCounts = [100, 5, 3, 25, 10] as const;
const prepareMaxMs = 60_000;

/** Runs it with the arguments that follow its name; 0 when all holds. */
export async function benchEventsProof(args: readonly string[]): Promise<number> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      changes: text('100000'),
      writers: text('50'),
      subscriptions: text('20'),
      endpoints: text('12'),
      nodes: text('2'),
      faults: text('200'),
      rights: { type: 'string' },
      seed: text(String(Date.now())),
    },
  });
  const number = (name: 'changes' | 'writers' | 'subscriptions' | 'endpoints' | 'nodes' | 'faults'): number =>
    Number(values[name]);
  const options: ProofOptions = {
    changes: number('changes'),
    writers: number('writers'),
    subscriptions: number('subscriptions'),
    endpoints: number('endpoints'),
    nodes: number('nodes'),
    faults: number('faults'),
    rights: Number(values.rights ?? Math.ceil(number('faults') / 5)),
    seed: values.seed,
  };
  console.log(`--seed ${options.seed}`);
  const proof = await proveEvents(options);
  report(proof);
  return proof.broken.length === 0 ? 0 : 1;
}

/** Does all of it. */
export async function proveEvents(options: ProofOptions): Promise<Proof> {
  return await inYard(async (yard) => {
    const beganMs = performance.now();
    const authority = makeCertificate({ name: 'Proof authority', isAuthority: true }, Date.now());
    const ground = await openProofGround(yard, { nodes: options.nodes, pauseMs, authority });
    const [first] = rightsKinds;
    if (first === undefined) throw new RangeError('there are no rights');
    const open = openClients(yard, ground);
    const writing = open(await ground.makeApplication('Writers', ['acl/*'], first.wide), options.writers);
    const scene = await openScene(yard, ground, options, authority, open);
    console.log(`${scene.subscribers.length} subscriptions stand after ${since(beganMs).toFixed(1)} s`);
    const counts: Counts = new Map();
    const writers = startWriters(writing, options);
    await strikeAll(ground, scene, options, writers, counts);
    console.log(`${writers.count()} changes are made after ${since(beganMs).toFixed(1)} s`);
    const unfit = await settle(scene, writing, options);
    console.log(`all is quiet after ${since(beganMs).toFixed(1)} s`);
    const broken = [...unfit, ...(await judgeAll(scene.subscribers, writers.written, writing))];
    await Promise.all(scene.subscribers.map((subscriber) => subscriber.stop()));
    return { ...countUp(scene, writers), counts, faults: options.faults, seconds: since(beganMs), broken };
  });
}

type OpenClient = (application: Parameters<typeof openProofClient>[1], connections?: number) => ProofClient;

function openClients(yard: Yard, ground: Ground): OpenClient {
  const origins = (): readonly string[] => {
    const up = ground.nodes.filter((node) => node.isUp());
    return (up.length === 0 ? ground.nodes : up).map(({ origin }) => origin);
  };
  return (application, connections) => {
    const client = openProofClient(origins, application, connections);
    yard.onEnd(() => client.close());
    return client;
  };
}

interface Scene {
  readonly judged: readonly Judged[];
  readonly subscribers: readonly JudgedSubscriber[];
  readonly endpoints: readonly Endpoint[];
}

/** Applications of each kind, endpoints, and subscriptions that stand; nothing fails yet. */
async function openScene(
  yard: Yard,
  ground: Ground,
  options: ProofOptions,
  authority: ReturnType<typeof makeCertificate>,
  open: OpenClient,
): Promise<Scene> {
  const judged: (Judged & { readonly client: ProofClient })[] = [];
  for (let round = 0; round < applicationsEach; round += 1)
    for (const kind of rightsKinds) {
      const application = await ground.makeApplication(`${kind.name} ${round + 1}`, kind.acl, kind.wide);
      const journal = new RightsJournal(kind.wide, Date.now());
      judged.push({ application, kind, journal, client: open(application) });
    }
  const accounts = new Map<string, Account>();
  const endpoints: Endpoint[] = [];
  for (let at = 0; at < options.endpoints; at += 1) {
    const onDelivery: Parameters<typeof openEndpoint>[0]['onDelivery'] = (delivery, isTaken) =>
      accounts.get(delivery.path)?.receive(delivery, isTaken);
    const endpoint = await openEndpoint({ isTls: at % 2 === 0, authority, onDelivery });
    yard.onEnd(() => endpoint.close());
    endpoints.push(endpoint);
  }
  const subscribers = await Promise.all(
    Array.from({ length: options.subscriptions }, async (_, number): Promise<JudgedSubscriber> => {
      const who = judged[number % judged.length];
      const endpoint = endpoints[number % endpoints.length];
      if (who === undefined || endpoint === undefined) throw new RangeError('there are no applications or endpoints');
      const wish = wishOf(number, who, endpoint, Math.floor(number / judged.length));
      const account = new Account(wish.name);
      accounts.set(wish.path, account);
      return { journal: who.journal, ...(await within(openSubscriber(who.client, wish, account), wish.name)) };
    }),
  );
  return { judged, subscribers, endpoints };
}

function wishOf(number: number, { application, kind }: Judged, endpoint: Endpoint, turn: number): SubscriptionWish {
  const type = proofTypes[turn % proofTypes.length] ?? 'Patient';
  // More than one of each type and application: of those who see all elements some are limited by a filter.
  const isFiltered = turn >= proofTypes.length && kind.name !== 'elements';
  const filters = { Patient: 'active=true', ChargeItem: 'code=first', DocumentReference: 'status=current' };
  return {
    name: `${number}: ${application.application.name}, ${type}${isFiltered ? `?${filters[type]}` : ''}`,
    type,
    filter: isFiltered ? filters[type] : '',
    content: number % 5 === 3 ? 'id-only' : 'full-resource',
    maxCount: maxCounts[number % maxCounts.length] ?? 1,
    timeoutSeconds: 1 + (number % 2),
    endpoint,
    path: `/hook/${number}`,
  };
}

async function within<T>(work: Promise<T>, name: string): Promise<T> {
  const late = delay(prepareMaxMs, undefined, { ref: false }).then(() => {
    throw new Error(`${name} is not active after ${prepareMaxMs} ms`);
  });
  return await Promise.race([work, late]);
}

/** Until all changes are made and all faults struck. */
async function strikeAll(
  ground: Ground,
  { judged, endpoints }: Scene,
  { seed, faults, rights: rightsChanges, changes }: ProofOptions,
  writers: Writers,
  counts: Counts,
): Promise<void> {
  let isOver = false;
  const failing = endpoints.map((endpoint, at) => failByTurns(endpoint, at, seed, () => isOver, counts));
  const options = { seed, faults, rightsChanges, changes, count: writers.count };
  try {
    await Promise.all([
      writers.done,
      strikeFaults(ground, options, counts),
      changeRights(ground, judged, options, counts),
    ]);
  } finally {
    isOver = true;
    await Promise.all(failing);
  }
}

/** Writes a last change that every subscription is told of, and waits until all were. @returns who was not */
async function settle(
  { subscribers }: Scene,
  writing: ProofClient,
  { seed }: ProofOptions,
): Promise<readonly string[]> {
  const random = openRandom(seed, 'last');
  for (const type of proofTypes)
    for (const panel of panels) {
      const last = buildResource(type, `last-${panel}`, panel, random.integer(1, 1_000_000), true);
      await writeLast(writing, `${type}/${last.id}`, last);
    }
  const waiting = new Set(subscribers);
  const countTold = (): number => subscribers.reduce((sum, { account }) => sum + account.last + account.runs, 0);
  let told = countTold();
  for (let endMs = performance.now() + quietMaxMs; waiting.size > 0 && performance.now() < endMs; await delay(100)) {
    for (const subscriber of waiting) if (await isQuiet(subscriber)) waiting.delete(subscriber);
    if (countTold() === told) continue;
    told = countTold();
    endMs = performance.now() + quietMaxMs;
  }
  // A run that ended meanwhile begins anew.
  return await Promise.all(
    [...waiting].map(async ({ wish, describe }) => `${wish.name} was not told the last change: ${await describe()}`),
  );
}

async function writeLast(writing: ProofClient, name: string, resource: object): Promise<void> {
  for (const endMs = performance.now() + quietMaxMs; ; await delay(100)) {
    const { status, body } = await writing.send('PUT', name, resource);
    if (status >= 200 && status < 300) return;
    if (performance.now() > endMs) throw new Error(`${name}: ${status} ${body}`);
  }
}

async function isQuiet({ account, wish, journal, stands }: JudgedSubscriber): Promise<boolean> {
  const standing = await stands();
  if (standing === undefined || standing.events !== account.last) return false;
  const state = account.computeState();
  return [...(journal.current?.panels ?? [])].every((panel) => state.has(`${wish.type}/last-${panel}`));
}

function countUp({ subscribers }: Scene, writers: Writers) {
  const sum = (of: (account: Account) => number): number =>
    subscribers.reduce((all, { account }) => all + of(account), 0);
  return {
    changes: writers.count(),
    failures: writers.failures(),
    events: sum(
      ({ notifications }) => new Set(notifications.flatMap(({ events }) => events.map((each) => each.number))).size,
    ),
    deliveries: sum(({ notifications }) => notifications.length),
    repetitions: sum((account) => account.repetitions),
    runs: sum((account) => account.runs),
  };
}

function since(beganMs: number): number {
  return (performance.now() - beganMs) / 1000;
}

function report({ changes, failures, events, deliveries, repetitions, runs, counts, seconds, broken }: Proof): void {
  console.log(`${changes} changes (${failures} requests failed), ${events} events, ${deliveries} deliveries`);
  console.log(`${repetitions} of them repetitions; ${runs} runs began; ${seconds.toFixed(1)} s`);
  for (const [name, count] of [...counts].toSorted()) console.log(`  ${name}: ${count}`);
  for (const line of broken) console.log(`BROKEN: ${line}`);
  if (broken.length === 0) console.log('Every copy is what a search shows, and nothing was told beyond rights');
}
