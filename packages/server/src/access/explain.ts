/**
 * Why something is refused, in words that help: the missing access entry, the elements that need it, and who grants it.
 * Speaks only of the registry and of the caller's own entries, never of data.
 */
import type { SearchParameter } from '@praxis/fhir';
import { memoize } from './memoize.ts';
import { noOperatorRows, type OperatorRows } from './operator-rows.ts';
import { type AccessPolicy, type Permission, searchGrants } from './policy.ts';
import { allEntry, knownEntries } from './registry.ts';
import { covers, interpretText, type Right } from './rights.ts';
import { findReadElements, isUsable } from './usable-parameters.ts';

export interface Denial {
  /** Entries of which one would grant it, the widest first. */
  readonly missing: readonly string[];
  /** The elements (`Patient.birthDate`) that a refused search parameter reads and the caller may not. */
  readonly elements: readonly string[];
  /** The side that holds one of `missing` already; the other side lacks it. Both: something limits what it reaches. */
  readonly heldBy: 'token' | 'practice' | 'both' | 'neither';
  /** One sentence for the caller. */
  readonly diagnostics: string;
}

/**
 * Why `letter` on `type`, or a search of `type` that uses all the parameters, is refused. For what is granted it says
 * what grants it.
 */
export function explainDenial(
  policy: AccessPolicy,
  type: string,
  need: Permission | SearchParameter | readonly SearchParameter[],
): Denial {
  const isLetter = typeof need === 'string';
  const letter = isLetter ? need : 's';
  const parameters = isLetter ? [] : [need].flat();
  const elements = [...new Set(parameters.flatMap((parameter) => hiddenElements(policy, type, parameter)))].toSorted();
  const reads = elements.length === 0 ? '' : `, which reads ${elements.join(', ')},`;
  const by = isLetter ? '' : ` by ${parameters.map(({ code }) => code).join(', ')}${reads}`;
  const missing = entriesGranting(policy.source.operatorRows, type, letter, parameters);
  const wanted = `${type} ${letterNames[letter]}${by} needs ${missing.join(' or ')}`;
  const diagnostics = `${wanted}; ${describeNextStep(policy, missing)}`;
  return { missing, elements, heldBy: heldBy(policy, missing), diagnostics };
}

const letterNames: Readonly<Record<Permission, string>> = { r: 'read', s: 'search', c: 'create', u: 'update' };

/** The entries of which one would grant the letter on the type, the widest first. */
export function listGrantingEntries(policy: AccessPolicy, type: string, letter: Permission): readonly string[] {
  return entriesGranting(policy.source.operatorRows, type, letter, []);
}

/** Entries that are named of the many that would do. */
const namedMax = 3;

/** The first published entries that grant a search of one of the types, and how the others end. */
export function listSearchEntries(types: readonly string[]): readonly string[] {
  const granting = types.flatMap((type) =>
    entriesGranting(noOperatorRows, type, 's', []).filter((text) => text !== allEntry && !text.startsWith('system/')),
  );
  const named = [...new Set(granting)].slice(0, namedMax);
  return [...named, 'another entry to search one of them'];
}

/** Where no published entry grants it, the scope of SMART that does, and `acl/*`. */
function entriesGranting(
  operatorRows: OperatorRows,
  type: string,
  letter: Permission,
  parameters: readonly SearchParameter[],
): readonly string[] {
  const granting = knownRights(operatorRows)
    .filter(({ right }) => grantsNeed(right, type, letter, parameters))
    .toSorted((a, b) => width(b.right) - width(a.right) || (a.text < b.text ? -1 : 1));
  return granting.length === 0 ? [`system/${type}.${letter}`, allEntry] : granting.map(({ text }) => text);
}

type KnownRight = { readonly text: string; readonly right: Right };

const rightsByRows = new WeakMap<OperatorRows, readonly KnownRight[]>();

