/**
 * Which types a search of several is about, and by what they can be searched together
 * (https://hl7.org/fhir/R4/search.html#searching, http.html#search): parameters that all of them have.
 */
import { resourceTypesWithEndpoint, suggestName } from '@praxis/fhir';
import { isIncludeName } from '../../search/includes/include.ts';
import type { SearchParameters } from '../../search/query/query.ts';
import { resultParameterNames } from '../../search/query/result-parameters.ts';
import { quoteName, refuseValue } from '../../search/query/search-values.ts';
import { suggestParameter } from '../../search/query/suggest-parameter.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import type { SearchTarget } from '../../search/sql/plan.ts';
import type { CompartmentOwner, FhirRequest, InteractionContext, Preferences } from '../context.ts';
import { requireGrants } from '../rights/denials.ts';
import { findCompartmentScope, listCompartmentTypes } from './compartment.ts';
import { findUsableScope, refuseScope } from './compartment-types.ts';
import { refuseLedger } from './refuse-mixed-audit-search.ts';
import { requireOneOrder } from './search-system-order.ts';
import { isLenient, planSearch } from './searching.ts';

/** The same search on each of several types. */
export interface SystemSearch {
  /** One for each type that the caller may search, in the order of their names; at least one. */
  readonly targets: readonly SearchTarget[];
  /** The parameters that were understood, `_type` with the types that are searched. Without `_cursor`. */
  readonly applied: SearchParameters;
  /** Below the base: `Patient/1/*`, or '' for a search of all that is stored. */
  readonly path: string;
  /** The sealed place where the page begins, unopened. */
  readonly cursor: string | undefined;
  /** What is said of types that are left out; undefined: none is. */
  readonly leftOut: string | undefined;
}

/** What every resource has: by these all types can be searched at once. */
const ofEveryResource: ReadonlySet<string> = new Set([
  '_id',
  '_lastUpdated',
  '_tag',
  '_profile',
  '_security',
  '_source',
]);

const endpoints: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/**
 * The search that a request asks of several types. Types that the caller may not search are left out, unless it names them
 * and asks for strict handling.
 * @param startMs what "now" means in it
 * @throws PraxisError `search-invalid`, `access-denied` (none of the types may be searched, or one that is named under strict
 *   handling, or a parameter touches what may not be read)
 */
export async function planSystemSearch(
  context: InteractionContext,
  { parameters, prefer, compartment }: FhirRequest,
  startMs: number,
): Promise<SystemSearch> {
  const { named, cursor, rest } = split(parameters);
  if (named === undefined) requireOfEveryResource(rest);
  const asked = named === undefined ? allTypes(compartment) : namedTypes(named, compartment);
  const searched = searchedTypes(context, asked, compartment);
  const types = searched.map(({ type }) => type);
  const omitted = asked.filter((type) => !types.includes(type)).toSorted();
  if (named !== undefined && prefer.handling === 'strict') requireAll(context, omitted, compartment);
  requireServed(rest);
  const atStart = { ...context, clock: { now: () => startMs } };
  const planAll = (given: SearchParameters) =>
    inOrder(searched.map(({ type, scope }) => planSearch(atStart, type, given, ignoringUnknown, scope)));
  const planned = await planAll(rest);
  requireOneOrder(planned);
  const unknown = new Set(planned.flatMap(({ query }) => query.unknown));
  if (unknown.size > 0) requireLenience(context, prefer, planned);
  const known = rest.filter(([name]) => !unknown.has(name));
  return {
    // What one type does not know is ignored for all: else that type alone would be found whole.
    targets: unknown.size > 0 ? await planAll(known) : planned,
    applied: [...(named === undefined ? [] : [['_type', types.join(',')] as const]), ...known],
    path: compartment === undefined ? '' : `${compartment.type}/${compartment.id}/*`,
    cursor,
    leftOut: omitted.length === 0 ? undefined : leftOutText(named === undefined ? types : undefined, omitted),
  };
}

/** What all of them give. Of several that fail, the first in order is told of, whichever failed first. */
async function inOrder<T>(all: readonly Promise<T>[]): Promise<readonly T[]> {
  const settled = await Promise.allSettled(all);
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}

/** Whether a type knows a parameter is asked of all types first. */
const ignoringUnknown: Preferences = { return: undefined, handling: 'lenient' };

