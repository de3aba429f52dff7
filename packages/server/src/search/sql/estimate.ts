/**
 * How many resources a search finds, roughly, at about the cost of a page of it (docs/decisions/0112):
 * https://hl7.org/fhir/R4/search.html#total. What it tells depends on rows that the caller may see, and on no others.
 */
import { type Sql, sql } from '../../database/sql.ts';
import { selectivities } from '../kinds/kind.ts';
import { allOfType, type DrivingIndex } from './driving-index.ts';
import { drivingRow, tables } from './exists-subquery.ts';
import { buildOtherConditions, buildSourceConditions, selectMatchingIds, type Wanted } from './matching-ids.ts';

/** Rows of the driving index that are counted; what is beyond is not. */
const ledMax = 1_000;

/** Resources behind the driving index up to which all are asked the other conditions. */
const allAskedMax = 100;

/** Of more, so many are asked, picked evenly. */
const askedMax = 50;

/** The same, where links have to be followed for the answer. */
const followedMax = 25;

/** Matches that are counted for a caller who may see only some rows. */
const shownMax = 1_000;

/**
 * Linked resources up to which they are gathered to drive the search; of more, resources of the type are asked whether
 * they link.
 */
const gatheredMax = 500;

/** One row: `total`; `sampled`: not all were asked; `bounded`: there are more than were counted. */
export function estimate(wanted: Wanted, driving: DrivingIndex): Sql {
  if (wanted.mandatory.length > 0) return shown(wanted, driving);
  if (driving.gathersFew === undefined || driving.selectivity < selectivities.some)
    return byLead(wanted, driving, askedMax);
  return sql`
    WITH gate AS MATERIALIZED (${driving.gathersFew(gatheredMax)})
    SELECT e.* FROM (${byLead(wanted, driving, askedMax)}) e WHERE (SELECT few FROM gate)
    UNION ALL SELECT e.* FROM (${byLead(wanted, allOfType, followedMax)}) e WHERE (SELECT NOT few FROM gate)`;
}

/** A sample would tell, by its coarseness, how many rows the driving index has that the caller may not see. */
function shown(wanted: Wanted, driving: DrivingIndex): Sql {
  const found = sql`SELECT rid FROM (${selectMatchingIds(wanted, driving)}) f LIMIT ${shownMax + 1}`;
  return sql`
    SELECT least(count(*), ${shownMax}) AS total, false AS sampled, count(*) > ${shownMax} AS bounded FROM (${found}) c`;
}

function byLead(wanted: Wanted, driving: DrivingIndex, samplesMax: number): Sql {
  const rows = rowsOf(wanted, driving);
  const asked = buildOtherConditions(wanted, driving, 'nested-loop');
  return asked.length === 0 ? counted(rows, driving) : sampled(rows, driving, asked, samplesMax);
}

/** `rid` and `found`. Values that a text is looked for inside are not found by the index: those looked at are limited. */
function rowsOf(wanted: Wanted, driving: DrivingIndex): Sql {
  const inside = driving.table === 'string' && driving.selectivity >= selectivities.most;
  const passed = inside ? [] : [sql`(${driving.where})`];
  const conditions = sql.join([...buildSourceConditions(wanted, driving), ...passed], sql` AND `);
  const from = sql`FROM ${tables[driving.table]} d WHERE ${conditions}${inOrder(driving)} LIMIT ${ledMax + 1}`;
  if (!inside) return sql`SELECT ${drivingRow.rid}, true AS found ${from}`;
  return sql`SELECT rid, (${driving.where}) AS found FROM (SELECT * ${from}) d`;
}

/** Where the index has the rows of a resource beside each other, they need not be sorted to count it once. */
function inOrder({ repeats, order, branches }: DrivingIndex): Sql {
  return repeats && order === 'rid' && branches.length === 1 ? sql` ORDER BY ${drivingRow.rid}` : sql.empty;
}

function counted(rows: Sql, { repeats }: DrivingIndex): Sql {
  const count = repeats ? sql`count(DISTINCT rid)` : sql`count(*)`;
  return sql`
    SELECT least(${count} FILTER (WHERE found), ${ledMax}) AS total, false AS sampled, count(*) > ${ledMax} AS bounded
    FROM (${rows}) r`;
}

function sampled(rows: Sql, { repeats }: DrivingIndex, asked: readonly Sql[], samplesMax: number): Sql {
  const once = repeats ? sql`array_agg(DISTINCT rid)` : sql`array_agg(rid)`;
  const step = sql`CASE WHEN cardinality(rids) <= ${allAskedMax} THEN 1 ELSE (cardinality(rids) + ${samplesMax - 1}) / ${samplesMax} END`;
  return sql`
    WITH led AS MATERIALIZED (
      SELECT count(*) > ${ledMax} AS bounded, coalesce(${once} FILTER (WHERE found), '{}') AS rids FROM (${rows}) r),
    asked AS MATERIALIZED (
      SELECT count(*) AS asked, count(*) FILTER (WHERE fits) AS fitting
      FROM (SELECT (${sql.join(asked, sql` AND `)}) AS fits FROM (
        SELECT rids[place] AS rid FROM led
        CROSS JOIN generate_series(1, cardinality(rids), ${step}) AS place) d OFFSET 0) s)
    SELECT CASE WHEN asked = 0 THEN 0 ELSE round(cardinality(rids) * fitting::float8 / asked)::bigint END AS total,
      asked < cardinality(rids) AS sampled, bounded
    FROM led CROSS JOIN asked`;
}
