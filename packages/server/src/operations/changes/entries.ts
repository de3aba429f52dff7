/**
 * From versions to what a follower is told of them, so that its copy equals what its searches show. A version that comes
 * into the rows that the caller may see is told as a creation, one that leaves them as a deletion, and neither is told of
 * what was never among them (docs/decisions/0171).
 */
import { coversRow } from '../../access/mask.ts';
import { toInstant } from '../../base/clock.ts';
import type { BundleEntry } from '../../engine/bundle-text.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { formatEtag } from '../../engine/preconditions.ts';
import type { RightsContext } from '../../engine/rights/denials.ts';
import { compileCriterionTest, discloseRow } from '../../engine/rights/disclosing.ts';
import type { Change, ChangePlace, StoredResource } from '../../storage/store.ts';
import type { FollowerPlace } from './cursor.ts';

/** Types of which some rows only may be searched: of those it matters what was before a change. */
export function listComparedTypes(context: RightsContext, types: readonly string[]): readonly string[] {
  return types.filter((type) => !seesAllRows(context, type));
}

function seesAllRows({ policy }: RightsContext, type: string): boolean {
  return policy.grants(type, 's').some(({ criteria }) => criteria.length === 0);
}

/** The entry of a change, or none. */
export function changeEntry(
  context: InteractionContext,
  follower: FollowerPlace,
  change: Change,
): readonly BundleEntry[] {
  const { now, before, isSuperseded, place } = change;
  const isOld = comesBefore(place, follower.began);
  const isShown = isVisible(context, now);
  const wasShown = before !== undefined && isVisible(context, before);
  if (!isShown) return wasShown && !(isOld && follower.isCopy) ? [deletion(context, now)] : [];
  // What has been replaced meanwhile is history: told where histories may be read, and never of the time before the
  // follower began. What replaced it follows.
  if (isSuperseded && isOld) return [];
  const resource = discloseRow(context, isSuperseded ? 'r' : 's', now, {});
  if (resource === undefined) return [];
  const isNew = !wasShown || (isOld && follower.isCopy);
  const url = `${now.type}/${now.id}`;
  return [
    {
      fullUrl: `${context.baseUrl}/${url}`,
      resource,
      request: isNew ? { method: 'POST', url: now.type } : { method: 'PUT', url },
      response: { status: isNew ? '201' : '200', ...factsOf(now) },
    },
  ];
}

function deletion(context: InteractionContext, now: StoredResource): BundleEntry {
  const url = `${now.type}/${now.id}`;
  return {
    fullUrl: `${context.baseUrl}/${url}`,
    request: { method: 'DELETE', url },
    response: { status: '204', ...factsOf(now) },
  };
}

function factsOf({ versionId, lastUpdatedMs }: StoredResource): { etag: string; lastModified: string } {
  return { etag: formatEtag(versionId), lastModified: toInstant(lastUpdatedMs) };
}

/** Whether a search would find the version, were it the current one. */
function isVisible(context: InteractionContext, version: StoredResource): boolean {
  if (version.deleted) return false;
  // Then the version before a change is not read, since nothing depends on it.
  if (seesAllRows(context, version.type)) return true;
  return coversRow(context.policy, 's', version.type, compileCriterionTest(context, version.type, version.content));
}

function comesBefore(place: ChangePlace, other: ChangePlace): boolean {
  return place.epoch < other.epoch || (place.epoch === other.epoch && BigInt(place.xid) < BigInt(other.xid));
}
