/**
 * What a token may do at a firm: the entries of the token and those the firm authorised, met and compiled once.
 * Everything that is not granted here is refused. Pure; the caller caches policies by their two sets of entries.
 */
import type { SearchParameter } from '@praxis/fhir';
import type { Permission } from './entries/definition.ts';
import type { EntryRefusal } from './grammar.ts';
import type { Grant } from './grants.ts';
import { intersectEntries, readSide } from './intersect-entries.ts';
import { memoize } from './memoize.ts';
import { computeRightsFingerprint, endpointTypes, groupCriteria, listGrants, type OpenRights } from './open-rights.ts';
import { noOperatorRows, type OperatorRows } from './operator-rows.ts';
import { filterEntries } from './registry.ts';
import { criteriaInclude } from './rights.ts';
import { isUsable } from './usable-parameters.ts';

export type { Criterion, Permission } from './entries/definition.ts';
export type { Grant } from './grants.ts';

export interface AccessPolicy {
  /** The effective entries, sorted; entries that grant nothing (opaque ones) included. */
  readonly entries: readonly string[];
  /** `acl/*` is effective and nothing narrows it. */
  readonly unrestricted: boolean;
  /** Whether some rows of the type are open to the letter. A conditional interaction needs its own letter and `s`. */
  allows(type: string, letter: Permission): boolean;
  /**
   * The grants of a letter on a type, one per set of row criteria; empty: refused. A row is open when all criteria of
   * one grant hold. Under `c` and `u` the criteria hold for the row before and after the write.
   */
  grants(type: string, letter: Permission): readonly Grant[];
  /**
   * The three that need the operator-only `acl/*`, and nothing that narrows it: a delete or a create under a chosen id
   * would tell whether a row exists that a filter hides.
   */
  readonly mayDelete: boolean;
  readonly mayUpdateAsCreate: boolean;
  readonly mayTypeHistory: boolean;
  /** POST of Binary answers with an upload URL. */
  readonly mayRequestUploadUrl: boolean;
  /** Codes of the transaction Bundles that may be posted (`trans_bndl_post`: any); their entries need grants, too. */
  readonly bundles: ReadonlySet<string>;
  /** The same for policies that allow the same, on every node. Page links are bound to it. */
  readonly fingerprint: string;
  /** Texts of either side that are no access entries: they grant nothing; for the log. */
  readonly refused: readonly EntryRefusal[];
  /** What was compiled, for `explain.ts`. */
  readonly source: PolicySource;
}

export interface PolicySource {
  readonly tokenEntries: readonly string[];
  readonly firmEntries: readonly string[];
  /** What operators say about the entries of some codes. */
  readonly operatorRows: OperatorRows;
  /** Where `tokenEntries` come from, when they are what remains of more. */
  readonly origin?: TokenOrigin;
}

/** What `tokenEntries` were met from. */
export interface TokenOrigin {
  /** Those that the token carries; undefined for tokens that carry none. */
  readonly carried: readonly string[] | undefined;
  readonly applicationEntries: readonly string[];
}

export type PolicyOptions = Partial<Pick<PolicySource, 'operatorRows' | 'origin'>>;

/**
 * The policy of a token with `tokenEntries` at a firm that authorised `firmEntries`. Of two entries, one of each side,
 * the narrower is effective where one covers the other, else none. Filters of both sides narrow the result.
 */
export function compilePolicy(
  tokenEntries: readonly string[],
  firmEntries: readonly string[],
  options: PolicyOptions = {},
): AccessPolicy {
  const operatorRows = options.operatorRows ?? noOperatorRows;
  const token = readSide(tokenEntries, operatorRows);
  const firm = readSide(firmEntries, operatorRows);
  const met = intersectEntries(token.meanings, firm.meanings);
  const filters = [...new Set([...token.filters, ...firm.filters])].toSorted();
  const closed = new Set(token.closed || firm.closed ? filterEntries.map((row) => row.type) : []);
  const all = met.some((meaning) => meaning.all);
  const narrowing = filterEntries.filter((row) => filters.includes(`acl/${row.code}`));
  const open: OpenRights = { all, met, closed, filterCriteria: groupCriteria(narrowing) };
  const compiled = new Map<Permission, Map<string, readonly Grant[]>>();
  const grants = (type: string, letter: Permission): readonly Grant[] => {
    const ofLetter = memoize(compiled, letter, () => new Map<string, readonly Grant[]>());
    // Only real types are remembered: the map cannot grow with what callers send.
    return (
      ofLetter.get(type) ??
      (endpointTypes.has(type) ? memoize(ofLetter, type, () => listGrants(open, type, letter)) : [])
    );
  };
  const bundles = new Set(met.flatMap((meaning) => [...meaning.bundles]));
  const mayRequestUploadUrl = met.some((meaning) => meaning.uploadUrl);
  const unrestricted = all && narrowing.length === 0 && closed.size === 0;
  return {
    entries: [...met.map((meaning) => meaning.text), ...filters].toSorted(),
    unrestricted,
    allows: (type, letter) => grants(type, letter).length > 0,
    grants,
    mayDelete: unrestricted,
    mayUpdateAsCreate: unrestricted,
    mayTypeHistory: unrestricted,
    mayRequestUploadUrl,
    bundles,
    fingerprint: computeRightsFingerprint(open, bundles, mayRequestUploadUrl, grants),
    refused: [...token.refused, ...firm.refused],
    source: { ...options, tokenEntries, firmEntries, operatorRows },
  };
}

/**
 * The search grants on a type under which every used parameter (sort keys, chain links and `_has` links are used too) is
 * usable. Rows found are those that meet all criteria of one of them; empty: refused.
 */
export function searchGrants(
  policy: AccessPolicy,
  type: string,
  usedParameters: readonly SearchParameter[],
): readonly Grant[] {
  return policy
    .grants(type, 's')
    .filter((grant) => usedParameters.every((parameter) => isUsable(grant.elements, type, parameter)));
}

/**
 * Whether every row of the type that the caller may update can be read by it in full, by read or by search. Otherwise a
 * PUT, which replaces the whole resource, would destroy what the caller cannot see: answer 403, "use PATCH".
 */
export function canReadAll(policy: AccessPolicy, type: string): boolean {
  const whole = [...policy.grants(type, 'r'), ...policy.grants(type, 's')].filter((grant) => grant.elements === 'all');
  const updates = policy.grants(type, 'u');
  return (
    updates.length > 0 &&
    updates.every((update) => whole.some((grant) => criteriaInclude(update.criteria, grant.criteria)))
  );
}
