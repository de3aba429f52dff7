/**
 * Finds value sets and code systems by canonical URL: R4's own first, then the firm's. So nobody can change what R4 means,
 * and a system that R4 holds in part only (examples, fragments) can be completed by the firm.
 * https://hl7.org/fhir/R4/references.html#canonical
 */
import { type Budget, type JsonObject, loadTerminology, type PublishedValueSet } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import { buildPublishedCodeSystem, type CodeSystem, readCodeSystem } from './code-system.ts';
import { openCodeSystemEffort } from './effort.ts';
import { findElementText } from './elements.ts';

export type TerminologyKind = 'ValueSet' | 'CodeSystem';

/**
 * The firm's resource with the canonical `url` (and `version`, if given) that the caller may see, masked for the caller;
 * undefined when there is none. Of several versions the one that was changed last.
 */
export type TerminologyLookup = (
  kind: TerminologyKind,
  url: string,
  version: string | undefined,
) => Promise<JsonObject | undefined>;

/** Firm resources that one request may look up by canonical, at most: each costs a statement. */
export const lookupsMax = 100;

/** By canonical: `url` or `url|version`. */
export interface Definitions {
  /** As a ValueSet resource. @throws PraxisError `value-set-unknown`, `too-costly` */
  valueSet(canonical: string): Promise<JsonObject>;
  /** Undefined when it is not loaded here. @throws PraxisError `too-costly` */
  codeSystem(canonical: string): Promise<CodeSystem | undefined>;
  /** @throws PraxisError `code-system-unknown`, `too-costly` */
  requireCodeSystem(canonical: string): Promise<CodeSystem>;
}

/** What `lookup` finds is asked for once. */
export function openDefinitions(budget: Budget, lookup: TerminologyLookup): Definitions {
  const find = boundedLookup(lookup);
  const valueSets = new Map<string, Promise<JsonObject | undefined>>();
  const codeSystems = new Map<string, Promise<CodeSystem | undefined>>();
  const codeSystem = (canonical: string) => once(codeSystems, canonical, () => findCodeSystem(budget, find, canonical));
  return {
    async valueSet(canonical) {
      const found = await once(valueSets, canonical, () => findValueSet(find, canonical));
      return found ?? unknown('value-set-unknown', 'value set', canonical);
    },
    codeSystem,
    requireCodeSystem: async (canonical) =>
      (await codeSystem(canonical)) ?? unknown('code-system-unknown', 'code system', canonical),
  };
}

/** `url|version` → both. */
export function splitCanonical(canonical: string): readonly [url: string, version: string | undefined] {
  const at = canonical.indexOf('|');
  return at < 0 ? [canonical, undefined] : [canonical.slice(0, at), canonical.slice(at + 1)];
}

async function findValueSet(find: TerminologyLookup, canonical: string): Promise<JsonObject | undefined> {
  const [url, version] = splitCanonical(canonical);
  const published = (await loadTerminology()).valueSet(url);
  if (published !== undefined && fits(published, version)) return resourceOf(published);
  return find('ValueSet', url, version);
}

/** Parsed code systems of R4: every process holds each of them once. */
const publishedCodeSystems = new Map<string, CodeSystem>();

async function findCodeSystem(budget: Budget, find: TerminologyLookup, canonical: string) {
  // The URLs of two systems of R4 (tables of HL7 v2) end with |2.7 and |2.3.1.
  const whole = await publishedSystem(canonical);
  if (whole?.isComplete) return whole;
  const [url, version] = splitCanonical(canonical);
  const published = await publishedSystem(url);
  const fitting = published !== undefined && fits(published, version) ? published : undefined;
  if (fitting?.isComplete) return fitting;
  const own = await find('CodeSystem', url, version);
  return own === undefined ? fitting : readCodeSystem(own, openCodeSystemEffort(budget, url));
}

async function publishedSystem(url: string): Promise<CodeSystem | undefined> {
  const known = publishedCodeSystems.get(url);
  if (known !== undefined) return known;
  const published = (await loadTerminology()).codeSystem(url);
  if (published === undefined) return undefined;
  const parsed = buildPublishedCodeSystem(published);
  publishedCodeSystems.set(url, parsed);
  return parsed;
}

function fits(published: { readonly version?: string }, version: string | undefined): boolean {
  return version === undefined || version === published.version;
}

/** A copy, in which nothing is shared. */
function resourceOf({ compose: { include, exclude }, ...published }: PublishedValueSet): JsonObject {
  const compose = { include: include.map(copyPart), ...(exclude && { exclude: exclude.map(copyPart) }) };
  return { resourceType: 'ValueSet', ...published, compose };
}

function copyPart({ concept, filter, valueSet, ...part }: PublishedValueSet['compose']['include'][number]) {
  return {
    ...part,
    ...(concept && { concept: concept.map((entry) => ({ ...entry })) }),
    ...(filter && { filter: filter.map((entry) => ({ ...entry })) }),
    ...(valueSet && { valueSet: [...valueSet] }),
  };
}

function boundedLookup(lookup: TerminologyLookup): TerminologyLookup {
  let lookups = 0;
  return async (kind, url, version) => {
    if (url === '') return undefined;
    lookups += 1;
    if (lookups > lookupsMax) {
      fail('too-costly', {
        diagnostics: `More than ${lookupsMax} value sets and code systems of the firm would have to be read for one request. Nothing was changed. To make it cheaper: name fewer of them`,
      });
    }
    return lookup(kind, url, version);
  };
}

function once<T>(known: Map<string, Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
  const value = known.get(key) ?? find();
  known.set(key, value);
  return value;
}

function unknown(code: 'value-set-unknown' | 'code-system-unknown', what: string, canonical: string): never {
  return fail(code, {
    diagnostics: `There is no ${what} ${canonical} here: neither in R4 nor among those you can see`,
  });
}

/** A value set that is evaluated. */
export interface Evaluated {
  readonly valueSet: JsonObject;
  /** The value sets that import each other down to it, itself at the end. */
  readonly path: readonly string[];
}

/**
 * The value set of a canonical, or the one that was sent.
 * @param importing the value sets that import each other down to it
 * @throws PraxisError `value-set-unknown`, `too-costly`
 */
export async function findEvaluated(
  definitions: Definitions,
  asked: string | JsonObject,
  importing: readonly string[] = [],
): Promise<Evaluated> {
  if (typeof asked !== 'string') return { valueSet: asked, path: [...importing, describeValueSet(asked)] };
  return { valueSet: await definitions.valueSet(asked), path: [...importing, asked] };
}

/** The canonical URL of a ValueSet resource, for messages; 'the value set that was sent' when it has none. */
export function describeValueSet(valueSet: JsonObject): string {
  return findElementText(valueSet['url']) ?? 'the value set that was sent';
}
