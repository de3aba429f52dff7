/**
 * Random requests, legal and illegal, over all routes of a firm: what one caller sends in one step of the leak hunt.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import fc, { type Arbitrary } from 'fast-check';
import { operations } from '../../../src/operations/list.ts';
import type { Operation, OperationLevel } from '../../../src/operations/operation.ts';
import { type CallerName, callerKinds, callersAt } from './callers.ts';
import { focusOf } from './focus.ts';
import { type Group, type PlotKind, plotKinds } from './planted.ts';
import { oftenFrom, type Pair, type SearchGrammar, searchGrammar } from './search-grammar.ts';
import { vocabularyOf } from './vocabulary.ts';
import { type WriteRequest, writeGrammar } from './write-grammar.ts';

export interface Request {
  /** For the report. */
  readonly way: string;
  readonly method: string;
  /** Below the FHIR base; `{made}` in it stands for the id that was made last. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Follows a page link that was given to anybody before, or puts its cursor into a search of the caller's own. */
export interface Replay {
  readonly way: 'replay' | 'graft';
  /** Which of the links there are then. */
  readonly link: number;
  /** The search that takes the cursor. */
  readonly path: string;
}

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

/** Campaigns of at most so many steps, at plots of the given kinds, by the given ways. */
export function campaigns(
  stepsMax: number,
  kinds: readonly PlotKind[] = plotKinds,
  ways?: readonly string[],
): Arbitrary<Campaign> {
  // One caller alone asks much where another firm hides: half as many campaigns are enough.
  const weighted = kinds.map((kind) => ({ arbitrary: fc.constant(kind), weight: kind.group === 'elsewhere' ? 1 : 2 }));
  return fc.oneof(...weighted).chain((plot) => {
    const step = ways === undefined ? stepAt(plot) : stepAt(plot).filter(({ ask }) => ways.includes(ask.way));
    return fc.record({
      plot: fc.constant(plot),
      steps: fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' }),
    });
  });
}

const asksOf = new Map<string, Arbitrary<Request | Replay>>();

function stepAt(kind: PlotKind): Arbitrary<Step> {
  const names = callersAt(kind);
  return fc.oneof(
    ...names.map((name) => ({
      arbitrary: fc.record({ caller: fc.constant(name), ask: askBy(name, kind.group) }),
      // Those who are refused everywhere ask less often.
      weight: callerKinds[name].authorised === 'none' ? 1 : 12,
    })),
  );
}

/** What a caller asks at plots of a group. */
function askBy(name: CallerName, group: Group): Arbitrary<Request | Replay> {
  const key = `${name} ${group}`;
  const known = asksOf.get(key) ?? madeAsk(name, group);
  asksOf.set(key, known);
  return known;
}

function madeAsk(name: CallerName, group: Group): Arbitrary<Request | Replay> {
  const words = vocabularyOf(group);
  const focus = focusOf(name, words);
  const grammar = searchGrammar(words, focus);
  const write = writeGrammar(words, focus, grammar);
  const ask = (of: Arbitrary<Request>): Arbitrary<Request> => fc.tuple(of, headers).map(withHeaders);
  const sorted = focus.searched.length === 0 ? ['Patient'] : focus.searched;
  const listed = fc
    .constantFrom(...sorted)
    .chain((type) => fc.constantFrom(...focus.usable(type), '').map((code) => `${type}?_sort=${code}`));
  const replay = fc.record({
    way: fc.constantFrom('replay' as const, 'graft' as const),
    link: fc.nat({ max: linksMax }),
    path: listed,
  });
  return fc.oneof(
    { arbitrary: ask(searchOf(grammar)), weight: focus.searched.length > 0 ? 18 : 2 },
    { arbitrary: ask(readOf(grammar)), weight: 5 },
    { arbitrary: ask(historyOf(grammar)), weight: 2 },
    { arbitrary: ask(operationOf(grammar)), weight: 3 },
    { arbitrary: ask(otherOf(grammar)), weight: 1 },
    { arbitrary: replay, weight: 2 },
    { arbitrary: ask(write.map(asRequest)), weight: focus.written.length > 0 ? 8 : 1 },
  );
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

/** Every operation, at every level, with in-parameters that it declares and others. */
function operationOf(grammar: SearchGrammar): Arbitrary<Request> {
  return fc.constantFrom(...operations).chain((operation) =>
    fc
      .tuple(
        fc.constantFrom<OperationLevel[]>(...operation.levels, 'type', 'instance'),
        typeOf(operation, grammar),
        grammar.id,
        fc.array(inputOf(operation, grammar), { maxLength: 3 }),
        fc.boolean(),
      )
      .map(([level, type, id, pairs, isGet]): Request => {
        const at = level === 'system' ? '' : level === 'type' ? `${type}/` : `${type}/${id}/`;
        const way = `operation $${operation.name}`;
        if (isGet && !operation.affectsState) return get(way, asked(`${at}$${operation.name}`, pairs));
        const parameter = pairs.map(([name, value]) => ({ name, valueString: value }));
        const meta = { name: 'meta', valueMeta: { tag: [{ code: 'x' }] } };
        const body = { resourceType: 'Parameters', parameter: operation.affectsState ? [meta] : parameter };
        return { way, method: 'POST', path: `${at}$${operation.name}`, body, headers: {} };
      }),
  );
}

function typeOf({ types }: Operation, { type }: SearchGrammar): Arbitrary<string> {
  return types === 'all' ? type : oftenFrom(types, resourceTypesWithEndpoint);
}

const inputs: Readonly<Record<string, readonly string[]>> = {
  mode: ['create', 'update', 'delete', 'x'],
  url: ['http://example.org/set', 'http://example.org/system', 'http://example.org/none'],
  system: ['http://example.org/system'],
  id: ['note', 'none'],
  profile: ['http://example.org/profile'],
  _type: ['Patient,Observation', 'ServiceRequest'],
  _wait: ['0'],
  since: ['2020-01-01', '2026-11-21T09:30:00Z'],
};

/** A parameter of the operation, or one of a search. */
function inputOf({ parameters, types, further }: Operation, grammar: SearchGrammar): Arbitrary<Pair> {
  const names = parameters.filter(({ use }) => use === 'in').map(({ name }) => name);
  const type = types === 'all' ? 'Patient' : (types[0] ?? 'Patient');
  const declared = fc
    .constantFrom(...names, '_count')
    .chain((name) =>
      fc
        .oneof(grammar.word, fc.constantFrom(...(inputs[name] ?? ['1', '2026-01-01'])))
        .map((value): Pair => [name, value]),
    );
  const subject = fc.constantFrom<Pair[]>(
    ['patient', 'stone'],
    ['subject', 'Patient/marble'],
    ['category', 'vital-signs'],
    ['code', 'alpha'],
  );
  if (further === undefined) return declared;
  return fc.oneof(subject, subject, declared, grammar.criterion(type));
}

function otherOf(grammar: SearchGrammar): Arbitrary<Request> {
  const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
  const paths = fc.oneof(
    fc.constantFrom('metadata', '.well-known/smart-configuration', '$nothing', 'Nothing', 'Patient/%2e%2e/x', ''),
    grammar.name.map((name) => `${name}/nothing`),
    grammar.name.map((name) => `${name}/_history/1/_history`),
    grammar.type.map((type) => `${type}/$nothing`),
  );
  return fc.tuple(methods, paths).map(([method, path]) => ({ way: 'other', method, path, headers: {} }));
}
