/**
 * Random searches: every parameter, modifier and result parameter of the registries, chains and `_has` of any depth, `_filter`
 * expressions, includes and sorts. Most are about what is planted; some are about anything, or no search at all.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import fc, { type Arbitrary } from 'fast-check';
import { listReferenceParameters } from '../../../src/search/includes/include.ts';
import type { Parameter } from '../../../src/search/kinds/kind.ts';
import { getStandardParameters } from '../../../src/search/parameters.ts';
import type { Focus } from './focus.ts';
import type { Link, Vocabulary } from './vocabulary.ts';

export type Pair = readonly [name: string, value: string];

export interface SearchGrammar {
  /** Mostly one of the planted types. */
  readonly type: Arbitrary<string>;
  readonly id: Arbitrary<string>;
  /** `Type/id`, mostly planted. */
  readonly name: Arbitrary<string>;
  readonly word: Arbitrary<string>;
  /** One criterion on a type. */
  criterion(type: string): Arbitrary<Pair>;
  /** A whole search on a type. */
  search(type: string): Arbitrary<readonly Pair[]>;
  readonly resultParameter: (type: string) => Arbitrary<Pair>;
}

/** Links of a chain at most: one more than the service follows. */
const linksMax = 6;
const noise = [
  '',
  '%',
  'x',
  '|',
  '\\',
  '$',
  ',',
  'a'.repeat(300),
  "' OR 1=1",
  'Patient/',
  '../..',
  'null',
  '0',
  'ä\u0301',
];
/** Operators of `_filter` by kind of parameter. */
const ordered = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'ap', 'pr'];
const operatorsOf: Readonly<Record<string, readonly string[]>> = {
  string: ['eq', 'ne', 'co', 'sw', 'ew', 'pr'],
  token: ['eq', 'ne', 'pr', 'ss', 'sb'],
  uri: ['eq', 'ne', 'pr', 'ss', 'sb'],
  reference: ['eq', 'ne', 'pr', 're'],
  number: ordered,
  quantity: ordered,
  date: [...ordered, 'sa', 'eb', 'po'],
};
const everyOperator = [...new Set(Object.values(operatorsOf).flat())];

/** What searches are about: what is planted, and within it what the caller may use. */
interface Ground extends Vocabulary {
  readonly focus: Focus;
}

/** @param focus what most searches keep to */
export function searchGrammar(vocabulary: Vocabulary, focus: Focus): SearchGrammar {
  const words: Ground = { ...vocabulary, focus };
  const anyType = oftenFrom(words.types, resourceTypesWithEndpoint);
  const type = mostly(focus.searched, anyType);
  const word = fc.oneof(
    { arbitrary: fc.constantFrom(...words.words), weight: 6 },
    { arbitrary: fc.constantFrom(...words.words.map((each) => `${each}x`)), weight: 1 },
    { arbitrary: fc.constantFrom(...noise), weight: 1 },
  );
  const ofTypes = (types: readonly string[]): readonly string[] =>
    words.names.filter((each) => types.includes(each.split('/')[0] ?? ''));
  const anyName = oftenFrom(words.names, ['Patient/ALPHA', 'Nothing/alpha', 'alpha']);
  const name = fc.oneof(fc.constantFrom(...ofTypes([words.about])), mostly(ofTypes(focus.seen), anyName));
  const id = name.map((each) => each.split('/').at(-1) ?? '');
  const memo = new Map<string, Arbitrary<Pair>>();
  const criterion = (of: string): Arbitrary<Pair> => {
    const known = memo.get(of) ?? fc.oneof(...criteriaOf(words, of, word, name));
    memo.set(of, known);
    return known;
  };
  const resultParameter = resultParameters(words, word);
  const searches = new Map<string, Arbitrary<readonly Pair[]>>();
  return {
    type,
    id,
    name,
    word,
    criterion,
    resultParameter,
    search: (of) => {
      const known = searches.get(of) ?? searchOn(words, of, word, criterion(of), resultParameter(of));
      searches.set(of, known);
      return known;
    },
  };
}

