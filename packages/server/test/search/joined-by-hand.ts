/**
 * Searches over references answered without the service: the values of a parameter are selected from the resources' JSON
 * with its expression, and references are followed by looking up the resource that they name
 * (https://hl7.org/fhir/R4/search.html#chaining and #has).
 */
import assert from 'node:assert/strict';
import {
  compileExtractor,
  getSearchParameters,
  isRawDecimal,
  type JsonObject,
  type JsonValue,
  type SearchParameter,
  type TypedValue,
} from '@praxis/fhir';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import type { TestFirm, TestService } from '../support/service.ts';
import { createOf } from './world.ts';

/** A reference that leads from one of the resources to another; both ends are written `Type/id`. */
export interface Link {
  readonly source: string;
  readonly code: string;
  readonly target: string;
}

/** One link of a path: to what the resource refers to, of any type or of one, or to what refers to it. */
export type Step =
  | { readonly kind: 'chain'; readonly code: string; readonly only?: string }
  | { readonly kind: 'has'; readonly source: string; readonly code: string };

/** What is asked of the resources at the end of a path. */
export interface Leaf {
  readonly code: string;
  readonly modifier?: 'exact';
  /** As it stands in the resource, without escapes. */
  readonly value: string;
}

export interface Question {
  readonly type: string;
  readonly steps: readonly Step[];
  readonly leaf: Leaf;
}

