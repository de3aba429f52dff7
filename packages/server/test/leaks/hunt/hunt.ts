/**
 * The leak hunt: random campaigns of requests at pairs of firms that differ in one secret. Whoever may not see the secret is
 * answered the same in both worlds. A campaign begins at plots in which nothing was changed, so that it can be shrunk and
 * replayed by seed and path.
 */
import fc from 'fast-check';
import { untilTold } from '../../support/follower.ts';
import type { Answer, Caller } from '../../support/service.ts';
import { type CallerName, callerKinds } from './callers.ts';
import { difference, type Seen, steady } from './compare.ts';
import { bodyWithNames, namesIn, withNames } from './names.ts';
import type { PlotKind } from './planted.ts';
import type { Request } from './request.ts';
import { type Aim, type Campaign, campaigns, type LinkKind, type Replay, type Step } from './requests.ts';
import type { PlotPair, Worlds } from './worlds.ts';

export interface Tally {
  /** Requests that were sent to both worlds by those who may not see the secret. */
  requests: number;
  campaigns: number;
  /** By `way`, by caller, by kind of plot, by status. */
  readonly ways: Map<string, number>;
  readonly callers: Map<string, number>;
  readonly plots: Map<string, number>;
  readonly statuses: Map<string, number>;
  /** By kind of plot: requests of those who may see the secret, and those of them that were answered differently. */
  readonly entitled: Map<string, { asked: number; differed: number }>;
  /** Answers of 500, which are faults even where both worlds give them. */
  readonly faults: string[];
}

export function newTally(): Tally {
  return {
    requests: 0,
    campaigns: 0,
    ways: new Map(),
    callers: new Map(),
    plots: new Map(),
    statuses: new Map(),
    entitled: new Map(),
    faults: [],
  };
}

export interface HuntOptions extends Aim {
  readonly seed: number;
  /** Requests after which it ends. */
  readonly requests: number;
  /** Where a campaign of this seed is, as a failure names it: it alone is run. */
  readonly path?: string;
  /** Ends with the first difference, without looking for a smaller way to it. */
  readonly quick?: boolean;
  /** Ends at this time, as performance.now tells it, whatever was sent. */
  readonly endsAt?: number | undefined;
  readonly progress?: (tally: Tally) => void;
}

/** A difference between the worlds. */
export interface Leak {
  readonly seed: number;
  readonly path: string;
  readonly campaign: Campaign;
  /** What differed, and after which request. */
  readonly message: string;
}

/** Requests of one campaign at most. */
const stepsMax = 40;
/** Campaigns between two looks at the number of requests. */
const runsPerBlock = 20;
/** Pages that are followed from one answer at most. */
const pagesMax = 3;
/** Of the requests that read, one in so many is also sent by those who may see the secret. */
const entitledEvery = 6;
const shrinkMs = 120_000;

/** Hunts until the number of requests or a leak is reached. Everything that was sent is counted in `tally`. */
export async function hunt(worlds: Worlds, tally: Tally, options: HuntOptions): Promise<Leak | undefined> {
  const { seed, path, quick, endsAt = Number.POSITIVE_INFINITY } = options;
  const until = tally.requests + options.requests;
  const property = fc.asyncProperty(campaigns(stepsMax, options), (campaign) => run(worlds, tally, campaign));
  for (let block = 0; tally.requests < until && performance.now() < endsAt; block += 1) {
    const found = await fc.check(property, {
      seed: seed + block,
      numRuns: runsPerBlock,
      endOnFailure: quick === true,
      interruptAfterTimeLimit: shrinkMs * runsPerBlock,
      ...(path === undefined ? {} : { path }),
    });
    options.progress?.(tally);
    if (found.failed && found.counterexample !== null) {
      const cause = found.errorInstance;
      return {
        seed: found.seed,
        path: found.counterexamplePath ?? '',
        campaign: found.counterexample[0],
        message: cause instanceof Error ? cause.message : String(cause),
      };
    }
    if (path !== undefined) return undefined;
  }
  return undefined;
}

/** What a campaign has seen so far. */
interface Trace {
  readonly pair: PlotPair;
  readonly seen: readonly [Seen, Seen];
  /** Page links of both worlds, in the order in which they were given to anybody. */
  readonly links: (readonly [string, string])[];
  /** What was planted, and what each caller was given since. */
  readonly names: Map<string, readonly [Map<string, string>, Map<string, string>]>;
  /** The ids that were made last, by anybody. */
  made: readonly [string, string] | undefined;
  isChanged: boolean;
}

