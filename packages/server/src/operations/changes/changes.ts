/**
 * $changes: what was created, changed and deleted at a firm, in the order of commits, missing nothing
 * (docs/decisions/0170 and 0171). R4 has no operation for this; the answer is a Bundle of type history
 * (https://hl7.org/fhir/R4/bundle.html#history).
 */

import { type Disclosed, unwrapDisclosed } from '../../access/disclosure.ts';
import { toInstant } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import { type BundleEntry, type BundleLink, buildBundleText } from '../../engine/bundle-text.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { refuse } from '../../engine/rights/denials.ts';
import { pauseBetweenRows } from '../../engine/rights/disclosing.ts';
import { encodeQuery } from '../../engine/search/search-links.ts';
import { pageBytesMax } from '../../search/sql/page-bytes.ts';
import { firstPlace } from '../../storage/store.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../operation.ts';
import { type FollowerPlace, openFollower, sealFollower } from './cursor.ts';
import { changeEntry, listComparedTypes } from './entries.ts';
import {
  type ChangesParameters,
  changesMax,
  encodeChangesParameters,
  listSearchableTypes,
  readChangesParameters,
  waitSecondsMax,
} from './parameters.ts';

/** Pause between two looks for a change, in ms: what a waiting follower costs is one short statement in that time. */
const lookPauseMs = 500;

/**
 * Walks through the order that one request makes at most; each passes at least `walkedMin` changes, if there are so
 * many.
 */
const walksMax = 50;
const walkedMin = 100;

/** Bytes of contents that one request passes at least, if there are so many, where it shows none of them. */
const bytesReadMax = 4 * pageBytesMax;

export const changes: Operation = {
  name: 'changes',
  url: 'https://praxis.health/fhir/OperationDefinition/changes',
  worstCase: {
    because: 'all that there is, in the largest pages, waiting for more',
    request: () => buildGetRequest('$changes?_count=1000&_wait=30'),
  },
  rateUnits: 4, // a page over all types, and looks for more while it waits
  levels: ['system'],
  types: 'all',
  affectsState: false,
  isList: true,
  parameters: [
    declareInput(
      'since',
      'string',
      'The value from the link next of the previous page. With a date or an instant: the changes since then, and possibly some earlier ones. When absent: all resources, then their changes.',
    ),
    declareInput('_type', 'string', 'Types, separated by commas.', { max: '*' }),
    declareInput('_count', 'integer', `Changes per page, at most ${changesMax}.`),
    declareInput(
      '_wait',
      'integer',
      `Seconds to wait for a change where there is none yet, ${waitSecondsMax} at most; Prefer: wait says the same.`,
    ),
    declareOutput(
      'return',
      'Bundle',
      'The changes as a history, oldest first. The link next continues, also after the last change.',
    ),
  ],
  authorize(context) {
    if (listSearchableTypes(context).length === 0)
      refuse(context, 'The change feed', ['an access entry with search on some type']);
  },
  answer,
};

/** Where a page begins. `began` is absent on the first page of a follower, which begins with the moment of that page. */
type Start = Omit<FollowerPlace, 'began'> & Partial<FollowerPlace>;

interface Page {
  readonly entries: readonly BundleEntry[];
  readonly follower: FollowerPlace;
  readonly hasMore: boolean;
}

/**
 * 200 with a page of changes; the link `next` is always there.
 * @throws PraxisError `operation-parameter-invalid`, `access-denied`, `cursor-invalid`, `feed-ended`
 */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const asked = readChangesParameters(context, request);
  const start = await startOf(context, asked);
  // Read before the changes are: what is told was complete at an earlier moment, never at a later one.
  const completeUntilMs = await context.store.completeUntil(context.scope);
  let page = await pageAfter(context, asked, start);
  for (let leftMs = asked.waitMs; leftMs > 0 && !page.hasMore && page.entries.length === 0; leftMs -= lookPauseMs) {
    if (!((await context.pause?.(Math.min(lookPauseMs, leftMs))) ?? false)) break;
    page = await pageAfter(context, asked, page.follower);
  }
  const response = feedResponse(context, asked, page);
  return page.hasMore || completeUntilMs === 0 ? response : { ...response, completeUntilMs };
}

async function startOf(context: InteractionContext, { since, types }: ChangesParameters): Promise<Start> {
  if (since.kind === 'cursor') return openFollower(context, types, since.text);
  if (since.kind === 'beginning') return { after: firstPlace, isCopy: true };
  return { after: await context.store.placeSince(context.scope, since.ms), isCopy: false };
}

/**
 * A full page, or what there is up to now: how many changes were passed that the caller may not see must not show in how
 * few a page tells.
 */
async function pageAfter(context: InteractionContext, asked: ChangesParameters, start: Start): Promise<Page> {
  const types = asked.types ?? listSearchableTypes(context);
  const wanted = asked.types === undefined && context.policy.unrestricted ? undefined : types;
  const compared = listComparedTypes(context, types);
  const entries: BundleEntry[] = [];
  let { after, began } = start;
  const limit = Math.max(asked.count, walkedMin);
  let bytesRead = 0;
  let bytesShown = 0;
  for (let walk = 1; ; walk += 1) {
    const found = await context.store.changes(context.scope, { after, limit, types: wanted, comparedTypes: compared });
    if (found === undefined) return refusePlace();
    began ??= found.horizon;
    const follower = { after: found.end, began, isCopy: start.isCopy };
    for (const change of found.changes) {
      await pauseBetweenRows(context);
      const told = changeEntry(context, follower, change);
      entries.push(...told);
      for (const { resource } of told) bytesShown += countCharacters(resource);
      if (entries.length === asked.count || bytesShown >= pageBytesMax)
        return { entries, follower: { ...follower, after: change.place }, hasMore: true };
    }
    bytesRead += found.bytes;
    if (!found.hasMore || walk === walksMax || bytesRead >= bytesReadMax)
      return { entries, follower, hasMore: found.hasMore };
    after = found.end;
  }
}

function countCharacters(resource: Disclosed<string> | undefined): number {
  return resource === undefined ? 0 : unwrapDisclosed(resource).length;
}

function refusePlace(): never {
  return fail('feed-ended', {
    diagnostics:
      'The data was restored to a time before this position in the feed: discard the copy and start again without since',
    expression: ['since'],
  });
}

function feedResponse(context: InteractionContext, asked: ChangesParameters, page: Page): FhirResponse {
  const { entries, follower } = page;
  const { since } = asked;
  const linkTo = (text: string | undefined): string => {
    const parameters = [...(text === undefined ? [] : [['since', text] as const]), ...encodeChangesParameters(asked)];
    return `${context.baseUrl}/$changes?${encodeQuery(parameters)}`;
  };
  const links: readonly BundleLink[] = [
    { relation: 'self', url: linkTo(since.kind === 'beginning' ? undefined : since.text) },
    // Sealed anew each time: whether others' changes went by must not show either.
    { relation: 'next', url: linkTo(sealFollower(context, asked.types, follower)) },
  ];
  const lastUpdated = toInstant(context.clock.now());
  return {
    status: 200,
    body: buildBundleText({ type: 'history', id: makeUuid(), lastUpdated, links, entries }),
    list: { resources: entries.map((entry) => entry.resource ?? lineOf(entry, lastUpdated)), omitted: 0, links },
  };
}

/** Lines are resources: a deletion is a history of its own. */
function lineOf(entry: BundleEntry, lastUpdated: string): Disclosed<string> {
  return buildBundleText({ type: 'history', id: makeUuid(), lastUpdated, links: [], entries: [entry] });
}
