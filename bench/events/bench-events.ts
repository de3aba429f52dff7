/**
 * What subscriptions cost writers, and how soon events come: writes at a fixed pace (an open schedule) at a service without
 * subscriptions, at one with a subscription that is told every change, and at one with very many of which few match, by turns.
 * Linux only.
 *
 *     npm run bench -- events [--rate N] [--rounds N] [--seconds N] [--warm-up N] [--patients N] [--many N] [--held N] [--rows TEXT]
 *                             [--json FILE] [--against DIRECTORY]
 *
 *     --rate N      writes a second: updates and creates of patients (200)
 *     --rounds N    of turns; odd ones in reverse (8)
 *     --seconds N   of each turn (6)
 *     --warm-up N   seconds of a first turn that is not counted (15): what is done a few times a second is compiled late
 *     --patients N  of each practice (500)
 *     --many N      subscriptions of which few match (10,000)
 *     --held N      seconds that a transaction is held open, once (3)
 *     --rows TEXT   only rows with one of these words in their names: one, many (all)
 *     --json FILE   figures as JSON, beside what is printed
 *     --against DIRECTORY  another checkout, whose service with one subscription takes turns, too (without bounds)
 *
 * CPU time is that of all processes of the service and of its database. That of the receiver and of the writers is not in it.
 *
 * Ends with 1 when events come too late, or when a ratio is beyond its bound by more than its uncertainty. A delay begins at
 * lastUpdated, which is before the commit, so it is too long rather than too short.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuMicrosOfTrees, median, quantile } from '../cpu.ts';
import { type Asked, openSteadyLoad } from '../restarts/steady-load.ts';
import { type Caller, openCaller } from '../service/caller.ts';
import { computeRatio, formatRatio, type Ratio } from '../service/comparison.ts';
import type { BenchNode, Ground } from '../service/nodes.ts';
import * as nodes from '../service/nodes.ts';
import { patientId } from '../service/prepare.ts';
import { inYard, type Yard } from '../service/processes.ts';
import { holdTransaction, multiplySubscriptions } from './stand-ins.ts';

/** ms from lastUpdated to receipt. */
const delayBounds = { p50Ms: 50, p99Ms: 500, afterHeldMs: 500 };
const ratioMax = { one: 1.05, many: 1.1 } as const;
/** After the last write, until the CPU time is read: what was put off belongs to what was written. */
const settleMs = 500;
const contentUrl = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-payload-content';
const topic = 'https://praxis.health/fhir/SubscriptionTopic/patient-changed';

interface Options {
  readonly rate: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUp: number;
  readonly patients: number;
  readonly many: number;
  readonly held: number;
  readonly rows: readonly string[];
  /** Root of another checkout. */
  readonly against: string | undefined;
}

/** A service with its own database, and the writers' application. */
interface Side {
  readonly name: 'none' | 'one' | 'many' | 'other checkout';
  readonly ground: Ground;
  readonly node: BenchNode;
  readonly next: () => Asked;
  readonly rounds: Round[];
  /** Of its events, in ms. */
  readonly delays: number[];
  /** That its events came in. */
  notifications: number;
}

interface Round {
  readonly p50Ms: number;
  /** CPU time of all processes of service and database for a write. */
  readonly cpuMicros: number;
  /** That of the database alone. */
  readonly databaseMicros: number;
}

interface Receiver {
  readonly url: string;
  /** Delays of the events since the last call, in ms, and how many notifications they came in. */
  take(): { readonly delays: readonly number[]; readonly notifications: number };
}

