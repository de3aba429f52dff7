/**
 * The walk over what was stored before a search parameter was defined: every resource of its types gets its index rows.
 * Resources that are written meanwhile get theirs from their writers, so the walk ends at the highest number that there
 * was when it began, however many are created behind it.
 *
 * A portion is one transaction that holds each of its resources against writers for some milliseconds: an index row is
 * then never older than the version it belongs to. What a writer holds is left to a portion of its own, so neither waits
 * for the other in a circle.
 */
import { type Budget, type BudgetedWork, parseJsonObject } from '@praxis/fhir';
import type { Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { type IndexRows, indexByOwn } from '../search/index/index-rows.ts';
import { getTypeNumber } from '../search/numbers.ts';
import { insertIndexRows } from '../storage/index-statements.ts';
import { getTypeName } from '../storage/rows.ts';
import type { RegisteredParameter } from './registry.ts';

/** Characters of the resources that a portion holds, about; a single one may have more. */
const charactersMax = 8 * 1024 * 1024;

const indexing: BudgetedWork = {
  what: 'Indexing what was stored before a search parameter was defined',
  cheaper: 'define it by a simpler expression',
};

/** Resources that a portion looks at; fewer are read where the parameter is of some types only. */
const portionMax = 500;

export interface WalkedFirm {
  readonly id: number;
  /** IANA time zone. */
  readonly timeZone: string;
  /** FHIR base URL, without a slash at the end. */
  readonly baseUrl: string;
}

interface Place {
  readonly rid: number;
  readonly rtype: number;
  readonly characters: number;
}

interface Held extends Omit<Place, 'characters'> {
  readonly content: string | null;
}

/** Notes where the walk ends, and how many resources are before it. */
export function begin(firm: number, { id, definition }: RegisteredParameter): Sql {
  const types = definition.base.map(getTypeNumber);
  return sql`
    UPDATE firm_search_parameter p
    SET rid_max = COALESCE((SELECT max(rid) FROM resource WHERE firm = ${firm}), 0),
        resources_total = (
          SELECT count(*) FROM resource
          WHERE firm = ${firm} AND rtype = ANY (${types}::smallint[]) AND content IS NOT NULL)
    WHERE p.firm = ${firm} AND p.id = ${id}`;
}

/**
 * Indexes the next resources; false when the walk is over. In a transaction that holds the row of the parameter.
 * @throws CostlyParameters
 */
export async function indexPortion(
  tx: Queryable,
  firm: WalkedFirm,
  parameter: RegisteredParameter,
  budget: Budget,
): Promise<boolean> {
  const { id, url, definition, ridDone, ridMax } = parameter;
  const places = await tx.query<Place>(sql`
    SELECT rid, rtype, coalesce(octet_length(content), 0) AS characters FROM resource
    WHERE firm = ${firm.id} AND rid > ${ridDone} AND rid <= ${ridMax ?? 0} ORDER BY rid LIMIT ${portionMax}`);
  const types = new Set(definition.base.map(getTypeNumber));
  const portion = withinMemory(places, types);
  const last = portion.at(-1);
  if (last === undefined) return false;
  const wanted = portion.filter(({ rtype }) => types.has(rtype)).map(({ rid }) => rid);
  const rows = await hold(tx, firm.id, wanted);
  const found = new Set(rows.map(({ rid }) => rid));
  const missed = wanted.find((rid) => !found.has(rid));
  const done = missed === undefined ? rows : rows.filter(({ rid }) => rid < missed);
  const rowsOfAll: { readonly rid: number; readonly rows: IndexRows }[] = [];
  const { timeZone, baseUrl } = firm;
  const searchParameters = [{ id, url, definition, complete: false, failed: false }];
  for (const { rid, rtype, content } of done) {
    await budget.breathe(indexing);
    if (content === null) continue;
    const context = { timeZone, baseUrl, searchParameters, characters: content.length };
    const rows = await indexByOwn(getTypeName(rtype), parseJsonObject(content), context, budget);
    rowsOfAll.push({ rid, rows });
  }
  await insertIndexRows(tx, firm.id, rowsOfAll);
  const until = missed === undefined ? last.rid : Math.max(ridDone, missed - 1);
  await tx.query(sql`
    UPDATE firm_search_parameter SET rid_done = ${until}, resources_done = resources_done + ${done.length}
    WHERE firm = ${firm.id} AND id = ${id}`);
  return true;
}

/** Those of `types` whose texts fit into the memory of a portion, one of them at least, and the others between them. */
function withinMemory(places: readonly Place[], types: ReadonlySet<number>): readonly Place[] {
  let characters = 0;
  const tooMany = places.findIndex((place) => {
    if (!types.has(place.rtype)) return false;
    const before = characters;
    characters += place.characters;
    return before > 0 && characters > charactersMax;
  });
  return tooMany < 0 ? places : places.slice(0, tooMany);
}

/** The resources that no writer holds, held; the first of them in any case, once its writer has ended. */
async function hold(tx: Queryable, firm: number, rids: readonly number[]): Promise<readonly Held[]> {
  const [first] = rids;
  if (first === undefined) return [];
  const free = await tx.query<Held>(held(firm, rids, sql`FOR SHARE SKIP LOCKED`));
  return free[0]?.rid === first ? free : await tx.query<Held>(held(firm, [first], sql`FOR SHARE`));
}

function held(firm: number, rids: readonly number[], lock: Sql): Sql {
  return sql`
    SELECT rid, rtype, content FROM resource
    WHERE firm = ${firm} AND rid = ANY (${rids}::bigint[]) ORDER BY rid ${lock}`;
}