/** Every way to ask has its share: of what is asked at once the most telling part would else be rare. */
function searchOn(
  words: Ground,
  type: string,
  word: Arbitrary<string>,
  criterion: Arbitrary<Pair>,
  resultParameter: Arbitrary<Pair>,
): Arbitrary<readonly Pair[]> {
  const led = (direction: 'forward' | 'backward'): Arbitrary<Pair> =>
    pathOn(words, type, 0, direction).chain(({ text, end, code }) => valued(words, text, end, code, word));
  const pages = pairFrom('_count', '1', '1', '2');
  const narrow = fc.oneof(criterion, pages, pairFrom('_id', 'stone', 'marble', 'visit', 'report'));
  const filter = filterOn(words, type, word, 2).map((text): Pair => ['_filter', text]);
  const some = fc.tuple(few(criterion), few(resultParameter)).map((parts) => parts.flat());
  const beside = (one: Arbitrary<Pair>, other: Arbitrary<readonly Pair[]>): Arbitrary<readonly Pair[]> =>
    fc.tuple(one, other).map(([first, more]) => [first, ...more]);
  const rarely = few(resultParameter).map((pairs) => pairs.slice(0, 1));
  const none = fc.constant<readonly Pair[]>([]);
  const totals = pairFrom('_total', 'accurate', 'estimate');
  return fc.oneof(
    { arbitrary: some, weight: 3 },
    { arbitrary: beside(plain(words, type, word), none), weight: 3 },
    { arbitrary: beside(resolved(words, type, word), none), weight: 1 },
    { arbitrary: beside(led('forward'), rarely), weight: 2 },
    { arbitrary: beside(led('backward'), rarely), weight: 2 },
    { arbitrary: beside(filter, rarely), weight: 2 },
    { arbitrary: beside(sortOf(words, type), fc.oneof(none, none, some)), weight: 3 },
    { arbitrary: fc.tuple(includeOf(words, type), narrow), weight: 3 },
    { arbitrary: fc.tuple(includeOf(words, type), iterated(words)), weight: 1 },
    { arbitrary: fc.tuple(pages, totals), weight: 1 },
    { arbitrary: fc.tuple(criterion, pages, totals), weight: 1 },
  );
}

/** None, one or two; mostly one. */
function few(one: Arbitrary<Pair>): Arbitrary<readonly Pair[]> {
  return fc.oneof(
    { arbitrary: fc.constant([]), weight: 3 },
    { arbitrary: one.map((each) => [each]), weight: 5 },
    { arbitrary: fc.tuple(one, one), weight: 2 },
  );
}

/** Mostly one of `often`, if there are any. */
export function mostly<T>(often: readonly T[], other: Arbitrary<T>): Arbitrary<T> {
  if (often.length === 0) return other;
  return fc.oneof({ arbitrary: fc.constantFrom(...often), weight: 5 }, { arbitrary: other, weight: 1 });
}

/** Mostly of the first. */
export function oftenFrom(many: readonly string[], few: readonly string[]): Arbitrary<string> {
  return fc.oneof(
    { arbitrary: fc.constantFrom(...many), weight: 12 },
    { arbitrary: fc.constantFrom(...few), weight: 1 },
  );
}

type Weighted = { readonly arbitrary: Arbitrary<Pair>; readonly weight: number };

function criteriaOf(words: Ground, type: string, word: Arbitrary<string>, name: Arbitrary<string>): Weighted[] {
  const path = pathOn(words, type, 0);
  const listed = fc.constantFrom('chosen', 'orders', 'none', '$current-problems');
  return [
    { arbitrary: plain(words, type, word), weight: 8 },
    { arbitrary: path.chain(({ text, end, code }) => valued(words, text, end, code, word)), weight: 6 },
    { arbitrary: listed.map((value): Pair => ['_list', value]), weight: 1 },
    { arbitrary: filterOn(words, type, word, 2).map((text): Pair => ['_filter', text]), weight: 3 },
    { arbitrary: fc.tuple(fc.constantFrom('_text', '_content'), word), weight: 1 },
    { arbitrary: name.map((value): Pair => ['_id', value.split('/').at(-1) ?? '']), weight: 1 },
    {
      arbitrary: fc.tuple(fc.constantFrom('_query', 'nothing', '_type', 'name:', '.', '_has:', 'a.b:c'), word),
      weight: 1,
    },
  ];
}

/** A parameter of the type itself, with a modifier or none. */
function plain(words: Ground, type: string, word: Arbitrary<string>): Arbitrary<Pair> {
  return codeOf(words, type).chain((code) =>
    modifierOf(type, code).chain((modifier) =>
      valued(words, `${code}${modifier === '' ? '' : `:${modifier}`}`, type, code, word, modifier),
    ),
  );
}

