/**
 * Random requests, legal and illegal, over all routes of a firm: what one caller sends in one step of the leak hunt.
 */
import fc, { type Arbitrary } from 'fast-check';
import { operations } from '../../../src/practice/features.ts';
import { type CallerName, callerKinds, callersAt } from './callers.ts';
import { type Focus, focusOf } from './focus.ts';
import { operationOf, operationWay } from './operation-grammar.ts';
import { type Group, isPractice, type PlotKind, plotKinds } from './planted.ts';
import { practiceRequests, practiceWays } from './practice-grammar.ts';
import type { Request } from './request.ts';
import { type Pair, type SearchGrammar, searchGrammar } from './search-grammar.ts';
import { type Vocabulary, vocabularyOf } from './vocabulary.ts';
import { type WriteRequest, writeGrammar } from './write-grammar.ts';

/** Follows a page link that was given to anybody before, or puts its cursor into a search of the caller's own. */
export interface Replay {
  readonly way: 'replay' | 'graft';
  /** Which of the links there are then. */
  readonly link: number;
  /** What takes the cursor, by what the link is of. */
  readonly paths: Readonly<Record<LinkKind, string>>;
}

/** What a page link is of: a search of one type or of several, the record of a patient, the change feed. */
export type LinkKind = 'search' | 'system' | 'everything' | 'changes';

export interface Step {
  readonly caller: CallerName;
  readonly ask: Request | Replay;
}

/** What is asked at one pair of plots, one request after another. */
export interface Campaign {
  readonly plot: PlotKind;
  readonly steps: readonly Step[];
}

const linksMax = 1_000;

/** Where requests are sent, by whom, and how; what is absent: everywhere, by all, by all ways. */
export interface Aim {
  readonly kinds?: readonly PlotKind[] | undefined;
  readonly by?: readonly CallerName[] | undefined;
  readonly ways?: readonly string[] | undefined;
}

/** Campaigns of at most so many steps. */
export function campaigns(stepsMax: number, { kinds = plotKinds, by, ways }: Aim = {}): Arbitrary<Campaign> {
  // Few callers ask much where another firm hides, or in the practice's work: half as many campaigns are enough.
  const isNarrow = (group: Group): boolean => group === 'elsewhere' || isPractice(group);
  const weighted = kinds.map((kind) => ({ arbitrary: fc.constant(kind), weight: isNarrow(kind.group) ? 1 : 2 }));
  return fc.oneof(...weighted).chain((plot) => {
    const step = stepAt(plot, by, ways).filter(({ ask }) => ways === undefined || ways.includes(ask.way));
    return fc.record({
      plot: fc.constant(plot),
      steps: fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' }),
    });
  });
}

const asksOf = new Map<string, Arbitrary<Request | Replay>>();

type Ask = Arbitrary<Request | Replay>;

function stepAt(kind: PlotKind, by: Aim['by'], ways: Aim['ways']): Arbitrary<Step> {
  const names = callersAt(kind).filter((name) => by === undefined || by.includes(name));
  return fc.oneof(
    ...names.map((name) => ({
      arbitrary: fc.record({ caller: fc.constant(name), ask: askBy(name, kind.group, ways) }),
      // Those who are refused everywhere ask less often.
      weight: callerKinds[name].authorised === 'none' ? 1 : 12,
    })),
  );
}

/** What a caller asks at plots of a group. */
function askBy(name: CallerName, group: Group, ways: readonly string[] | undefined): Ask {
  const key = JSON.stringify([name, group, ways]);
  const known = asksOf.get(key) ?? madeAsk(name, group, ways);
  asksOf.set(key, known);
  return known;
}

/** What requests are made of. */
interface Grammar {
  readonly words: Vocabulary;
  readonly focus: Focus;
  readonly grammar: SearchGrammar;
  readonly write: Arbitrary<Request>;
}

const grammars = new Map<string, Grammar>();
const vocabularies = new Map<Group, Vocabulary>();

function grammarOf(name: CallerName, group: Group): Grammar {
  const key = JSON.stringify([name, group]);
  const known = grammars.get(key) ?? madeGrammar(name, group);
  grammars.set(key, known);
  return known;
}

function madeGrammar(name: CallerName, group: Group): Grammar {
  const words = vocabularies.get(group) ?? vocabularyOf(group);
  vocabularies.set(group, words);
  const focus = focusOf(name, words);
  const grammar = searchGrammar(words, focus);
  return { words, focus, grammar, write: writeGrammar(words, focus, grammar).map(asRequest) };
}

