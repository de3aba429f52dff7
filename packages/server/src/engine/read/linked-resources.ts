/**
 * The resources of this service that disclosed texts refer to (https://hl7.org/fhir/R4/references.html#literal), as far as the
 * caller may search them. Only what the caller sees is followed: a hidden reference leads nowhere.
 */
import { type BudgetedWork, resourceTypesWithEndpoint } from '@praxis/fhir';
import { type Disclosed, unwrapDisclosed } from '../../access/disclosure.ts';
import { sql } from '../../database/sql.ts';
import { makeTooCostlyError } from '../../limits/budgets.ts';
import { includedBytesMax } from '../../search/includes/include-limits.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { isWithinBytes } from '../../search/sql/page-bytes.ts';
import { countBytes, type StoredResource } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';
import { mayFindAll } from '../search/compartment-types.ts';
import { planSearch, strictly } from '../search/searching.ts';
import { selectAllPages } from '../search/select-page.ts';

const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/** Ids that one search asks for, at most. */
const idsPerSearch = 20;

/** So many are read by a statement that takes about a millisecond. */
const fewKeys = 64;

/** Members that refer to resources, as JSON writes them. Inside a text their quotes would be escaped. */
const references = /"(reference|url)":"([^"\\]+)"/g;

/** A literal reference; one to a version refers to its resource. */
const literal = /^(([A-Z][A-Za-z]+)\/[A-Za-z0-9\-.]{1,64})(?:\/_history\/[^/]+)?$/;

/** `Type/id` of each local resource that the text refers to, in the order of the text; versions are left off. */
export function listLocalReferences(
  { baseUrl }: Pick<InteractionContext, 'baseUrl'>,
  text: Disclosed<string>,
): readonly string[] {
  const found = new Set<string>();
  for (const [, member, value = ''] of unwrapDisclosed(text).matchAll(references)) {
    const path = value.startsWith(`${baseUrl}/`) ? value.slice(baseUrl.length + 1) : value;
    const [, name, type = ''] = literal.exec(path) ?? [];
    const isLink = member === 'reference' || type === 'Binary';
    if (isLink && name !== undefined && served.has(type)) found.add(name);
  }
  return [...found];
}

/**
 * Those of `names` (`Type/id`) that exist and that the caller may search, in the order of `names`.
 * @throws PraxisError `too-costly` where they take more than `includedBytesMax` together
 */
export async function findNamed(
  context: InteractionContext,
  names: readonly string[],
): Promise<readonly StoredResource[]> {
  const idsByType = new Map<string, string[]>();
  for (const name of names) {
    const [type = '', id = ''] = name.split('/');
    if (context.policy.allows(type, 's')) idsByType.set(type, [...(idsByType.get(type) ?? []), id]);
  }
  const found = new Map<string, StoredResource>();
  const keys = [...idsByType].filter(([type]) => mayFindAll(context, type, ['_id']));
  for (const row of await readByKeys(context, keys)) found.set(`${row.type}/${row.id}`, row);
  for (const [type] of keys) idsByType.delete(type);
  let bytes = countBytes([...found.values()]);
  for (const [type, ids] of idsByType) {
    for (let start = 0; start < ids.length; start += idsPerSearch) {
      const asked = ['_id', ids.slice(start, start + idsPerSearch).join(',')] as const;
      const pages = selectAllPages(context, (begin) => planSearch(context, type, [asked, ...begin], strictly));
      for await (const rows of pages) {
        for (const row of rows) found.set(`${row.type}/${row.id}`, row);
        bytes += countBytes(rows);
        if (bytes > includedBytesMax) throw makeTooCostlyError({ ...reading, limit: 'bytes', max: includedBytesMax });
      }
    }
  }
  return names.flatMap((name) => found.get(name) ?? []);
}

/** The live resources of these types and ids, in no order, by one statement. @throws PraxisError `too-costly` */
async function readByKeys(
  { store, scope }: InteractionContext,
  idsByType: readonly (readonly [type: string, ids: readonly string[]])[],
): Promise<readonly StoredResource[]> {
  if (idsByType.length === 0) return [];
  const keys = idsByType.flatMap(([type, ids]) => ids.map((id) => ({ rtype: getTypeNumber(type), id })));
  const { firm, application } = scope;
  const rows = await store.selectPage(
    scope,
    sql`
      SELECT e.epoch, r.rtype, r.id, r.vid, r.lu, CASE WHEN r.within THEN r.content END AS content, r.rid
      FROM access_epoch e LEFT JOIN LATERAL (
        SELECT *, ${isWithinBytes(sql`octet_length(content)`, sql`ORDER BY rid`, includedBytesMax)} AS within FROM (
        SELECT c.* FROM unnest(${keys.map(({ rtype }) => rtype)}::smallint[], ${keys.map(({ id }) => id)}::text[]) AS k(rtype, id)
        CROSS JOIN LATERAL (
          SELECT rid, rtype, id, vid, lu, content FROM resource
          WHERE firm = ${firm} AND rtype = k.rtype AND id = k.id AND content IS NOT NULL OFFSET 0) c) page) r ON true
      WHERE e.firm = ${firm} AND e.application = ${application}`,
    keys.length <= fewKeys,
  );
  // The row that reaches the limit comes whole, those after it without their contents.
  if (rows.some(({ deleted }) => deleted) || countBytes(rows) > includedBytesMax)
    throw makeTooCostlyError({ ...reading, limit: 'bytes', max: includedBytesMax });
  return rows;
}

const reading: BudgetedWork = {
  what: 'Reading the resources that are referred to',
  cheaper: 'ask for smaller pages (_count), or for fewer types (_type)',
};