/** What is looked up elsewhere before the search: a value set, or a place in a hierarchy. */
function resolved(words: Ground, type: string, word: Arbitrary<string>): Arbitrary<Pair> {
  const asked = words.focus.usable(type).flatMap((code) => {
    const parameter = getStandardParameters(type).get(code);
    const known = new Set<string>(parameter?.kind.modifiers(parameter));
    return ['in', 'not-in', 'above', 'below'].filter((each) => known.has(each)).map((modifier) => ({ code, modifier }));
  });
  if (asked.length === 0) return plain(words, type, word);
  return fc
    .constantFrom(...asked)
    .chain(({ code, modifier }) => valued(words, `${code}:${modifier}`, type, code, word, modifier));
}

/** A code of the type: mostly one under which something is planted. */
function codeOf(words: Ground, type: string): Arbitrary<string> {
  const all = [...getStandardParameters(type).keys(), ...ownCodes];
  const planted = words.codes.get(type) ?? [];
  const usable = words.focus.usable(type);
  const hidden = planted.filter((code) => !usable.includes(code));
  const own = hidden.filter((code) => ownCodes.includes(code));
  const telling = planted.filter((code) => usable.includes(code));
  return fc.oneof(
    ...(telling.length > 0 ? [{ arbitrary: fc.constantFrom(...telling), weight: 5 }] : []),
    ...(hidden.length > 0 ? [{ arbitrary: fc.constantFrom(...hidden), weight: 5 }] : []),
    ...(own.length > 0 ? [{ arbitrary: fc.constantFrom(...own), weight: 2 }] : []),
    ...(usable.length > 0 ? [{ arbitrary: fc.constantFrom(...usable), weight: 1 }] : []),
    { arbitrary: fc.constantFrom(...all), weight: 1 },
  );
}

function modifierOf(type: string, code: string): Arbitrary<string> {
  const parameter = getStandardParameters(type).get(code);
  const known = parameter === undefined ? [] : [...parameter.kind.modifiers(parameter), 'missing'];
  return fc.oneof(
    { arbitrary: fc.constant(''), weight: 10 },
    { arbitrary: fc.constantFrom('missing', ...known), weight: 6 },
    { arbitrary: fc.constantFrom('exact', 'contains', 'not', 'in', 'Patient', 'x'), weight: 1 },
  );
}

function valued(
  words: Ground,
  name: string,
  type: string,
  code: string,
  word: Arbitrary<string>,
  modifier = '',
): Arbitrary<Pair> {
  return fc.array(valueFor(words, type, code, word, modifier), { minLength: 1, maxLength: 2 }).map((values) => {
    return [name, values.join(',')];
  });
}

/** Search parameters of the firms' own. */
const ownCodes = ['own-code', 'only-there'];
const setUrls = [
  ...['set', 'genders', 'open-set', 'taking', 'none'].map((id) => `http://example.org/${id}`),
  'http://hl7.org/fhir/ValueSet/request-status',
];
/** Places in hierarchies: of references, of codes, of URLs. */
const places = [
  ...['Location/ward', 'Location/room', 'ward', 'Organization/alpha', 'Organization/bravo', 'Encounter/visit'],
  ...['root', 'alpha'].map((code) => `http://example.org/system|${code}`),
  'http://example.org/open-system|root',
  'http://example.org',
];
const byModifier: Readonly<Record<string, readonly string[]>> = {
  missing: ['true', 'false', 'x'],
  in: setUrls,
  'not-in': setUrls,
  above: places,
  below: places,
  'of-type': ['alpha', 'bravo', 'amber'].map((value) => `http://terminology.hl7.org/CodeSystem/v2-0203|MR|${value}`),
  identifier: ['urn:example:mrn|alpha', 'urn:example:mrn|bravo', 'alpha'],
  contains: ['lph', 'rav', 'a'],
};
const byKind: Readonly<Record<string, readonly string[]>> = {
  date: ['2026', 'gt2000', 'le2026-01-15', 'ap1980-01-01', '2020-01-01', 'x'],
  number: ['gt0.5', 'lt0.5', '0.9', 'ap0.1'],
  quantity: ['gt100', 'lt100', '120||mmHg', '60'],
  uri: setUrls,
  composite: ['alpha$gt100', 'bravo$lt100', 'alpha$60'],
  special: ['10|10|100|km', '90|10|5|km'],
};