async function run(worlds: Worlds, tally: Tally, { plot, steps }: Campaign): Promise<void> {
  tally.campaigns += 1;
  const pair = await worlds.plot(plot);
  const trace: Trace = {
    pair,
    seen: [new Map(), new Map()],
    links: [...(await linksOfEntitled(pair))],
    names: new Map(),
    made: undefined,
    isChanged: false,
  };
  try {
    for (const step of steps) await take(worlds, tally, plot, trace, step);
  } catch (error) {
    trace.isChanged = true;
    throw error;
  } finally {
    if (trace.isChanged) worlds.spoil(pair);
  }
}

async function take(worlds: Worlds, tally: Tally, plot: PlotKind, trace: Trace, { caller, ask }: Step): Promise<void> {
  const asked = both((at) => concrete(trace, caller, ask, at));
  if (asked[0] === undefined || asked[1] === undefined || isLeft(caller, asked[0])) return;
  worlds.tick();
  let requests: readonly [Request, Request] = [asked[0], asked[1]];
  const isReading = isSafe(requests[0]);
  for (let page = 1; page <= pagesMax; page += 1) {
    const answers = await sent(requests, (at) => callerOf(trace, caller, at));
    count(tally, plot, caller, ask.way, answers[0]);
    compared(tally, trace, caller, requests, answers);
    noteNames(trace, caller, answers);
    if (!isReading && answers[0].status < 400) await noteChange(trace, requests[0]);
    const next = both((at) => linkOf(answers[at], 'next'));
    noteLinks(trace, answers);
    if (next[0] === undefined || next[1] === undefined || requests[0].method !== 'GET') break;
    requests = [
      { ...requests[0], path: next[0] },
      { ...requests[1], path: next[1] },
    ];
  }
  if (isReading && tally.requests % entitledEvery === 0) await askEntitled(tally, plot, trace, [asked[0], asked[1]]);
}

function both<T>(make: (at: 0 | 1) => T): readonly [T, T] {
  return [make(0), make(1)];
}

function callerOf({ pair }: Trace, name: CallerName, at: 0 | 1): Caller {
  const caller = pair[at].callers.get(name);
  if (caller === undefined) throw new TypeError(`${name} does not ask at this plot`);
  return caller;
}

/** The request as one world gets it; undefined: there is nothing to ask yet. */
function concrete(trace: Trace, caller: CallerName, ask: Request | Replay, at: 0 | 1): Request | undefined {
  if (!('link' in ask)) {
    const names = namesOf(trace, caller)[at];
    const path = withNames(ask.path, names);
    return ask.body === undefined ? { ...ask, path } : { ...ask, path, body: bodyWithNames(ask.body, names) };
  }
  const { links } = trace;
  const link = links[ask.link % Math.max(1, links.length)]?.[at];
  if (link === undefined) return undefined;
  if (ask.way === 'replay') return { way: ask.way, method: 'GET', path: link, headers: {} };
  const { pathname, searchParams } = new URL(link);
  const path = ask.paths[kindOf(pathname)];
  const name = searchParams.has('since') ? 'since' : '_cursor';
  const text = `${path}${path.includes('?') ? '&' : '?'}${name}=${searchParams.get(name) ?? 'none'}`;
  return { way: ask.way, method: 'GET', path: text, headers: {} };
}

/** What was given to one caller is not for another, but for ids that were made. */
function namesOf(
  { pair, names, made }: Trace,
  caller: CallerName,
): readonly [Map<string, string>, Map<string, string>] {
  const known = names.get(caller) ?? [new Map(pair[0].names), new Map(pair[1].names)];
  names.set(caller, known);
  if (made !== undefined) for (const at of [0, 1] as const) known[at].set('made', made[at]);
  return known;
}

function kindOf(path: string): LinkKind {
  if (path.endsWith('/$changes')) return 'changes';
  if (path.endsWith('/$everything')) return 'everything';
  return /\/(v2\/?|\*)$/.test(path) ? 'system' : 'search';
}

/** Whether the caller does not ask for this: the answer would differ each time. */
function isLeft(caller: CallerName, { path, body }: Request): boolean {
  const text = `${path} ${JSON.stringify(body ?? '')}`;
  return callerKinds[caller].leaves?.some((type) => text.includes(type)) === true;
}

/** Searches, and operations that change nothing: a $document may be stored. */
const safePost =
  /(\/_search|\$(changes|effective-access|everything|expand|find|lastn|lookup|meta|reconciliation|status|validate|validate-code|write-outcome))$/;

function isSafe({ method, path }: Request): boolean {
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && safePost.test(path));
}

async function sent(
  requests: readonly [Request, Request],
  by: (at: 0 | 1) => Caller,
): Promise<readonly [Answer, Answer]> {
  return await Promise.all([send(by(0), requests[0]), send(by(1), requests[1])]);
}

/** A page link is asked for as it is; any other path, at the caller's own firm. */
async function send(caller: Caller, { method, path, body, headers }: Request): Promise<Answer> {
  const encoded = path.replaceAll(' ', '%20');
  if (body === undefined && method === 'GET') return await caller.get(encoded, headers);
  return await caller.send(method, encoded, body, headers);
}