/** `named`: the value of `_type`. */
function split(parameters: SearchParameters) {
  const single = (name: string): string | undefined => {
    const values = new Set(parameters.filter(([given]) => given === name).map(([, value]) => value));
    if (values.size > 1) refuseValue(name, 'is given twice with different values');
    return [...values][0];
  };
  return {
    named: single('_type'),
    cursor: single('_cursor'),
    rest: parameters.filter(([name]) => name !== '_type' && name !== '_cursor'),
  };
}

/** Types that a text names, at most. */
const namedMax = 20;

/** @param searched those that are searched, where the caller has named none; else those that are left out are told */
function leftOutText(searched: readonly string[] | undefined, omitted: readonly string[]): string {
  const told = searched ?? omitted;
  const names =
    told.slice(0, namedMax).join(', ') + (told.length > namedMax ? ` and ${told.length - namedMax} more` : '');
  return searched === undefined
    ? `Left out are types that the application may not search: ${names} (Prefer: handling=strict refuses them)`
    : `Searched are only the types that the application may search: ${names}`;
}

/** @throws PraxisError `access-denied` naming what the first of the types needs */
function requireAll(
  context: InteractionContext,
  omitted: readonly string[],
  owner: CompartmentOwner | undefined,
): void {
  const [first] = omitted;
  if (first === undefined) return;
  requireGrants(context, first, 's');
  if (owner !== undefined) refuseScope(context, owner, first);
}

/** Those of the types that the caller may search, and may search inside the compartment, by name; `scope`: how they are in it. */
function searchedTypes(context: InteractionContext, types: readonly string[], owner: CompartmentOwner | undefined) {
  const allowed = types.filter((type) => context.policy.allows(type, 's'));
  const first = allowed[0] ?? types[0] ?? '';
  if (allowed.length === 0) requireGrants(context, first, 's');
  if (owner === undefined) return allowed.toSorted().map((type) => ({ type, scope: undefined }));
  const inside = allowed.toSorted().map((type) => ({ type, scope: findUsableScope(context, owner, type) }));
  const usable = inside.filter(({ scope }) => scope !== undefined);
  return usable.length === 0 ? refuseScope(context, owner, first) : usable;
}

function allTypes(owner: CompartmentOwner | undefined): readonly string[] {
  return owner === undefined ? resourceTypesWithEndpoint : listCompartmentTypes(owner.type);
}

function namedTypes(named: string, owner: CompartmentOwner | undefined): readonly string[] {
  const types = [...new Set(named.split(','))];
  for (const type of types) {
    if (!endpoints.has(type))
      refuseValue(
        '_type',
        `names ${quoteName(type)}${suggestName(type, endpoints) || ':'} it takes names of resource types with an endpoint, separated by commas: Patient,Encounter`,
      );
    if (owner !== undefined && findCompartmentScope(owner.type, owner.id, type) === undefined)
      refuseValue('_type', `names ${type}, which is not in the compartment of ${owner.type} in FHIR R4`);
    if (ledgerTypes.has(type))
      refuseLedger('_type', 'names', type, owner === undefined ? type : `${owner.type}/${owner.id}/${type}`);
  }
  return types;
}

function requireOfEveryResource(parameters: SearchParameters): void {
  for (const [name] of parameters) {
    const code = name.split(':')[0] ?? '';
    if (ofEveryResource.has(code) || resultParameterNames.has(code) || isIncludeName(name)) continue;
    refuseValue(
      name,
      `needs _type, the types that are searched: without it, all types are searched by ${[...ofEveryResource].join(', ')} alone`,
    );
  }
}

/** What counts pages without a cursor is of the search of one type. */
function requireServed(parameters: SearchParameters): void {
  for (const [name] of parameters) {
    if (name === 'page') refuseValue(name, 'is served where one type is searched: follow next links here');
  }
}

function requireLenience(context: InteractionContext, prefer: Preferences, planned: readonly SearchTarget[]): void {
  if (isLenient(context, prefer)) return;
  const { query } = planned.find((target) => target.query.unknown.length > 0) ?? {};
  const [first = ''] = query?.unknown ?? [];
  refuseValue(
    first,
    `is not a search parameter of ${query?.type}${suggestParameter(query?.type ?? '', first) || ';'} types are searched together by what all of them have (Prefer: handling=lenient ignores unknown ones)`,
  );
}
