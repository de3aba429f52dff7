/**
 * Which stored resources break invariants of R4: imports and the setting lenientInvariants store such, and so did releases that
 * checked structure only (docs/decisions/0256). It tells types, ids, elements and rules, and no value of an element.
 */
import type { Budget, BudgetedWork, InvariantBreach } from '@praxis/fhir';
import { copyUnparsed, parseStored } from '../../access/disclosure.ts';
import { PraxisError } from '../../base/errors.ts';
import type { ResourceKey, ResourceStore, StoredResource } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { findBreaches } from './invariants.ts';

/** Resources that one page looks at, at most. */
export const examinedMax = 500;
/** Bytes of their contents, about. */
const bytesMax = 8 * 1024 * 1024;
/** Rows after which a page ends with the resource that it looks at. */
const rowsEnough = 1_000;

const listing: BudgetedWork = {
  what: 'Listing the stored resources that break invariants',
  cheaper: 'name a type, or ask again later',
};

/** A row for each broken invariant and element. */
export interface BrokenInvariant {
  readonly type: string;
  readonly id: string;
  /** Undefined: judging the resource costs more than a page may, so nothing is known of it. */
  readonly key: string | undefined;
  /** FHIRPath of the element. */
  readonly element: string;
  /** R4's words for the invariant. */
  readonly words: string;
}

/** Where a page ends. */
export type ExaminedPlace = ResourceKey;

export interface BrokenInvariantsPage {
  readonly items: readonly BrokenInvariant[];
  /** Live resources that were looked at. */
  readonly examined: number;
  /** Where the next page begins; undefined: this is the last one. */
  readonly next: ExaminedPlace | undefined;
}

/**
 * The next page of what breaks invariants of severity error, in the order of type and id. It ends before `budget` does.
 * @throws PraxisError `too-costly` when the time is over, `stale-access`
 */
export async function listBrokenInvariants(
  store: ResourceStore,
  scope: TenantScope,
  { type, after }: { readonly type: string | undefined; readonly after: ExaminedPlace | undefined },
  budget: Budget,
): Promise<BrokenInvariantsPage> {
  const portion = await store.portion(scope, { type, after, limit: examinedMax, bytesMax });
  const items: BrokenInvariant[] = [];
  let examined = 0;
  let next: ExaminedPlace | undefined;
  for (const resource of portion) {
    await budget.breathe(listing);
    const breaches = await judged(resource, budget);
    // What cannot be judged with what earlier ones have left can be with a budget of its own.
    if (breaches === undefined && examined > 0) break;
    items.push(...rowsOf(resource, breaches));
    if (!resource.deleted) examined += 1;
    next = { type: resource.type, id: resource.id };
    if (breaches === undefined || items.length >= rowsEnough) break;
  }
  return { items, examined, next };
}

/** Undefined: the steps of the budget are used up. */
async function judged({ deleted, content }: StoredResource, budget: Budget) {
  if (deleted) return [];
  try {
    return await findBreaches(parseStored(copyUnparsed(content)), budget);
  } catch (error) {
    if (error instanceof PraxisError && error.code === 'too-costly' && budget.stepsLeft === 0) return undefined;
    throw error;
  }
}

function rowsOf({ type, id }: StoredResource, breaches: readonly InvariantBreach[] | undefined): BrokenInvariant[] {
  if (breaches === undefined) {
    const words =
      'Not judged: it costs more steps than a request may take. The command praxis invariants broken judges it.';
    return [{ type, id, key: undefined, element: type, words }];
  }
  return breaches.map(({ key, path, human }) => ({ type, id, key, element: path, words: human.trim() }));
}
