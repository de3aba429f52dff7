/**
 * Searches against a real database: a firm, an application with an epoch, the store, and the way from parameters to ids.
 */
import assert from 'node:assert/strict';
import type { JsonObject } from '@praxis/fhir';
import { boxStored, getStoredText } from '../../src/access/disclosure.ts';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { makeFixedClock } from '../../src/base/clock.ts';
import { makeDataKeys, openSecrets } from '../../src/base/secrets.ts';
import { sql } from '../../src/database/sql.ts';
import { findUnmatchable, matchResources } from '../../src/engine/search/match-resources.ts';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { indexResource } from '../../src/search/index/index-rows.ts';
import type { SearchRights } from '../../src/search/query/parse-condition.ts';
import { parseSearch, type SearchParameters } from '../../src/search/query/query.ts';
import type { RowCriterion } from '../../src/search/query/row-criteria.ts';
import { type PageStart, planCount, planPage, type SearchPage, type SearchTarget } from '../../src/search/sql/plan.ts';
import { openStore, type PageRow, type ResourceStore, type ResourceWrite } from '../../src/storage/store.ts';
import { createApplication } from '../../src/tenancy/applications.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { ensureDefaultEnvironments } from '../../src/tenancy/environments.ts';
import { createFirm } from '../../src/tenancy/firms.ts';
import { openScope, type TenantScope } from '../../src/tenancy/scope.ts';
import { noSearchParameters } from '../../src/tenancy/search-parameters.ts';
import { type Lifetime, openTestDatabase, type TestDatabase } from '../support/database.ts';

export const nowMs = Date.UTC(2026, 0, 15, 12);
export const baseUrl = 'https://api.example.com/sandbox/firm/maple/pm/fhir';
export const timeZone = 'America/New_York';
export const limits = {
  searchValuesMax: 500,
  searchParametersMax: 50,
  pageRowsMax: 10_000,
  bodyBytesMax: 1_000_000,
  uploadBytesMax: 1_000,
};
/** Everything may be searched. */
const rights: SearchRights = {
  rowsOf: () => [[]],
  refuse: () => assert.fail('nothing is refused'),
};
export const context = { timeZone, baseUrl, nowMs, limits, rights, searchParameters: noSearchParameters };
export const secrets = openSecrets(makeDataKeys());

const batchRows = 500;

export interface SearchWorld {
  readonly database: TestDatabase;
  readonly store: ResourceStore;
  readonly scope: TenantScope;
  /** Creates the resources, which have ids, in their order; `bare`: with type and id as their only content. */
  load(resources: readonly object[], options?: { readonly bare?: true }): Promise<void>;
  /** One page; the parameters as a query string. */
  page(type: string, query: string, options?: PageOptions): Promise<SearchPage<PageRow>>;
  /** Ids of all pages, by following `next`. */
  ids(type: string, query: string): Promise<string[]>;
  /** The pages before and with the last one, by following `previous` from there, each in its own order; the last first. */
  pagesBack(type: string, query: string): Promise<SearchPage<PageRow>[]>;
  count(type: string, query: string): Promise<number>;
  /** Ids of those stored of the type that the search finds by their contents alone; undefined: that cannot tell. */
  match(type: string, query: string): Promise<string[] | undefined>;
}

export interface PageOptions {
  readonly scope?: TenantScope;
  readonly mandatory?: readonly (readonly RowCriterion[])[];
  readonly policyFingerprint?: string;
}

/** A world of one firm in a database of its own. */
export async function openSearchWorld(lifetime: Lifetime): Promise<SearchWorld> {
  const database = await openTestDatabase(lifetime);
  return await joinSearchWorld(database, 'maple');
}

