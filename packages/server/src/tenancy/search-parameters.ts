/**
 * The search parameters that a firm defines for itself (https://hl7.org/fhir/R4/searchparameter.html), as every statement
 * of the firm has to know them: a change raises the access epochs of the firm, so no write misses an index row of one that
 * is there, and no search uses one that is incomplete (docs/decisions/0130).
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';

/** A definition in the form of @praxis/fhir's own rows. */
export interface SearchParameterDefinition {
  readonly code: string;
  readonly type: string;
  /** Names of resource types. */
  readonly base: readonly string[];
  readonly expression: string;
  readonly target?: readonly string[];
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
  readonly description: string;
}

export interface FirmSearchParameter {
  /** Unique in the installation and never given again: index rows are told apart by it. */
  readonly id: number;
  /** Canonical URL of the SearchParameter. */
  readonly url: string;
  readonly definition: SearchParameterDefinition;
  /** Every resource has its index rows, so it may be searched by. */
  readonly complete: boolean;
  /** It costs too much (search/index/costly-parameters.ts): nothing is indexed or searched by it. */
  readonly failed: boolean;
}

/** Those that writes index and those that have failed, in the order of their definition. Equal lists of one process are the same object. */
export type FirmSearchParameters = readonly FirmSearchParameter[];

export const noSearchParameters: FirmSearchParameters = [];

/** The parameters of the firm that `firm` names in a statement, as JSON text; null when it has none. */
export function searchParametersJson(firm: Sql): Sql {
  return sql`(
    SELECT json_agg(json_build_object('id', p.id, 'url', p.url, 'definition', p.definition, 'complete', p.state = 'active', 'failed', p.state = 'failed') ORDER BY p.id)::text
    FROM firm_search_parameter p WHERE p.firm = ${firm} AND p.state IN ('indexing', 'active', 'failed'))`;
}

/** Those of one firm. */
export async function findSearchParameters(
  database: Database,
  firm: { readonly id: number },
): Promise<FirmSearchParameters> {
  const [row] = await database.query<{ list: string | null }>(
    sql`SELECT ${searchParametersJson(sql`${firm.id}::int`)} AS list`,
  );
  return readSearchParameters(row?.list ?? null);
}

/** Lists remembered by one process: one per firm that defines parameters, and those of their recent changes. */
const listsMax = 1_000;

const lists = new LRUCache<string, FirmSearchParameters>({ max: listsMax });

/** The list that `searchParametersJson` gave. */
export function readSearchParameters(json: string | null): FirmSearchParameters {
  if (json === null) return noSearchParameters;
  const known = lists.get(json);
  if (known !== undefined) return known;
  const list: FirmSearchParameters = JSON.parse(json); // the table's own form
  lists.set(json, list);
  return list;
}