/** @param ways what is wanted: at least families of ways with none of these are left out */
function madeAsk(name: CallerName, group: Group, ways: readonly string[] | undefined): Ask {
  const { words, focus, grammar, write } = grammarOf(name, group);
  const ask = (of: Arbitrary<Request>): Arbitrary<Request> => fc.tuple(of, headers).map(withHeaders);
  const served = operations.filter((each) => ways === undefined || ways.includes(operationWay(each)));
  const families: { readonly of: RegExp; readonly arbitrary: () => Ask; readonly weight: number }[] = [
    { of: /^search/, arbitrary: () => ask(searchOf(grammar)), weight: focus.searched.length > 0 ? 18 : 2 },
    { of: /^v?read$/, arbitrary: () => ask(readOf(grammar)), weight: 5 },
    { of: /^history/, arbitrary: () => ask(historyOf(grammar)), weight: 2 },
    { of: /^operation/, arbitrary: () => ask(operationOf(words, grammar, served)), weight: 4 },
    { of: /^(other|metadata)$/, arbitrary: () => ask(otherOf(grammar)), weight: 1 },
    { of: /^(replay|graft)$/, arbitrary: () => replayOf(focus), weight: 2 },
    {
      of: /^(bundle|conditional|create|update|patch|delete|broken|with)/,
      arbitrary: () => ask(fc.tuple(write, keys).map(withKey)),
      weight: focus.written.length > 0 ? 8 : 1,
    },
  ];
  // What such applications send has the larger share of what they send.
  if (isPractice(group))
    families.push({ of: practiceWays[group], arbitrary: () => ask(practiceRequests(group)), weight: 30 });
  const wanted = families.filter(({ of }) => ways === undefined || ways.some((way) => of.test(way)));
  return fc.oneof(...wanted.map(({ arbitrary, weight }) => ({ arbitrary: arbitrary(), weight })));
}

function replayOf(focus: Focus): Arbitrary<Replay> {
  const sorted = focus.searched.length === 0 ? ['Patient'] : focus.searched;
  const listed = fc
    .constantFrom(...sorted)
    .chain((type) => fc.constantFrom(...focus.usable(type), '').map((code) => [type, code] as const));
  return fc.record({
    way: fc.constantFrom('replay' as const, 'graft' as const),
    link: fc.nat({ max: linksMax }),
    paths: fc.tuple(listed, fc.nat({ max: 3 })).map(([[type, code], at]) => ({
      search: `${type}?_sort=${code}`,
      system: at === 0 ? `${type}/stone/*?_count=2` : `?_type=${type}&_sort=${code}`,
      everything: `${at % 2 === 0 ? 'Patient/stone' : 'Encounter/visit'}/$everything?_count=2`,
      changes: at === 0 ? `$changes?_type=${type}` : '$changes',
    })),
  });
}

/** Those of others, and some of the caller's own. */
const keys = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 7 },
  { arbitrary: fc.constantFrom('"alpha"', '"bravo"', '"own"', 'alpha'), weight: 1 },
);

function withKey([request, key]: readonly [Request, string | undefined]): Request {
  if (key === undefined) return request;
  return { ...request, way: 'with a key', headers: { ...request.headers, 'idempotency-key': key } };
}

function asRequest({ ifNoneExist, ...request }: WriteRequest): Request {
  const headers: Record<string, string> = ifNoneExist === undefined ? {} : { 'if-none-exist': ifNoneExist };
  return { ...request, headers: { ...request.headers, ...headers } };
}

const headers: Arbitrary<Readonly<Record<string, string>>> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 12 },
  {
    arbitrary: fc
      .constantFrom('return=minimal', 'return=representation', 'return=OperationOutcome', 'handling=lenient', 'x=')
      .map((prefer) => ({ prefer })),
    weight: 3,
  },
  {
    arbitrary: fc
      .constantFrom(
        'application/fhir+xml',
        'application/fhir+ndjson',
        'application/fhir+ndjson',
        'text/plain',
        '*/*;q=0.1',
      )
      .map((accept) => ({ accept })),
    weight: 2,
  },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('if-match', 'if-none-match'), fc.constantFrom('W/"1"', 'W/"2"', '*', '1', 'W/"999"', 'x'))
      .map(([name, value]) => ({ [name]: value })),
    weight: 2,
  },
  {
    arbitrary: fc
      .constantFrom('Wed, 01 Jan 2020 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT', 'yesterday')
      .map((since) => ({ 'if-modified-since': since })),
    weight: 1,
  },
  { arbitrary: fc.constant({ 'content-flag': 'Pagination_optimization_disabled' }), weight: 1 },
);

function withHeaders([request, more]: readonly [Request, Readonly<Record<string, string>>]): Request {
  return { ...request, headers: { ...more, ...request.headers } };
}

