/**
 * The record of one resource by one statement, where it fits into one page and no right restricts rows: of most patients. The
 * walk (walk.ts), which searches type by type, is for all others (docs/decisions/0287).
 */
import { memoize } from '../../access/memoize.ts';
import type { AccessPolicy } from '../../access/policy.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { mayFindAll } from '../../engine/search/compartment-types.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { isWithinBytes, pageBytesMax } from '../../search/sql/page-bytes.ts';
import { encodeIntegerArray } from '../../storage/index-arrays.ts';
import type { PageRow, StoredResource } from '../../storage/store.ts';
import type { EverythingParameters } from './parameters.ts';
import { listSectionNumbers, listSections } from './sections.ts';

/**
 * The resource and what is in its compartment, in the order of the walk; undefined: only the walk can tell.
 * @throws PraxisError `stale-access`
 */
export async function readWholeRecord(
  context: InteractionContext,
  asked: EverythingParameters,
): Promise<readonly StoredResource[] | undefined> {
  if (asked.id === '' || asked.cursor !== undefined || asked.types !== undefined || isOfTime(asked)) return undefined;
  const plans = memoize(plansOf, context.policy, () => new Map<string, RecordPlan | undefined>());
  if (!plans.has(asked.type)) plans.set(asked.type, planRecord(context, asked));
  const plan = plans.get(asked.type);
  if (plan === undefined) return undefined;
  const rows = await context.store.selectPage(context.scope, selectRecord(context, asked, plan), true);
  const isWhole = rows.length <= asked.count && rows.every(({ deleted }) => !deleted);
  const hasOwner = rows.some(({ type, id }) => type === asked.type && id === asked.id);
  return isWhole && hasOwner ? inOrderOf(plan, rows) : undefined;
}

/** What the statement of a record needs of the caller's rights and of the type of its owner. */
interface RecordPlan {
  /** The numbers of the parameters of all sections, as the literal of an array. */
  readonly numbers: string;
  /** The place of a type among the sections. */
  readonly places: ReadonlyMap<string, number>;
}

/** By policy, which is made once for all calls with the same rights, and by type; undefined: only the walk can tell. */
const plansOf = new WeakMap<AccessPolicy, Map<string, RecordPlan | undefined>>();

function planRecord(context: InteractionContext, asked: EverythingParameters): RecordPlan | undefined {
  const sections = listSections(context, asked, asked.id);
  if (sections[0]?.type !== asked.type) return undefined;
  if (!sections.every(({ type, scope }) => mayFindAll(context, type, scope.codes))) return undefined;
  return {
    numbers: encodeIntegerArray(sections.flatMap(listSectionNumbers)),
    places: new Map(sections.map(({ type }, place) => [type, place])),
  };
}

function isOfTime({ since, start, end }: EverythingParameters): boolean {
  return since !== undefined || start !== undefined || end !== undefined;
}

/** Contents beyond the limit of bytes are left out, and the row beyond the page tells that there are more. */
function selectRecord(
  { scope: { firm, application } }: InteractionContext,
  { type, id, count }: EverythingParameters,
  { numbers }: RecordPlan,
): Sql {
  const owner = getTypeNumber(type);
  const limit = count + 1;
  return sql`
    SELECT e.epoch, r.rtype, r.id, r.vid, r.lu, CASE WHEN r.within THEN r.content END AS content, r.rid
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT *, ${isWithinBytes(sql`octet_length(content)`, sql`ORDER BY rid`, pageBytesMax)} AS within FROM (
      SELECT c.rid, c.rtype, c.id, c.vid, c.lu, c.content FROM (
        SELECT rid FROM resource WHERE firm = ${firm} AND rtype = ${owner} AND id = ${id} AND content IS NOT NULL
        UNION
        SELECT i.rid FROM unnest(${numbers}::int[]) AS p(param) CROSS JOIN LATERAL (
          SELECT rid FROM index_reference WHERE firm = ${firm} AND param = p.param AND target_rtype = ${owner} AND target_id = ${id}
          ORDER BY rid LIMIT ${limit}) i) found
      CROSS JOIN LATERAL (
        SELECT rid, rtype, id, vid, lu, content FROM resource WHERE firm = ${firm} AND rid = found.rid OFFSET 0) c
      LIMIT ${limit}) page) r ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

/** Section by section, and in each in the order in which its search without sort finds them. */
function inOrderOf({ places }: RecordPlan, rows: readonly PageRow[]): readonly StoredResource[] {
  const placeOf = ({ type }: PageRow): number => places.get(type) ?? places.size;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b) || a.rid - b.rid);
}
