/**
 * Bundles of type `history` (https://hl7.org/fhir/R4/http.html#history, bundle.html#history): each entry tells a version
 * and the interaction that made it.
 */
import type { ElementFilter } from '../../access/mask.ts';
import { toInstant } from '../../base/clock.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { BundleEntry, BundleLink } from '../bundle-text.ts';
import type { FhirResponse, InteractionContext } from '../context.ts';
import { listResponse } from '../list-response.ts';
import { formatEtag } from '../preconditions.ts';
import { seesAllRows } from '../read/read.ts';
import { discloseRow, parseElementFilter, pauseBetweenRows, takeBytes } from '../rights/disclosing.ts';
import type { HistoryParameters } from './history-parameters.ts';

/**
 * The entries of the versions that the caller may see; deletions are seen by those who may read all rows of the type.
 * @throws PraxisError `search-invalid` for `_summary`, `too-costly`
 */
export async function buildHistoryEntries(
  context: InteractionContext,
  versions: readonly StoredResource[],
  parameters: HistoryParameters,
): Promise<BundleEntry[]> {
  const filter = parseElementFilter(parameters.applied);
  const entries: BundleEntry[] = [];
  for (const version of versions) {
    await pauseBetweenRows(context);
    entries.push(...historyEntry(context, version, filter));
  }
  return entries;
}

/** What a page says of its place in the history. */
export interface HistoryPlace {
  /** Below the base: `Patient/_history`. */
  readonly path: string;
  readonly parameters: HistoryParameters;
  /** The parameter with which this page was asked for; absent: it is the first. */
  readonly position: readonly [name: string, value: string] | undefined;
  /** The one that leads to the next page, if there is one. */
  readonly next: readonly [name: string, value: string] | undefined;
}

/** 200 with a page; `total` where the page is the whole history. */
export function buildHistoryResponse(
  context: InteractionContext,
  place: HistoryPlace,
  entries: readonly BundleEntry[],
): FhirResponse {
  const isWhole = place.position === undefined && place.next === undefined;
  const total = isWhole ? entries.length : undefined;
  return listResponse(context, { type: 'history', total, links: links(context, place), entries });
}

function links(context: InteractionContext, { path, parameters, position, next }: HistoryPlace): BundleLink[] {
  const linkTo = (place: HistoryPlace['position']): string => {
    const query = new URLSearchParams();
    for (const [name, value] of parameters.applied) query.append(name, value);
    if (place !== undefined) query.append(...place);
    return `${context.baseUrl}/${path}${query.size === 0 ? '' : `?${query}`}`;
  };
  const self: BundleLink = { relation: 'self', url: linkTo(position) };
  return next === undefined ? [self] : [self, { relation: 'next', url: linkTo(next) }];
}

function historyEntry(context: InteractionContext, row: StoredResource, filter: ElementFilter): BundleEntry[] {
  const url = `${row.type}/${row.id}`;
  const fullUrl = `${context.baseUrl}/${url}`;
  const facts = { etag: formatEtag(row.versionId), lastModified: toInstant(row.lastUpdatedMs) };
  if (row.deleted) {
    if (!seesAllRows(context, row.type)) return [];
    return [{ fullUrl, request: { method: 'DELETE', url }, response: { status: '204', ...facts } }];
  }
  const resource = discloseRow(context, 'r', row, filter);
  if (resource === undefined) return [];
  takeBytes(context, resource);
  const isCreated = row.method === 'create';
  const request = isCreated ? { method: 'POST', url: row.type } : { method: 'PUT', url };
  const response = { status: isCreated || row.versionId === 1 ? '201' : '200', ...facts };
  return [{ fullUrl, resource, request, response }];
}