function get(way: string, path: string): Request {
  return { way, method: 'GET', path, headers: {} };
}

function asked(path: string, pairs: readonly Pair[]): string {
  return pairs.length === 0 ? path : `${path}?${queryOf(pairs)}`;
}

export function queryOf(pairs: readonly Pair[]): string {
  return new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString();
}

/** What a search asks by: for the report. */
function wayOf(pairs: readonly Pair[]): string {
  const names = pairs.map(([name]) => name);
  const has = (test: RegExp): boolean => names.some((name) => test.test(name));
  if (has(/^_has:/)) return 'search _has';
  if (has(/^[^_].*\./)) return 'search chain';
  if (has(/^_filter$/)) return 'search _filter';
  if (has(/^_list$/)) return 'search _list';
  if (has(/^_(rev)?include/)) return 'search include';
  if (has(/^_sort$/)) return 'search _sort';
  return has(/^[^_].*:/) ? 'search modifier' : 'search';
}

function searchOf(grammar: SearchGrammar): Arbitrary<Request> {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return grammar.type.chain((type) =>
    fc
      .tuple(grammar.search(type), fc.nat({ max: 19 }), grammar.name, grammar.type)
      .map(([pairs, how, name, other]): Request => {
        const way = wayOf(pairs);
        if (how === 0) return { way, method: 'POST', path: `${type}/_search`, body: queryOf(pairs), headers: form };
        if (how === 1) return get('search compartment', asked(`${name}/${type}`, pairs));
        if (how === 2) return get('search compartment', asked(`${name}/*`, pairs));
        if (how === 3) return get('search system', asked('', [['_type', `${type},${other}`], ...pairs]));
        if (how === 4) return get('search system', asked('', pairs));
        if (how === 5) return { ...get(way, asked(type, pairs)), method: 'HEAD' };
        return get(way, asked(type, pairs));
      }),
  );
}

function readOf(grammar: SearchGrammar): Arbitrary<Request> {
  const named = fc.oneof(
    { arbitrary: grammar.name, weight: 8 },
    { arbitrary: fc.constantFrom('Patient/{made}', 'ServiceRequest/{made}', 'Encounter/{made}'), weight: 1 },
  );
  const shown = fc.constantFrom<Pair[][]>(
    [],
    [],
    [['_elements', 'identifier']],
    [['_summary', 'true']],
    [['_pretty', 'true']],
  );
  const version = fc.constantFrom('1', '2', '3', '0', 'x');
  return fc.tuple(named, shown, version, fc.nat({ max: 5 })).map(([name, pairs, vid, how]) => {
    if (how === 0) return get('vread', asked(`${name}/_history/${vid}`, pairs));
    if (how === 1) return { ...get('read', asked(name, pairs)), method: 'HEAD' };
    return get('read', asked(name, pairs));
  });
}

function historyOf(grammar: SearchGrammar): Arbitrary<Request> {
  const place = fc.oneof(
    { arbitrary: grammar.name.map((name) => ['history-instance', name] as const), weight: 3 },
    { arbitrary: grammar.type.map((type) => ['history-type', type] as const), weight: 2 },
    { arbitrary: fc.constant(['history-system', ''] as const), weight: 1 },
  );
  const pair = fc.constantFrom<Pair[]>(
    ['_count', '1'],
    ['_count', '2'],
    ['_since', '2020-01-01T00:00:00Z'],
    ['_since', '2027-01-01T00:00:00Z'],
    ['_at', '2026-11-21'],
    ['_summary', 'true'],
    ['_elements', 'id'],
    ['_before', '2'],
    ['_cursor', 'x'],
  );
  return fc.tuple(place, fc.array(pair, { maxLength: 2 })).map(([[way, at], pairs]) => {
    return get(way, asked(at === '' ? '_history' : `${at}/_history`, pairs));
  });
}

function otherOf(grammar: SearchGrammar): Arbitrary<Request> {
  const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
  const paths = fc.oneof(
    fc.constantFrom('.well-known/smart-configuration', '$nothing', 'Nothing', 'Patient/%2e%2e/x', ''),
    grammar.name.map((name) => `${name}/nothing`),
    grammar.name.map((name) => `${name}/_history/1/_history`),
    grammar.type.map((type) => `${type}/$nothing`),
  );
  const other = fc.tuple(methods, paths).map(([method, path]) => ({ way: 'other', method, path, headers: {} }));
  return fc.oneof({ arbitrary: other, weight: 6 }, { arbitrary: fc.constant(get('metadata', 'metadata')), weight: 1 });
}