/** Mostly what is planted under the parameter. */
function valueFor(
  words: Ground,
  type: string,
  code: string,
  word: Arbitrary<string>,
  modifier: string,
): Arbitrary<string> {
  const parameter: Parameter | undefined = getStandardParameters(type).get(code);
  const planted = words.values.get(`${type}.${code}`) ?? [];
  const ofKind = parameter === undefined ? [] : (byKind[parameter.definition.type] ?? []);
  const ofModifier = byModifier[modifier] ?? [];
  return fc.oneof(
    { arbitrary: word, weight: ofKind.length > 0 ? 1 : 4 },
    ...(planted.length > 0 ? [{ arbitrary: fc.constantFrom(...planted), weight: 8 }] : []),
    ...(ofKind.length > 0 ? [{ arbitrary: fc.constantFrom(...ofKind), weight: 6 }] : []),
    ...(ofModifier.length > 0 ? [{ arbitrary: fc.constantFrom(...ofModifier), weight: 30 }] : []),
  );
}

interface Path {
  readonly text: string;
  /** The type and code that are asked for at its end. */
  readonly end: string;
  readonly code: string;
}

/** A chain or reverse chain from the type on, one link at least. */
function pathOn(
  words: Ground,
  type: string,
  links: number,
  direction: 'forward' | 'backward' | 'both' = 'both',
): Arbitrary<Path> {
  const forward = direction === 'backward' ? [] : (words.links.get(type) ?? []);
  const backward = direction === 'forward' ? [] : (words.reverse.get(type) ?? []);
  const { searched } = words.focus;
  const isAbout = ({ source }: Link): boolean => source === words.about && searched.includes(source);
  if (forward.length + backward.length === 0 || links >= linksMax) {
    return codeOf(words, type).map((code) => ({ text: code, end: type, code }));
  }
  const rest = (of: string): Arbitrary<Path> =>
    fc.nat({ max: 3 }).chain((more) => (more === 0 ? pathOn(words, of, links + 1) : pathOn(words, of, linksMax)));
  const steps: Arbitrary<Path>[] = [];
  if (forward.length > 0)
    steps.push(
      fc
        .tuple(
          linkTo(forward, ({ target }) => target === words.about),
          fc.boolean(),
        )
        .chain(([{ code, target }, isTyped]) =>
          rest(target).map((path) => ({ ...path, text: `${code}${isTyped ? `:${target}` : ''}.${path.text}` })),
        ),
    );
  if (backward.length > 0)
    steps.push(
      fc
        .oneof(
          linkTo(backward, ({ source }) => searched.includes(source)),
          linkTo(backward, isAbout),
        )
        .chain(({ source, code }) =>
          rest(source).map((path) => ({ ...path, text: `_has:${source}:${code}:${path.text}` })),
        ),
    );
  return fc.oneof(...steps);
}

/** As often one of those that tell as any. */
function linkTo(links: readonly Link[], tells: (link: Link) => boolean): Arbitrary<Link> {
  const open = links.filter(tells);
  return open.length === 0 ? fc.constantFrom(...links) : fc.oneof(fc.constantFrom(...open), fc.constantFrom(...links));
}