/** Runs the bench with the arguments that follow its name; returns the exit status. */
export async function benchEvents(args: readonly string[]): Promise<number> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: text('200'),
      rounds: text('8'),
      seconds: text('6'),
      'warm-up': text('15'),
      patients: text('500'),
      many: text('10000'),
      held: text('3'),
      rows: text('one,many'),
      json: { type: 'string' },
      against: { type: 'string' },
    },
  });
  const options: Options = {
    rate: Number(values.rate),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    warmUp: Number(values['warm-up']),
    patients: Number(values.patients),
    many: Number(values.many),
    held: Number(values.held),
    rows: values.rows.split(','),
    against: values.against,
  };
  return await inYard(async (yard) => {
    const { broken, figures } = await measureAll(yard, options);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ options, ...figures }, null, 2)}\n`);
    for (const line of broken) console.log(`BROKEN: ${line}`);
    return broken.length === 0 ? 0 : 1;
  });
}

async function measureAll(yard: Yard, options: Options) {
  const receiver = await openReceiver(yard);
  const rows = (['one', 'many'] as const).filter((name) => options.rows.includes(name));
  const names = ['none', ...rows, ...(options.against === undefined ? [] : (['other checkout'] as const))] as const;
  const sides: Side[] = [];
  for (const name of names) sides.push(await openSide(yard, name, options, receiver));
  for (const side of sides) await takeTurn(side, options.rate, options.warmUp);
  receiver.take();
  for (let round = 0; round < options.rounds; round += 1)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      side.rounds.push(await takeTurn(side, options.rate, options.seconds));
      const { delays, notifications } = receiver.take();
      side.delays.push(...delays);
      side.notifications += notifications;
    }
  const one = sides.find(({ name }) => name === 'one');
  const held = one === undefined ? undefined : await measureHeld(one, options, receiver);
  return report(options, sides, held);
}

async function openSide(yard: Yard, name: Side['name'], options: Options, receiver: Receiver): Promise<Side> {
  const { openGround, startNode } = name === 'other checkout' ? await importNodes(options.against ?? '') : nodes;
  const ground = await openGround(yard, options.patients);
  const node = await startNode(yard, ground, 1, { PRAXIS_OUTBOUND_LOOPBACK: 'sandbox' });
  const caller = await openCaller(node.origin, ground.prepared);
  if (name !== 'none') await subscribe(caller, name === 'many' ? 'Patient?_id=nobody' : '', receiver.url);
  if (name === 'many') await multiplySubscriptions(ground, options.many);
  return {
    name,
    ground,
    node,
    next: planWrites(node, caller, ground.prepared.body, options.patients),
    rounds: [],
    delays: [],
    notifications: 0,
  };
}

/** What starts the service of another checkout. */
async function importNodes(root: string): Promise<typeof nodes> {
  return (await import(path.join(path.resolve(root), 'bench', 'service', 'nodes.ts'))) as typeof nodes;
}

/** Updates of all patients in turns, and a create after each second one. */
function planWrites(node: BenchNode, caller: Caller, body: string, patients: number): () => Asked {
  const resource: object = JSON.parse(body);
  let number = 0;
  return () => {
    const turn = number++;
    if (turn % 3 === 2) {
      const call = caller.write('POST', 'Patient', body);
      return {
        kind: 'create',
        method: 'POST',
        url: `${node.origin}${call.path}`,
        headers: call.headers,
        body,
        status: 201,
      };
    }
    const id = patientId(turn % patients);
    const changed = JSON.stringify({
      ...resource,
      resourceType: 'Patient',
      id,
      birthDate: `19${10 + (turn % 90)}-01-01`,
    });
    const call = caller.write('PUT', `Patient/${id}`, changed);
    return {
      kind: 'update',
      method: 'PUT',
      url: `${node.origin}${call.path}`,
      headers: call.headers,
      body: changed,
      status: 200,
    };
  };
}

/** A subscription that stands when this resolves. @param filter of the topic; empty: none */
async function subscribe(caller: Caller, filter: string, endpoint: string): Promise<void> {
  const filterUrl = contentUrl.replace('payload-content', 'filter-criteria');
  const subscription = {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'Measurement',
    criteria: topic,
    ...(filter === '' ? {} : { _criteria: { extension: [{ url: filterUrl, valueString: filter }] } }),
    channel: {
      type: 'rest-hook',
      endpoint,
      payload: 'application/fhir+json',
      _payload: { extension: [{ url: contentUrl, valueCode: 'full-resource' }] },
    },
  };
  const made = await caller.send(caller.write('POST', 'Subscription', JSON.stringify(subscription)), 201);
  const { id }: { readonly id: string } = JSON.parse(made.body);
  for (let status = ''; status !== 'active'; await delay(50))
    ({ status } = JSON.parse((await caller.send(caller.get(`Subscription/${id}`), 200)).body));
}

async function openReceiver(yard: Yard): Promise<Receiver> {
  let delays: number[] = [];
  let notifications = 0;
  const server = createServer(async (request, response) => {
    const arrivedMs = Date.now();
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    response.writeHead(204).end();
    notifications += 1;
    const notification: Notification = JSON.parse(Buffer.concat(parts).toString());
    for (const { name, part } of notification.entry[0]?.resource.parameter ?? [])
      if (name === 'notification-event')
        for (const { valueInstant } of part ?? [])
          if (valueInstant !== undefined) delays.push(arrivedMs - Date.parse(valueInstant));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  yard.onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    take() {
      const taken = { delays, notifications };
      delays = [];
      notifications = 0;
      return taken;
    },
  };
}

interface Notification {
  readonly entry: readonly {
    readonly resource: {
      readonly parameter?: readonly {
        readonly name: string;
        readonly part?: readonly { readonly valueInstant?: string }[];
      }[];
    };
  }[];
}

async function takeTurn({ ground, node, next }: Side, rate: number, seconds: number): Promise<Round> {
  const before = await node.cpuMicros();
  const databaseBefore = cpuMicrosOfTrees([ground.pid]);
  const load = openSteadyLoad(rate, next);
  await delay(seconds * 1000);
  await load.stop();
  const { latenciesMs, lost, requests } = await load.take();
  await delay(settleMs);
  if (lost.length > 0) throw new Error(`${lost.length} writes were refused, the first: ${JSON.stringify(lost[0])}`);
  return {
    p50Ms: median(latenciesMs),
    cpuMicros: ((await node.cpuMicros()) - before) / requests,
    databaseMicros: (cpuMicrosOfTrees([ground.pid]) - databaseBefore) / requests,
  };
}

/** The longest delay while a transaction is held open. */
async function measureHeld(side: Side, { rate, held }: Options, receiver: Receiver): Promise<number> {
  const load = openSteadyLoad(rate, side.next);
  await delay(500);
  receiver.take();
  await holdTransaction(side.ground, held * 1000);
  await delay(1_000);
  await load.stop();
  await delay(settleMs);
  return Math.max(...receiver.take().delays);
}

function report(options: Options, sides: readonly Side[], heldMs: number | undefined) {
  console.log(`${options.rate} writes/s, ${options.rounds} rounds of ${options.seconds} s, one worker`);
  const { ratios, broken } = reportCosts(sides);
  const told = Object.fromEntries(sides.map((side) => [side.name, computeDelays(side)]));
  for (const [name, { events, notifications, p50Ms, p99Ms, longestMs }] of Object.entries(told))
    if (events > 0)
      console.log(
        `${name}: ${events} events in ${notifications} notifications, p50 ${p50Ms} ms, p99 ${p99Ms} ms, longest ${longestMs} ms`,
      );
  if (told['one'] !== undefined) {
    const { p50Ms, p99Ms } = told['one'];
    if (p50Ms > delayBounds.p50Ms) broken.push(`p50 of the delay is ${p50Ms} ms, at most ${delayBounds.p50Ms}`);
    if (p99Ms > delayBounds.p99Ms) broken.push(`p99 of the delay is ${p99Ms} ms, at most ${delayBounds.p99Ms}`);
  }
  if (heldMs !== undefined) {
    console.log(`With a transaction of ${options.held} s: longest ${heldMs} ms`);
    const max = options.held * 1000 + delayBounds.afterHeldMs;
    if (heldMs > max) broken.push(`a transaction of ${options.held} s delays events by ${heldMs} ms, at most ${max}`);
  }
  const rounds = Object.fromEntries(sides.map((side) => [side.name, side.rounds]));
  return { broken, figures: { ratios, rounds, told, heldMs } };
}

function computeDelays({ delays, notifications }: Side) {
  const longestMs = delays.reduce((most, each) => Math.max(most, each), 0);
  return {
    events: delays.length,
    notifications,
    p50Ms: quantile(delays, 0.5),
    p99Ms: quantile(delays, 0.99),
    longestMs,
  };
}

function reportCosts(sides: readonly Side[]) {
  const broken: string[] = [];
  const ratios: Record<string, { readonly p50: Ratio; readonly cpu: Ratio }> = {};
  const listsOf = ({ rounds }: Side) => [rounds.map(({ p50Ms }) => p50Ms), rounds.map(({ cpuMicros }) => cpuMicros)];
  console.log(
    '| subscriptions | p50 of writes, ms | ratio | CPU µs/write | ratio | of the database |\n|---|---:|---:|---:|---:|---:|',
  );
  const [none] = sides;
  const [baseP50s = [], baseCpus = []] = none === undefined ? [] : listsOf(none);
  for (const side of sides) {
    const [p50s = [], cpus = []] = listsOf(side);
    const [p50, cpu] = [computeRatio(baseP50s, p50s, 0.5), computeRatio(baseCpus, cpus, 0.5)];
    const { name } = side;
    const database = median(side.rounds.map(({ databaseMicros }) => databaseMicros));
    const texts = name === 'none' ? ['', ''] : [formatRatio(p50), formatRatio(cpu)];
    console.log(
      `| ${[name, median(p50s).toFixed(2), texts[0], median(cpus).toFixed(0), texts[1], database.toFixed(0)].join(' | ')} |`,
    );
    if (name === 'none') continue;
    ratios[name] = { p50, cpu };
    if (name === 'other checkout') continue;
    const max = ratioMax[name];
    if (p50.ratio - p50.uncertainty > max) broken.push(`${name}: p50 ${formatRatio(p50)}, at most ${max}`);
    if (cpu.ratio - cpu.uncertainty > max) broken.push(`${name}: CPU ${formatRatio(cpu)}, at most ${max}`);
  }
  return { ratios, broken };
}