/** The rights of the published entries, under the rows of one authorisation. */
function knownRights(operatorRows: OperatorRows): readonly KnownRight[] {
  return memoize(rightsByRows, operatorRows, () =>
    knownEntries.flatMap((text) => interpretText(text, operatorRows)?.rights.map((right) => ({ text, right })) ?? []),
  );
}

function grantsNeed(right: Right, type: string, letter: Permission, parameters: readonly SearchParameter[]): boolean {
  return (
    right.type === type &&
    right.letter === letter &&
    parameters.every((parameter) => isUsable(right.elements, type, parameter))
  );
}

/** All rows and elements before all elements of some rows before some elements. */
function width(right: Right): number {
  const elements = right.elements === 'all' ? 1_000 : right.elements.size;
  return elements - right.criteria.length;
}

/** The elements that a parameter reads and no search grant of the caller does. */
function hiddenElements(policy: AccessPolicy, type: string, parameter: SearchParameter): readonly string[] {
  if (searchGrants(policy, type, [parameter]).length > 0) return [];
  const needed = findReadElements(type, parameter);
  if (needed === 'all') return [`${type} (all elements)`];
  const readable = policy.grants(type, 's').flatMap((grant) => (grant.elements === 'all' ? [] : [...grant.elements]));
  return [...needed].filter((element) => !readable.includes(element));
}

function heldBy({ source }: AccessPolicy, missing: readonly string[]): Denial['heldBy'] {
  const { tokenEntries, firmEntries, operatorRows } = source;
  const byToken = holdsOne(tokenEntries, missing, operatorRows);
  const byFirm = holdsOne(firmEntries, missing, operatorRows);
  if (byToken && byFirm) return 'both';
  return byToken ? 'token' : byFirm ? 'practice' : 'neither';
}

/**
 * Who has to do what, in which order, so that one of the `missing` entries becomes effective. It tells of the caller's own
 * application at this practice and of nobody else.
 */
export function describeNextStep(policy: AccessPolicy, missing: readonly string[]): string {
  switch (heldBy(policy, missing)) {
    case 'both':
      return 'token and practice hold it, within limits that a filter or the operator of the service sets';
    case 'token':
      return 'the token holds it, the practice has not granted it to the application';
    case 'practice':
      return applicationHolds(policy, missing) === false
        ? 'the practice has granted it, the application itself no longer holds it: the operator of the service gives it back'
        : 'the practice has granted it, the token does not hold it: request a token with it';
    case 'neither':
      return bothLack(policy, missing);
  }
}

function bothLack(policy: AccessPolicy, missing: readonly string[]): string {
  const holds = applicationHolds(policy, missing);
  if (holds === undefined) {
    const grantor = missing.includes(allEntry) ? 'the operator of the service' : 'the practice';
    return `${grantor} grants it to the application`;
  }
  return holds
    ? 'the application holds it: the practice grants it to the application, then request a token with it'
    : 'the application does not hold it: the operator of the service adds it, then the practice grants it';
}

/** Undefined where it is not known which application asks. */
function applicationHolds({ source }: AccessPolicy, missing: readonly string[]): boolean | undefined {
  const { origin, operatorRows } = source;
  return origin === undefined ? undefined : holdsOne(origin.applicationEntries, missing, operatorRows);
}

/** Whether `held` covers the entry: all that it grants is granted by one of them. */
export function isCovered(policy: AccessPolicy, held: readonly string[], entry: string): boolean {
  return holdsOne(held, [entry], policy.source.operatorRows);
}

/** Whether one of `held` covers one of `missing`. */
function holdsOne(held: readonly string[], missing: readonly string[], operatorRows: OperatorRows): boolean {
  const wanted = missing.flatMap((text) => interpretText(text, operatorRows) ?? []);
  return held.some((text) => {
    const own = interpretText(text, operatorRows);
    return own !== undefined && wanted.some((want) => covers(own, want));
  });
}
