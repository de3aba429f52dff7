/**
 * history of one resource (https://hl7.org/fhir/R4/http.html#history): versions newest first, deletions included.
 */
import type { ElementFilter } from '../access/mask.ts';
import { toInstant } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import { newUuid } from '../base/ids.ts';
import type { StoredResource } from '../storage/store.ts';
import { type BundleEntry, type BundleLink, bundleText } from './bundle-text.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from './context.ts';
import { notFound, requireGrants } from './denials.ts';
import { discloseRow, requestedElements } from './disclosing.ts';
import { etagOf } from './preconditions.ts';
import { seesAllRows } from './read.ts';

const versionsMax = 100;
const known: ReadonlySet<string> = new Set(['_count', '_before', '_format', '_pretty', '_elements', '_summary']);

export const historyInstance: Interaction = {
  authorize: (context, request) => requireGrants(context, request.type, 'r'),
  answer,
};

/**
 * A Bundle of type `history`; `next` continues with older versions. Versions outside the caller's row criteria are left
 * out, deletions too unless the caller has no row criteria.
 * @throws PraxisError `search-invalid`, `resource-not-found`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const page = parsePage(request);
  const filter = requestedElements(request.parameters);
  const rows = await context.store.history(context.scope, request.type, request.id, { ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  const seesDeletions = seesAllRows(context, request.type);
  const entries = shown.flatMap((row) => historyEntry(context, row, filter, seesDeletions));
  if (entries.length === 0 && page.beforeVersion === undefined) return notFound(request.type, request.id);
  const body = bundleText({
    type: 'history',
    id: newUuid(),
    lastUpdated: toInstant(context.clock.now()),
    ...(page.beforeVersion === undefined && rows.length <= page.limit ? { total: entries.length } : {}),
    links: links(context, request, page.limit, rows.length > page.limit ? shown.at(-1) : undefined),
    entries,
  });
  return { status: 200, body };
}

function parsePage(request: FhirRequest): { limit: number; beforeVersion?: number } {
  let limit = versionsMax;
  let beforeVersion: number | undefined;
  for (const [name, value] of request.parameters) {
    if (!known.has(name))
      fail('search-invalid', { diagnostics: `${name} is not a parameter of an instance history`, expression: [name] });
    if (name === '_count') limit = Math.min(versionsMax, Math.max(1, positive(name, value)));
    if (name === '_before') beforeVersion = positive(name, value);
  }
  return { limit, ...(beforeVersion === undefined ? {} : { beforeVersion }) };
}

function positive(name: string, value: string): number {
  if (!/^\d{1,9}$/.test(value))
    fail('search-invalid', { diagnostics: `${name} must be a whole number`, expression: [name] });
  return Number(value);
}

function historyEntry(
  context: InteractionContext,
  row: StoredResource,
  filter: ElementFilter,
  seesDeletions: boolean,
): BundleEntry[] {
  const fullUrl = `${context.baseUrl}/${row.type}/${row.id}`;
  const facts = { etag: etagOf(row.versionId), lastModified: toInstant(row.lastUpdatedMs) };
  const url = `${row.type}/${row.id}`;
  if (row.deleted) {
    return seesDeletions
      ? [{ fullUrl, request: { method: 'DELETE', url }, response: { status: '204', ...facts } }]
      : [];
  }
  const resource = discloseRow(context, 'r', row, filter);
  if (resource === undefined) return [];
  const created = row.method === 'create';
  const change = created ? { method: 'POST', url: row.type } : { method: 'PUT', url };
  return [
    {
      fullUrl,
      resource,
      request: change,
      response: { status: created || row.versionId === 1 ? '201' : '200', ...facts },
    },
  ];
}

function links(
  context: InteractionContext,
  request: FhirRequest,
  limit: number,
  last: StoredResource | undefined,
): BundleLink[] {
  const base = `${context.baseUrl}/${request.type}/${request.id}/_history`;
  const query = new URLSearchParams(
    request.parameters.map(([name, value]): [string, string] => [name, value]),
  ).toString();
  const self: BundleLink = { relation: 'self', url: query === '' ? base : `${base}?${query}` };
  if (last === undefined) return [self];
  const rest = request.parameters
    .filter(([name]) => name !== '_before' && name !== '_count')
    .map(([name, value]): [string, string] => [name, value]);
  const next = new URLSearchParams([...rest, ['_count', String(limit)], ['_before', String(last.versionId)]]);
  return [self, { relation: 'next', url: `${base}?${next.toString()}` }];
}