/** A further firm in the same database. */
export async function joinSearchWorld(database: TestDatabase, prefix: string): Promise<SearchWorld> {
  const store = openStore(database.runtime);
  const scope = await makeScope(database, prefix);
  const page = async (type: string, query: string, options: PageOptions = {}): Promise<SearchPage<PageRow>> => {
    const target = targetOf(scope, type, parametersOfQuery(query), options);
    return await planPage(target).read((statement) => store.selectPage(target.scope, statement));
  };
  const pagesBack: SearchWorld['pagesBack'] = async (type, query) => {
    const target = targetOf(scope, type, parametersOfQuery(query));
    const total = await store.selectCount(scope, planCount(target));
    const last = planPage(target).last(total);
    if (last === undefined) {
      const only = await page(type, query);
      // Writers may have added rows since they were counted.
      return only.next === undefined ? [only] : await pagesBack(type, query);
    }
    const pages: SearchPage<PageRow>[] = [];
    for (let start: PageStart | undefined = last; start !== undefined; ) {
      const found: SearchPage<PageRow> = await page(type, `${query}&_cursor=${start.cursor}`);
      pages.push(found);
      start = found.previous;
    }
    return pages;
  };
  return {
    database,
    store,
    scope,
    page,
    load: (resources, options) => load(store, scope, resources, options?.bare === true),
    async ids(type, query) {
      const found: string[] = [];
      for (let next: string | undefined = query; next !== undefined; ) {
        const result: SearchPage<PageRow> = await page(type, next);
        found.push(...result.rows.map((row) => row.id));
        next = result.next && [query, `_cursor=${result.next.cursor}`].filter((part) => part !== '').join('&');
      }
      return found;
    },
    pagesBack,
    async match(type, query) {
      const target = targetOf(scope, type, parametersOfQuery(query));
      if (findUnmatchable(target.query.criteria) !== undefined) return undefined;
      const { rows } = await page(type, '_count=1000');
      const budget = openOperatorBudget();
      const met = await matchResources({ store, scope, baseUrl, budget }, target, rows);
      return rows.filter((_, at) => met[at] === true).map(({ id }) => id);
    },
    count: (type, query) => store.selectCount(scope, planCount(targetOf(scope, type, parametersOfQuery(query)))),
  };
}

export function targetOf(
  scope: TenantScope,
  type: string,
  parameters: SearchParameters,
  options: PageOptions = {},
): SearchTarget {
  return {
    scope: options.scope ?? scope,
    query: parseSearch(type, parameters, context),
    mandatory: options.mandatory ?? [[]],
    cursor: { secrets, policyFingerprint: options.policyFingerprint ?? 'policy' },
  };
}

export function parametersOfQuery(query: string): [string, string][] {
  return [...new URLSearchParams(query)];
}

async function makeScope({ owner }: TestDatabase, prefix: string): Promise<TenantScope> {
  const environment = 'sandbox';
  await ensureDefaultEnvironments(owner);
  const firm = await createFirm(owner, { environment, prefix, name: prefix, timeZone });
  const application = await createApplication(
    owner,
    { environment, name: `Search of ${prefix}`, acl: ['acl/*'] },
    entryProblem,
  );
  await authorise(owner, makeFixedClock(nowMs), firm, application, { purpose: 'test' }, entryProblem);
  const [epochs] = await owner.query<{ epoch: number }>(
    sql`SELECT epoch FROM access_epoch WHERE firm = ${firm.id} AND application = ${application.id}`,
  );
  if (epochs === undefined) throw new Error('the authorisation has no epoch');
  const { epoch } = epochs;
  return openScope({
    firm: firm.id,
    application: application.id,
    epoch,
    environment,
    firmPrefix: prefix,
    product: 'pm',
    timeZone,
    searchParameters: noSearchParameters,
  });
}

async function load(
  store: ResourceStore,
  scope: TenantScope,
  resources: readonly object[],
  bare: boolean,
): Promise<void> {
  for (let from = 0; from < resources.length; from += batchRows) {
    const batch = resources.slice(from, from + batchRows);
    const writes = await Promise.all(batch.map((resource) => createOf(resource as JsonObject, bare)));
    const outcomes = await store.writeMany(scope, writes);
    if (outcomes.some(({ outcome }) => outcome !== 'written')) throw new Error('a resource was not written');
  }
}

/** The write that creates the resource, as of its meta.lastUpdated or now. */
export async function createOf(resource: JsonObject, bare = false): Promise<ResourceWrite> {
  const type = String(resource['resourceType']);
  const id = String(resource['id']);
  const lastUpdated = (resource['meta'] as JsonObject | undefined)?.['lastUpdated'];
  const lastUpdatedMs = typeof lastUpdated === 'string' ? Date.parse(lastUpdated) : nowMs;
  return {
    type,
    id,
    expectedVersion: 0,
    lastUpdatedMs,
    content: boxStored(JSON.stringify(bare ? { resourceType: type, id } : resource)),
    index: await indexResource(
      type,
      resource,
      { timeZone, baseUrl, searchParameters: noSearchParameters, characters: 0 },
      openOperatorBudget(),
    ),
    audit: { atMs: nowMs, interaction: 'create', subject: 'test', tokenId: 'test', requestId: 'test' },
  };
}

export function contentText(row: PageRow): string {
  return getStoredText(row.content);
}