function count(tally: Tally, plot: PlotKind, caller: string, way: string, { status }: Answer): void {
  const more = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1);
  tally.requests += 1;
  more(tally.ways, way);
  more(tally.callers, caller);
  more(tally.plots, `${plot.group} ${plot.secret}`);
  more(tally.statuses, String(status));
}

/** @throws Error for a difference */
function compared(
  tally: Tally,
  { pair, seen }: Trace,
  caller: CallerName,
  requests: readonly [Request, Request],
  answers: readonly [Answer, Answer],
): void {
  const [one, other] = both((at) => steady(pair[at].world.service.origin, seen[at], answers[at]));
  const shown = `${caller}: ${requests[0].method} ${requests[0].path}`;
  if (one.status === 500) tally.faults.push(`${shown} ${JSON.stringify(requests[0].body ?? '')}`);
  const found = difference(one, other);
  if (found !== undefined) throw new Error(`${shown}: ${found}`);
}

/** Remembers what both were given to name. */
function noteNames(trace: Trace, caller: CallerName, answers: readonly [Answer, Answer]): void {
  const [one, other] = both((at) => namesIn(answers[at].headers.get('location'), answers[at].text));
  if (one.length === 0 || one.length !== other.length) return;
  const known = namesOf(trace, caller);
  for (const [name, value] of one) known[0].set(name, value);
  for (const [name, value] of other) known[1].set(name, value);
  const made = both((at) => known[at].get('made'));
  if (made[0] !== undefined && made[1] !== undefined) trace.made = [made[0], made[1]];
}

/** Lets work that a change begins come to its end. */
async function noteChange(trace: Trace, request: Request): Promise<void> {
  trace.isChanged = true;
  // The change feed tells of it once transactions that began before have ended, those of other plots, too.
  await Promise.all(trace.pair.map(({ world }) => untilTold(world.service.database.owner)));
  if (!JSON.stringify([request.path, request.body ?? '']).includes('SearchParameter')) return;
  await Promise.all(trace.pair.map(({ world }) => world.service.service.jobs.settle()));
}

function linkOf({ json }: Answer, relation: string): string | undefined {
  return json?.link?.find?.((link: { relation?: string }) => link.relation === relation)?.url;
}

function noteLinks(trace: Trace, answers: readonly [Answer, Answer]): void {
  for (const relation of ['next', 'previous', 'last']) {
    const [one, other] = both((at) => linkOf(answers[at], relation));
    if (one !== undefined && other !== undefined) trace.links.push([one, other]);
  }
}

const entitledLinks = new WeakMap<PlotPair, readonly (readonly [string, string])[]>();

/** Page links of those who see the secret, whose cursors hold it. */
const searchesOfEntitled = [
  'Patient?_sort=identifier&_count=1',
  'Patient?_sort=address-city&_count=1',
  'Patient?_count=1',
  'ServiceRequest?_sort=authored&_count=1',
  'Task?_sort=identifier&_count=1',
  'Task?_count=1',
  'Appointment?_sort=identifier&_count=1',
  'DocumentReference?_sort=identifier&_count=1',
  '_history?_count=1',
  '?_type=Patient&_sort=identifier&_count=1',
  'Patient/stone/*?_count=2',
  'Patient/stone/$everything?_count=2',
  '$changes?_count=5',
];

async function linksOfEntitled(pair: PlotPair): Promise<readonly (readonly [string, string])[]> {
  const known = entitledLinks.get(pair);
  if (known !== undefined) return known;
  const links: (readonly [string, string])[] = [];
  for (const path of searchesOfEntitled) {
    const [one, other] = await Promise.all(pair.map(({ entitled }) => entitled.get(path)));
    const urls = [one, other].map((answer) => answer && linkOf(answer, 'next'));
    if (urls[0] !== undefined && urls[1] !== undefined) links.push([urls[0], urls[1]]);
  }
  entitledLinks.set(pair, links);
  return links;
}

/** The same request by those who may see the secret: a hunt in which they are told the same could find nothing. */
async function askEntitled(
  tally: Tally,
  plot: PlotKind,
  trace: Trace,
  requests: readonly [Request, Request],
): Promise<void> {
  const answers = await sent(requests, (at) => trace.pair[at].entitled);
  const [one, other] = both((at) => steady(trace.pair[at].world.service.origin, new Map(), answers[at]));
  const key = `${plot.group} ${plot.secret}`;
  const known = tally.entitled.get(key) ?? { asked: 0, differed: 0 };
  known.asked += 1;
  if (difference(one, other) !== undefined) known.differed += 1;
  tally.entitled.set(key, known);
}
