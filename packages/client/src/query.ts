/**
 * Searches as objects: what a type can be searched by comes from the definitions, so that a misspelt name does not compile.
 * https://hl7.org/fhir/R4/search.html
 */
import type { ResourceTypes } from './generated/resources.ts';
import type { CommonParameterKinds, ParameterKinds, To } from './generated/search-parameters.ts';
import { type OneOrMore, toList } from './resource.ts';

/** A type that can be searched: all but Parameters. */
export type SearchableType = keyof ParameterKinds;

/** A value as FHIR writes it: `ge1990-01-01`, `http://loinc.org|8480-6`, `smith,stone`. */
export type SearchValue = string | number | boolean;

type Kinds<T extends SearchableType> = ParameterKinds[T];
type NameOf<T extends SearchableType> = keyof Kinds<T> & string;

/** The names of the references among the parameters of a type. */
type ReferenceName<T extends SearchableType> = {
  [P in NameOf<T>]: Kinds<T>[P] extends To<string> ? P : never;
}[NameOf<T>];

type TargetOf<K> = K extends To<infer Target> ? Target & SearchableType : never;

type IsOne<T, All = T> = [T] extends [never] ? false : T extends unknown ? ([All] extends [T] ? true : false) : never;

/** What is searched for in the resource that a reference leads to; where that may be of several types, under its type. */
type Chain<Targets extends SearchableType> =
  IsOne<Targets> extends true ? Filter<Targets> : { readonly [Target in Targets]?: Filter<Target> };

type ValueOf<K> = OneOrMore<SearchValue> | (K extends To<string> ? Chain<TargetOf<K>> : never);

interface ModifiersByKind {
  readonly string: 'exact' | 'contains';
  readonly token: 'not' | 'text' | 'in' | 'not-in' | 'above' | 'below' | 'of-type';
  readonly uri: 'above' | 'below';
}

type ModifierOf<K> = K extends keyof ModifiersByKind
  ? ModifiersByKind[K]
  : K extends To<string>
    ? 'identifier' | 'above' | 'below' | TargetOf<K>
    : never;

/** The conditions of a search: all must hold. */
export type Filter<T extends SearchableType> = {
  readonly [P in NameOf<T>]?: ValueOf<Kinds<T>[P]>;
} & {
  readonly [P in NameOf<T> as `${P}:${ModifierOf<Kinds<T>[P]>}`]?: OneOrMore<SearchValue>;
} & {
  readonly [P in NameOf<T> as `${P}:missing`]?: boolean;
} & {
  /** Resources that others refer to: `{ Observation: { patient: { code: '8480-6' } } }`. */
  readonly _has?: OneOrMore<{
    readonly [Other in SearchableType]?: { readonly [P in ReferenceName<Other>]?: Filter<Other> };
  }>;
  /** The members of a List. */
  readonly _list?: string;
};

type IncludeOf<T extends SearchableType> = T extends unknown
  ? `${T}:${ReferenceName<T>}` | `${T}:${ReferenceName<T>}:${SearchableType}`
  : never;

/** A reference of any type, such as `Observation:patient`. */
export type AnyInclude = {
  [T in SearchableType]: `${T}:${ReferenceName<T>}`;
}[SearchableType];

type SortName<T extends SearchableType> = NameOf<T> | (keyof CommonParameterKinds & string);

/** How the answer looks. */
interface ResultParameters<T extends SearchableType> {
  /** Rows of a page; each type has a maximum. */
  readonly _count?: number;
  readonly _sort?: OneOrMore<SortName<T> | `-${SortName<T>}`>;
  /** The elements to return. The others are left out. */
  readonly _elements?: OneOrMore<Exclude<keyof ResourceTypes[T], `_${string}` | symbol | number>>;
  readonly _summary?: 'true' | 'text' | 'data' | 'count' | 'false';
  /** `accurate` counts as one more request. */
  readonly _total?: 'none' | 'estimate' | 'accurate';
  readonly _include?: OneOrMore<IncludeOf<T>>;
  readonly '_include:iterate'?: OneOrMore<AnyInclude>;
  readonly _revinclude?: OneOrMore<AnyInclude>;
  readonly '_revinclude:iterate'?: OneOrMore<AnyInclude>;
}

/**
 * What a search of a type takes. A list of values means that all must match; `matchAny` makes alternatives. The value of a
 * reference may be a filter of what it leads to.
 */
export type SearchQuery<T extends SearchableType> = Filter<T> & ResultParameters<T>;

/** A name with its value, as it is sent. */
export type Parameter = readonly [name: string, value: string];

/** Alternatives: one of the values has to match. Commas inside them are text. */
export function matchAny(...values: readonly SearchValue[]): string {
  return values.map((value) => String(value).replaceAll(/[\\,]/g, '\\$&')).join(',');
}

/** Makes text of what has a meaning in a value: commas, `|` and `$`. https://hl7.org/fhir/R4/search.html#escaping */
export function escapeValue(text: string): string {
  return text.replaceAll(/[\\,|$]/g, '\\$&');
}

/** Lists of these stand in one parameter. */
const joined: ReadonlySet<string> = new Set(['_sort', '_elements']);

/** The parameters as the query of a URL, or as a form. */
export function toSearchParams(parameters: readonly Parameter[]): URLSearchParams {
  return new URLSearchParams(parameters.map(([...pair]) => pair));
}

/** The parameters of a query, in its order. */
export function encodeQuery(query: object, prefix = ''): Parameter[] {
  return Object.entries(query).flatMap(([name, value]: [string, unknown]) => encodeMember(prefix, name, value));
}

function encodeMember(prefix: string, name: string, value: unknown): Parameter[] {
  if (joined.has(name)) return [[name, toList(value).join(',')]];
  return toList(value).flatMap((each): Parameter[] => {
    if (typeof each !== 'object' || each === null) return each === undefined ? [] : [[prefix + name, String(each)]];
    if (name === '_has') return encodeHas(prefix, each);
    return Object.entries(each).flatMap(([key, inner]) =>
      // Types begin with a capital letter, and no search parameter does.
      /^[A-Z]/.test(key)
        ? encodeQuery(inner, `${prefix}${name}:${key}.`)
        : encodeMember(`${prefix}${name}.`, key, inner),
    );
  });
}

function encodeHas(prefix: string, has: object): Parameter[] {
  return Object.entries(has).flatMap(([type, references]) =>
    Object.entries(references).flatMap(([reference, filter]) =>
      encodeQuery(filter as object, `${prefix}_has:${type}:${reference}:`),
    ),
  );
}
