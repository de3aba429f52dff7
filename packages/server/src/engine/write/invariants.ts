/**
 * R4's own invariants on every write (docs/decisions/0254): what the new version breaks refuses it, unless the version before
 * broke it already or the application has the setting lenientInvariants.
 *
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */
import { type Budget, checkInvariantsInSlices, type InvariantBreach, type JsonObject } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { type ErrorIssue, fail } from '../../base/errors.ts';
import { findCanonicalUnit } from '../../search/kinds/ucum.ts';
import type { ResourceWrite, StoredResource } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';

/** Breaches of one version that are looked at, at most. */
const breachesMax = 1_000;
/** Issues of one answer, at most: as of the structure. */
const issuesMax = 100;

/** The invariants of severity error that a valid resource breaks. @throws PraxisError `too-costly` */
export async function findBreaches(resource: JsonObject, budget: Budget): Promise<readonly InvariantBreach[]> {
  const findUnit = (code: string) => findCanonicalUnit(code, budget);
  return await checkInvariantsInSlices(resource, { severity: 'error', breachesMax, budget, findUnit });
}

/** Acts of the service and of staff have no application with settings. */
type JudgingContext = Pick<InteractionContext, 'budget'> & Partial<Pick<InteractionContext, 'settings'>>;

/**
 * Passes where the write breaks no invariant that the version before did not break.
 * @param current the version before, deleted or not; undefined: there is none
 * @throws PraxisError `invariant-broken` naming each with its element and R4's words
 */
export async function requireInvariants(
  { settings, budget }: JudgingContext,
  { breaches = [] }: ResourceWrite,
  current: StoredResource | undefined,
): Promise<void> {
  if (breaches.length === 0 || settings?.lenientInvariants === true) return;
  const own = await findOwnBreaches(breaches, current, budget);
  const [first, ...more] = own.slice(0, issuesMax).map(toInvariantIssue);
  if (first !== undefined) fail('invariant-broken', { ...first, more });
}

/** Those of a new version that the version before does not have. @param current the version before, deleted or not */
export async function findOwnBreaches(
  breaches: readonly InvariantBreach[],
  current: StoredResource | undefined,
  budget: Budget,
): Promise<readonly InvariantBreach[]> {
  const isLive = current !== undefined && !current.deleted;
  return findNewBreaches(isLive ? await findBreaches(parseStored(current.content), budget) : [], breaches);
}

/**
 * Those of `after` that are not of `before`. Elements of lists move, so a breach is the same by its key and its element without
 * positions; of more of them than before the surplus is new, first what stands where none stood.
 */
export function findNewBreaches(
  before: readonly InvariantBreach[],
  after: readonly InvariantBreach[],
): readonly InvariantBreach[] {
  const old = Map.groupBy(before, keyOf);
  const surplus = Map.groupBy(after, keyOf)
    .entries()
    .flatMap(([key, same]) => {
      const known = old.get(key) ?? [];
      const places = new Set(known.map(({ path }) => path));
      const unmoved = same.filter(({ path }) => places.has(path));
      const elsewhere = same.filter(({ path }) => !places.has(path));
      return [...elsewhere, ...unmoved].slice(0, Math.max(0, same.length - known.length));
    });
  const fresh = new Set(surplus);
  return after.filter((breach) => fresh.has(breach));
}

function keyOf({ key, path }: InvariantBreach): string {
  return `${key} ${path.replaceAll(/\[\d+\]/g, '')}`;
}

/** A breach as an issue of an OperationOutcome, without severity. */
export function toInvariantIssue({ key, path, human }: InvariantBreach): ErrorIssue {
  return { issue: 'invariant', diagnostics: `${path}: ${human.trim()} (${key})`, expression: [path] };
}
