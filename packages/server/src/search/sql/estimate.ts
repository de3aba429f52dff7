/**
 * How many resources a search finds, roughly, at about the cost of a page of it (docs/decisions/0112):
 * https://hl7.org/fhir/R4/search.html#total. What it tells depends on rows that the caller may see, and on no others.
 */
import { type Sql, sql } from '../../database/sql.ts';
import { shares } from '../kinds/kind.ts';
import { filters, resourcesOf, source, type Wanted } from './found.ts';
import { allOfType, type Lead } from './lead.ts';
import { ofLead, tables } from './probes.ts';

/** Rows of the lead that are counted; what is beyond is not. */
const ledMax = 1_000;

/** Resources behind the lead up to which all are asked the other conditions. */
const allAskedMax = 100;

/** Of more, so many are asked, picked evenly. */
const askedMax = 50;

/** The same, where links have to be followed for the answer. */
const followedMax = 25;

/** Matches that are counted for a caller who may see only some rows. */
const shownMax = 1_000;

/** Linked resources up to which they are gathered to lead; of more, resources of the type are asked whether they link. */
const gatheredMax = 500;

/** One row: `total`; `sampled`: not all were asked; `bounded`: there are more than were counted. */
export function estimate(wanted: Wanted, lead: Lead): Sql {
  if (wanted.mandatory.length > 0) return shown(wanted, lead);
  if (lead.gathersFew === undefined || lead.share < shares.some) return byLead(wanted, lead, askedMax);
  return sql`
    WITH gate AS MATERIALIZED (${lead.gathersFew(gatheredMax)})
    SELECT e.* FROM (${byLead(wanted, lead, askedMax)}) e WHERE (SELECT few FROM gate)
    UNION ALL SELECT e.* FROM (${byLead(wanted, allOfType, followedMax)}) e WHERE (SELECT NOT few FROM gate)`;
}

/** A sample would tell, by its coarseness, how many rows the lead has that the caller may not see. */
function shown(wanted: Wanted, lead: Lead): Sql {
  const found = sql`SELECT rid FROM (${resourcesOf(wanted, lead)}) f LIMIT ${shownMax + 1}`;
  return sql`
    SELECT least(count(*), ${shownMax}) AS total, false AS sampled, count(*) > ${shownMax} AS bounded FROM (${found}) c`;
}

function byLead(wanted: Wanted, lead: Lead, samplesMax: number): Sql {
  const rows = rowsOf(wanted, lead);
  const asked = filters(wanted, lead, 'look-up');
  return asked.length === 0 ? counted(rows, lead) : sampled(rows, lead, asked, samplesMax);
}

/** `rid` and `leads`. Values that a text is looked for inside are not found by the index: those looked at are limited. */
function rowsOf(wanted: Wanted, lead: Lead): Sql {
  const inside = lead.table === 'string' && lead.share >= shares.most;
  const conditions = sql.join(
    inside ? source(wanted, lead) : [...source(wanted, lead), sql`(${lead.where})`],
    sql` AND `,
  );
  const from = sql`FROM ${tables[lead.table]} d WHERE ${conditions}${inOrder(lead)} LIMIT ${ledMax + 1}`;
  if (!inside) return sql`SELECT ${ofLead.rid}, true AS leads ${from}`;
  return sql`SELECT rid, (${lead.where}) AS leads FROM (SELECT * ${from}) d`;
}

/** Where the index has the rows of a resource beside each other, they need not be sorted to count it once. */
function inOrder({ repeats, order, branches }: Lead): Sql {
  return repeats && order === 'rid' && branches.length === 1 ? sql` ORDER BY ${ofLead.rid}` : sql.empty;
}

function counted(rows: Sql, { repeats }: Lead): Sql {
  const count = repeats ? sql`count(DISTINCT rid)` : sql`count(*)`;
  return sql`
    SELECT least(${count} FILTER (WHERE leads), ${ledMax}) AS total, false AS sampled, count(*) > ${ledMax} AS bounded
    FROM (${rows}) r`;
}

function sampled(rows: Sql, { repeats }: Lead, asked: readonly Sql[], samplesMax: number): Sql {
  const once = repeats ? sql`array_agg(DISTINCT rid)` : sql`array_agg(rid)`;
  const step = sql`CASE WHEN cardinality(rids) <= ${allAskedMax} THEN 1 ELSE (cardinality(rids) + ${samplesMax - 1}) / ${samplesMax} END`;
  return sql`
    WITH led AS MATERIALIZED (
      SELECT count(*) > ${ledMax} AS bounded, coalesce(${once} FILTER (WHERE leads), '{}') AS rids FROM (${rows}) r),
    asked AS MATERIALIZED (
      SELECT count(*) AS asked, count(*) FILTER (WHERE fits) AS fitting
      FROM (SELECT (${sql.join(asked, sql` AND `)}) AS fits FROM (
        SELECT rids[place] AS rid FROM led
        CROSS JOIN generate_series(1, cardinality(rids), ${step}) AS place) d OFFSET 0) s)
    SELECT CASE WHEN asked = 0 THEN 0 ELSE round(cardinality(rids) * fitting::float8 / asked)::bigint END AS total,
      asked < cardinality(rids) AS sampled, bounded
    FROM led CROSS JOIN asked`;
}