const literal = /^([A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;
const batchRows = 500;

export function keyOf(resource: JsonObject): string {
  return `${resource['resourceType']}/${resource['id']}`;
}

export function typeOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** `Type/id` that a value of a reference parameter names; undefined for URLs, contained resources and mere identifiers. */
export function namedBy({ value }: TypedValue): string | undefined {
  const text = partOf(value, 'reference') ?? value;
  return typeof text === 'string' ? literal.exec(text)?.[1] : undefined;
}

/** Stores them with all index rows, and type and id as their only content: some examples are tens of megabytes long. */
export async function loadBare(
  { platform }: Pick<TestService, 'platform'>,
  firm: TestFirm,
  resources: readonly JsonObject[],
): Promise<void> {
  const scope = await openOperatorScope(platform.database, platform.clock, firm);
  for (let from = 0; from < resources.length; from += batchRows) {
    const batch = resources.slice(from, from + batchRows);
    const writes = await Promise.all(batch.map((resource) => createOf(resource, true)));
    const outcomes = await platform.store.writeMany(scope, writes);
    assert.ok(outcomes.every(({ outcome }) => outcome === 'written'));
  }
}

export interface Records {
  readonly links: readonly Link[];
  /** The links that begin or end at a resource. */
  linksFrom(key: string): readonly Link[];
  linksTo(key: string): readonly Link[];
  /** What can be asked about a resource so that it is among the answers: its id, its codes, its texts, its references. */
  leavesOf(key: string): readonly Leaf[];
  /** `Type/id` of all that the question finds; undefined where it has no meaning on the type. */
  answer(question: Question): ReadonlySet<string> | undefined;
}

/** The resources, which are of different types and ids, ready to be asked. */
export function recordsOf(resources: readonly JsonObject[]): Records {
  const byKey = new Map(resources.map((resource) => [keyOf(resource), resource]));
  const byType = Map.groupBy(byKey.keys(), typeOf);
  const links = resources.flatMap((resource) => linksOf(resource, byKey));
  const bySource = Map.groupBy(links, ({ source }) => source);
  const byTarget = Map.groupBy(links, ({ target }) => target);
  const valuesByLeaf = new Map<string, ReadonlyMap<string, readonly string[]>>();

  /** Value → the resources of the type that have it. */
  const holders = (type: string, { code, modifier }: Leaf): ReadonlyMap<string, readonly string[]> => {
    const name = `${type}?${code}:${modifier ?? ''}`;
    const known = valuesByLeaf.get(name);
    if (known !== undefined) return known;
    const pairs = (byType.get(type) ?? []).flatMap((key) =>
      leavesBy(type, code, byKey.get(key) ?? {}, bySource.get(key) ?? []).map(({ value }) => ({ key, value })),
    );
    const found = new Map(
      [...Map.groupBy(pairs, ({ value }) => value)].map(([value, all]) => [value, all.map(({ key }) => key)]),
    );
    valuesByLeaf.set(name, found);
    return found;
  };

  const answer = ({ type, steps: [step, ...steps], leaf }: Question): ReadonlySet<string> | undefined => {
    if (step === undefined) {
      if (!getSearchParameters(type).has(leaf.code)) return undefined;
      return new Set(holders(type, leaf).get(leaf.value));
    }
    if (step.kind === 'has') {
      const inner = answer({ type: step.source, steps, leaf });
      return inner && new Set(ends(links, step.code, step.source, type, ({ source }) => inner.has(source), 'target'));
    }
    const targets = step.only === undefined ? targetsOf(type, step.code) : [step.only];
    const found = targets.flatMap((target) => {
      const inner = answer({ type: target, steps, leaf });
      return inner === undefined ? [] : [{ target, inner }];
    });
    if (found.length === 0) return undefined;
    return new Set(
      found.flatMap(({ target, inner }) =>
        ends(links, step.code, type, target, (link) => inner.has(link.target), 'source'),
      ),
    );
  };

  return {
    links,
    linksFrom: (key) => bySource.get(key) ?? [],
    linksTo: (key) => byTarget.get(key) ?? [],
    leavesOf: (key) =>
      [...getSearchParameters(typeOf(key)).keys()].flatMap((code) =>
        leavesBy(typeOf(key), code, byKey.get(key) ?? {}, bySource.get(key) ?? []),
      ),
    answer,
  };
}

/** Types that the parameter can refer to; none where the type does not have it. */
export function targetsOf(type: string, code: string): readonly string[] {
  return getSearchParameters(type).get(code)?.targets ?? [];
}

/** The question as a path and query below the base URL. */
export function written({ type, steps, leaf }: Question): string {
  const path = steps.map((step) =>
    step.kind === 'has'
      ? `_has:${step.source}:${step.code}:`
      : `${step.code}${step.only === undefined ? '' : `:${step.only}`}.`,
  );
  const name = `${path.join('')}${leaf.code}${leaf.modifier === undefined ? '' : `:${leaf.modifier}`}`;
  return `${type}?${name}=${encodeURIComponent(leaf.value.replace(/[\\,|$]/g, '\\$&'))}`;
}

/** One end of the links by a parameter between two types that pass. */
function ends(
  links: readonly Link[],
  code: string,
  sourceType: string,
  targetType: string,
  passes: (link: Link) => boolean,
  end: 'source' | 'target',
): readonly string[] {
  return links
    .filter(
      (link) =>
        link.code === code && typeOf(link.source) === sourceType && typeOf(link.target) === targetType && passes(link),
    )
    .map((link) => link[end]);
}

function linksOf(resource: JsonObject, byKey: ReadonlyMap<string, unknown>): Link[] {
  const source = keyOf(resource);
  const parameters = [...getSearchParameters(typeOf(source)).values()].filter(({ type }) => type === 'reference');
  return parameters.flatMap((parameter) =>
    selected(parameter, resource).flatMap((value) => {
      const target = namedBy(value);
      // Some examples refer to types that the parameter does not name; these may not be asked for.
      return target !== undefined && byKey.has(target) && parameter.targets.includes(typeOf(target))
        ? [{ source, code: parameter.code, target }]
        : [];
    }),
  );
}

function selected({ expression }: SearchParameter, resource: JsonObject): readonly TypedValue[] {
  return expression === undefined
    ? []
    : compileExtractor(String(resource['resourceType']), expression)(resource, openOperatorBudget(), {
        what: 'A test',
        cheaper: 'test less',
      });
}

/** What the parameter can be asked for so that the resource is found. */
function leavesBy(type: string, code: string, resource: JsonObject, links: readonly Link[]): readonly Leaf[] {
  const parameter = getSearchParameters(type).get(code);
  if (code === '_id') return [{ code, value: String(resource['id']) }];
  if (parameter?.type === 'reference')
    return links.filter((link) => link.code === code).map(({ target }) => ({ code, value: target }));
  if (parameter?.type === 'token')
    return selected(parameter, resource)
      .flatMap(codesOf)
      .map((value) => ({ code, value }));
  if (parameter?.type === 'string' && code !== 'phonetic')
    return selected(parameter, resource)
      .flatMap(textsOf)
      .map((value) => ({ code, modifier: 'exact' as const, value }));
  return [];
}

/** Codes that a token selects the value by, whatever their system. */
function codesOf({ type, value }: TypedValue): string[] {
  if (type === 'code') return texts([value]);
  if (type === 'Coding') return texts([partOf(value, 'code')]);
  if (type === 'Identifier') return texts([partOf(value, 'value')]);
  if (type !== 'CodeableConcept') return [];
  const codings = partOf(value, 'coding');
  return Array.isArray(codings) ? texts(codings.map((coding) => partOf(coding, 'code'))) : [];
}

const nameElements = ['text', 'family', 'given', 'prefix', 'suffix'];

/** Texts that are compared as a whole by `:exact`. */
function textsOf({ type, value }: TypedValue): string[] {
  if (type === 'string') return texts([value]);
  if (type !== 'HumanName') return [];
  return texts(nameElements.flatMap((name) => partOf(value, name) ?? []));
}

function texts(values: readonly (JsonValue | undefined)[]): string[] {
  return values.flatMap((value) => (typeof value === 'string' && /[\p{L}\p{N}]/u.test(value) ? [value] : []));
}

function partOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawDecimal(value)
    ? value[name]
    : undefined;
}
