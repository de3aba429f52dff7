/**
 * What a policy lets its holder do, in full: by type the interactions, elements, rows, search parameters, sort keys and
 * includes, each decided by the very function that decides it for a request.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { type AccessPolicy, type Criterion, type Grant, type Permission, searchGrants } from '../../access/policy.ts';
import { type EntryTrace, traceEntries } from '../../access/trace-entries.ts';
import { PraxisError } from '../../base/errors.ts';
import { listReferenceParameters } from '../../search/includes/include.ts';
import type { Parameter } from '../../search/kinds/kind.ts';
import { getSearchableParameters } from '../../search/parameters.ts';
import type { FirmSearchParameters } from '../../tenancy/search-parameters.ts';
import type { InteractionName } from '../context.ts';
import { interactions } from '../dispatch.ts';

export interface EffectiveAccess {
  readonly entries: readonly EntryTrace[];
  /** Codes of the transaction Bundles that may be posted, sorted. */
  readonly bundles: readonly string[];
  /** Interactions of the whole system. */
  readonly systemInteractions: readonly InteractionName[];
  /** Types of which something may be done, in the order of their names. */
  readonly types: readonly TypeAccess[];
}

export interface TypeAccess {
  readonly type: string;
  readonly interactions: readonly InteractionName[];
  readonly grants: readonly PermissionGrant[];
  /** Codes by which it can be searched. */
  readonly searchParameters: readonly string[];
  /** Those of them that `_sort` takes. */
  readonly sortKeys: readonly string[];
  /** Values of `_include` that lead somewhere. */
  readonly includes: readonly string[];
  /** Values of `_revinclude` that lead from other types. */
  readonly revincludes: readonly string[];
}

/** One grant of one letter. */
export interface PermissionGrant {
  readonly letter: Permission;
  /** Top-level elements, sorted; `all`. */
  readonly elements: 'all' | readonly string[];
  /** Empty: all rows. */
  readonly criteria: readonly Criterion[];
  readonly entries: readonly string[];
}

/** @param types only these; all when empty. @param own search parameters of the firm's own */
export function computeEffectiveAccess(
  policy: AccessPolicy,
  own: FirmSearchParameters,
  types: readonly string[] = [],
): EffectiveAccess {
  return { ...computeOtherAccess(policy), types: [...computeTypeAccesses(policy, own, types)] };
}

/** What does not belong to one type. */
export function computeOtherAccess(policy: AccessPolicy): Omit<EffectiveAccess, 'types'> {
  return {
    entries: traceEntries(policy),
    bundles: [...policy.bundles].toSorted(),
    systemInteractions: ofSystem.filter((name) => findRefusal(policy, name, '') === undefined),
  };
}

/** Type by type, since all of them take a while: those on which anything is open. @param types as `computeEffectiveAccess` */
export function* computeTypeAccesses(
  policy: AccessPolicy,
  own: FirmSearchParameters,
  types: readonly string[] = [],
): Generator<TypeAccess> {
  const links = linksOf(policy, own);
  for (const type of resourceTypesWithEndpoint) {
    if (types.length > 0 && !types.includes(type)) continue;
    const access = typeAccess(policy, own, links, type);
    if (access.interactions.length > 0) yield access;
  }
}

const ofSystem: readonly InteractionName[] = ['search-system', 'history-system'];
const names = Object.keys(interactions) as InteractionName[]; // the keys of the record
const ofType: readonly InteractionName[] = names.filter((name) => !ofSystem.includes(name));
export const interactionNames: readonly InteractionName[] = names;

/**
 * Why an interaction on a type is refused, in the words of the refusal; undefined when its holder may do it on some
 * rows.
 */
export function findRefusal(policy: AccessPolicy, interaction: InteractionName, type: string): string | undefined {
  return catchRefusal(() =>
    interactions[interaction].authorize({ policy }, { interaction, type, id: 'id', versionId: '1' }),
  );
}

/** What a check of access refuses with; undefined when it passes. */
export function catchRefusal(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof PraxisError && (error.status === 403 || error.status === 405))
      return error.issues[0]?.diagnostics ?? error.code;
    throw error;
  }
}

function typeAccess(policy: AccessPolicy, own: FirmSearchParameters, links: readonly Link[], type: string): TypeAccess {
  const usable = [...getSearchableParameters(type, own).values()].filter((parameter) =>
    isUsableOn(policy, type, parameter),
  );
  const searchable = policy.allows(type, 's');
  return {
    type,
    interactions: ofType.filter((name) => findRefusal(policy, name, type) === undefined),
    grants: (['r', 's', 'c', 'u'] as const).flatMap((letter) =>
      policy.grants(type, letter).map((grant) => letterGrant(letter, grant)),
    ),
    searchParameters: codesOf(usable),
    sortKeys: codesOf(usable.filter(({ kind }) => kind.whole !== true && kind.sortable !== false)),
    includes: namesOf(
      links.filter(({ source, targets }) => source === type && targets.some((target) => policy.allows(target, 's'))),
    ),
    revincludes: searchable ? namesOf(links.filter(({ targets }) => targets.includes(type))) : [],
  };
}

function letterGrant(letter: Permission, { elements, criteria, entries }: Grant): PermissionGrant {
  return { letter, elements: elements === 'all' ? elements : [...elements].toSorted(), criteria, entries };
}

function isUsableOn(policy: AccessPolicy, type: string, { definition }: Parameter): boolean {
  return searchGrants(policy, type, [definition]).length > 0;
}

function codesOf(parameters: readonly Parameter[]): readonly string[] {
  return parameters.map(({ code }) => code).toSorted();
}

/** A reference that the policy lets follow: it may be read on its source, which may be searched. */
interface Link {
  readonly source: string;
  readonly code: string;
  readonly targets: readonly string[];
}

function linksOf(policy: AccessPolicy, own: FirmSearchParameters): readonly Link[] {
  return resourceTypesWithEndpoint
    .filter((source) => policy.allows(source, 's'))
    .flatMap((source) =>
      listReferenceParameters(source, own)
        .filter((parameter) => isUsableOn(policy, source, parameter))
        .map(({ code, definition }) => ({ source, code, targets: definition.targets })),
    );
}

function namesOf(links: readonly Link[]): readonly string[] {
  return links.map(({ source, code }) => `${source}:${code}`).toSorted();
}
