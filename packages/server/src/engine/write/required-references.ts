/**
 * Where a firm has set so, a write that refers to a resource of the firm that does not exist is refused (docs/decisions/0247).
 * Only references are looked up whose target the caller may read whatever is in it: the answer tells no more than a read.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import { batchMax, type ResourceWrite } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';
import { findHook } from '../hooks.ts';

/** In JSON without spaces, as storage holds it, this cannot match inside a string, whose quotes are escaped. */
const literalReference = /"reference":"([^"\\]+)"/g;
const local = /^([A-Z][A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;
const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/** Issues of one answer, at most. */
const issuesMax = 100;

type ReferringContext = Pick<InteractionContext, 'scope' | 'store' | 'baseUrl' | 'policy' | 'budget'> &
  Partial<Pick<InteractionContext, 'comingResources'>>;

/**
 * Passes where every literal reference leads to a live resource, or is none of the firm's, or is not for this caller to know,
 * or was in the version before. Looks up at most `batchMax` resources, in one statement.
 * @param text what is to be stored @param before the live version before, if there is one
 * @throws PraxisError `rule-broken` naming each missing resource, `too-costly`
 */
export async function requireReferences(
  context: ReferringContext,
  { type, id }: Pick<ResourceWrite, 'type' | 'id'>,
  text: string,
  before: string | undefined,
): Promise<void> {
  if (context.scope.requiresReferences !== true || type === 'Bundle') return; // a Bundle's links lead into itself
  const known = before === undefined ? new Set<string>() : referred(context, before);
  const asked = [...referred(context, text)].filter(
    (target) => target !== `${type}/${id}` && !known.has(target) && context.comingResources?.has(target) !== true,
  );
  if (asked.length === 0) return;
  if (asked.length > batchMax)
    fail('too-costly', {
      diagnostics: `The resource refers to ${asked.length} others, and at most ${batchMax} are looked up for one write. Nothing was changed. To make it cheaper: add the references in several writes`,
    });
  const versions = await context.store.currentVersions(context.scope, asked.map(keyOf));
  const live = new Set(versions.filter(({ deleted }) => !deleted).map((row) => `${row.type}/${row.id}`));
  const [first, ...more] = asked
    .filter((target) => !live.has(target))
    .slice(0, issuesMax)
    .map((target) => ({ diagnostics: `${target} does not exist: this firm takes no reference to it` }));
  if (first !== undefined)
    fail('rule-broken', { ...first, more: more.map((issue) => ({ issue: 'business-rule' as const, ...issue })) });
}

/** The resources of the firm that the text refers to and that may be looked up for this caller, each once: `Type/id`. */
function referred({ baseUrl, policy, budget }: ReferringContext, text: string): Set<string> {
  const found = new Set<string>();
  const types = new Map<string, boolean>();
  for (const [, literal = ''] of text.matchAll(literalReference)) {
    budget.spend(1, looking);
    const [, type, id] =
      local.exec(literal.startsWith(`${baseUrl}/`) ? literal.slice(baseUrl.length + 1) : literal) ?? [];
    if (type === undefined || id === undefined) continue;
    const isAsked = types.get(type) ?? isLookedUp(policy, type);
    types.set(type, isAsked);
    if (isAsked) found.add(`${type}/${id}`);
  }
  return found;
}

const looking = { what: 'Looking up the references of the resource', cheaper: 'send fewer references in one resource' };

/**
 * Whether the caller may read every row of the type, so that a read would tell it the same. Where it may read some rows alone, a
 * hidden one and a missing one must look the same: neither is looked up. Derived resources and those of the ledger are not stored.
 */
function isLookedUp(policy: InteractionContext['policy'], type: string): boolean {
  if (!served.has(type) || ledgerTypes.has(type) || findHook('computed', type) !== undefined) return false;
  return policy.grants(type, 'r').some(({ criteria }) => criteria.length === 0);
}

function keyOf(target: string): { readonly type: string; readonly id: string } {
  const at = target.indexOf('/');
  return { type: target.slice(0, at), id: target.slice(at + 1) };
}