/** An expression of `_filter`, at most so deep. */
function filterOn(words: Ground, type: string, word: Arbitrary<string>, depth: number): Arbitrary<string> {
  const quoted = fc
    .tuple(word, fc.boolean())
    .map(([text, isQuoted]) => (isQuoted ? JSON.stringify(text) : text || 'x'));
  const path = fc.oneof(
    { arbitrary: codeOf(words, type).map((code): Path => ({ text: code, end: type, code })), weight: 1 },
    { arbitrary: pathOn(words, type, linksMax - 2), weight: 1 },
  );
  const compared = path.chain(({ text, end, code }) => {
    const kind = getStandardParameters(end).get(code)?.definition.type ?? '';
    const value = valueFor(words, end, code, word, '').map((each) => (/[\s()[\]"]/.test(each) ? 'x' : each || 'x'));
    return fc
      .tuple(mostly(operatorsOf[kind] ?? [], fc.constantFrom(...everyOperator)), fc.oneof(quoted, value, value))
      .map(([operator, given]) => `${text} ${operator} ${operator === 'pr' ? 'true' : given}`);
  });
  if (depth === 0) return compared;
  const inner = filterOn(words, type, word, depth - 1);
  const links = words.links.get(type) ?? [];
  return fc.oneof(
    { arbitrary: compared, weight: 4 },
    { arbitrary: inner.map((text) => `not (${text})`), weight: 2 },
    { arbitrary: fc.tuple(inner, fc.constantFrom('and', 'or'), inner).map((parts) => parts.join(' ')), weight: 2 },
    ...(links.length > 0 ? [{ arbitrary: bracketOn(words, links, word), weight: 1 }] : []),
  );
}

function bracketOn(
  words: Ground,
  links: readonly { readonly code: string; readonly target: string }[],
  word: Arbitrary<string>,
): Arbitrary<string> {
  return fc
    .constantFrom(...links)
    .chain(({ code, target }) =>
      fc
        .tuple(filterOn(words, target, word, 0), filterOn(words, target, word, 0))
        .map(([where, after]) => `${code}[${where}].${after}`),
    );
}

function resultParameters(words: Ground, word: Arbitrary<string>): (type: string) => Arbitrary<Pair> {
  const memo = new Map<string, Arbitrary<Pair>>();
  return (type) => {
    const known = memo.get(type) ?? resultParameterOf(words, type, word);
    memo.set(type, known);
    return known;
  };
}

function resultParameterOf(words: Ground, type: string, word: Arbitrary<string>): Arbitrary<Pair> {
  const from = pairFrom;
  const elements = fc
    .constantFrom('id', 'identifier', 'name', 'address', 'status', 'code', 'subject', 'link', 'meta', 'nothing')
    .map((value): Pair => ['_elements', value]);
  return fc.oneof(
    { arbitrary: sortOf(words, type), weight: 5 },
    { arbitrary: from('_count', '0', '1', '1', '1', '2', '2', '3', '50', '-1'), weight: 5 },
    { arbitrary: from('_total', 'accurate', 'estimate', 'accurate', 'estimate', 'none', 'all'), weight: 3 },
    { arbitrary: from('_summary', 'count', 'count', 'true', 'text', 'data', 'false', 'all'), weight: 2 },
    { arbitrary: elements, weight: 1 },
    { arbitrary: from('page', '1', '2', '2', '3', '0'), weight: 1 },
    { arbitrary: from('_format', 'xml', 'json', 'application/fhir+ndjson', 'turtle'), weight: 1 },
    { arbitrary: word.map((value): Pair => ['_cursor', value]), weight: 1 },
    { arbitrary: from('_pretty', 'true'), weight: 1 },
    { arbitrary: includeOf(words, type), weight: 4 },
  );
}

export function pairFrom(name: string, ...values: string[]): Arbitrary<Pair> {
  return fc.constantFrom(...values).map((value): Pair => [name, value]);
}

function sortOf(words: Ground, type: string): Arbitrary<Pair> {
  const key = fc.tuple(fc.constantFrom('', '', '-'), codeOf(words, type)).map((parts) => parts.join(''));
  return fc
    .oneof(
      key,
      key,
      key,
      fc.tuple(key, key).map((keys) => keys.join(',')),
    )
    .map((keys): Pair => ['_sort', keys]);
}

/** An include that goes on from what others have brought. */
function iterated(words: Ground): Arbitrary<Pair> {
  const { searched } = words.focus;
  const links = [...words.links.values()].flat().filter(({ source }) => searched.includes(source));
  const name = fc.constantFrom('_include:iterate', '_revinclude:iterate', '_revinclude:iterate');
  const value =
    links.length === 0 ? fc.constant('*') : fc.constantFrom(...links.map(({ source, code }) => `${source}:${code}`));
  return fc.tuple(name, value);
}

/** An include: all, all of a type, one parameter, one target. */
function includeOf(words: Ground, type: string): Arbitrary<Pair> {
  const name = fc.constantFrom('_include', '_revinclude', '_include:iterate', '_revinclude:iterate');
  const source = fc.oneof(
    fc.constant(type),
    mostly(words.focus.searched, oftenFrom(words.types, resourceTypesWithEndpoint)),
  );
  const value = source.chain((of) => {
    const codes = [...listReferenceParameters(of, []).map(({ code }) => code), ...ownCodes];
    const links = words.links.get(of) ?? [];
    return fc.oneof(
      { arbitrary: fc.constant('*'), weight: 2 },
      { arbitrary: fc.constant(`${of}:*`), weight: 1 },
      { arbitrary: fc.constantFrom(...codes).map((code) => `${of}:${code}`), weight: 1 },
      ...(links.length > 0
        ? [
            {
              arbitrary: fc
                .tuple(fc.constantFrom(...links), fc.boolean())
                .map(([{ code, target }, isTyped]) => `${of}:${code}${isTyped ? `:${target}` : ''}`),
              weight: 3,
            },
          ]
        : []),
    );
  });
  return fc.tuple(name, value);
}
