/**
 * How many resources a search finds, roughly, at about the cost of a page of it (docs/decisions/0112):
 * https://hl7.org/fhir/R4/search.html#total. What it tells depends on rows that the caller may see, and on no others.
 */
import { type Sql, sql } from '../database/sql.ts';
import { filters, resourcesOf, source, type Wanted } from './found.ts';
import type { Lead } from './lead.ts';
import { ofLead, tables } from './probes.ts';

/** Rows of the lead that are counted; what is beyond is not. */
const ledMax = 5_000;

/** Resources of which the other conditions are asked; among more, they are picked evenly. */
const askedMax = 100;

/** Matches that are counted for a caller who may see only some rows. */
const shownMax = 1_000;

/** One row: `total`; `sampled`: not all were asked; `bounded`: there are more than were counted. */
export function estimate(wanted: Wanted, lead: Lead): Sql {
  return wanted.mandatory.length === 0 ? sampled(wanted, lead) : bounded(wanted, lead);
}

/** A sample would tell, by its coarseness, how many rows the lead has that the caller may not see. */
function bounded(wanted: Wanted, lead: Lead): Sql {
  const found = sql`SELECT rid FROM (${resourcesOf(wanted, lead)}) f LIMIT ${shownMax + 1}`;
  return sql`
    SELECT least(count(*), ${shownMax}) AS total, false AS sampled, count(*) > ${shownMax} AS bounded FROM (${found}) c`;
}

function sampled(wanted: Wanted, lead: Lead): Sql {
  const from = sql`FROM ${tables[lead.table]} d`;
  const conditions = sql.join([...source(wanted, lead), sql`(${lead.where})`], sql` AND `);
  const asked = filters(wanted, lead, 'look-up');
  const once = lead.repeats ? sql`SELECT DISTINCT rid FROM led_rows` : sql`SELECT rid FROM led_rows`;
  const led = sql`led_rows AS MATERIALIZED (SELECT ${ofLead.rid} ${from} WHERE ${conditions} LIMIT ${ledMax + 1})`;
  const beyond = sql`(SELECT count(*) FROM led_rows) > ${ledMax} AS bounded`;
  if (asked.length === 0)
    return sql`WITH ${led} SELECT least(count(*), ${ledMax}) AS total, false AS sampled, ${beyond} FROM (${once}) o`;
  return sql`
    WITH ${led}, led AS MATERIALIZED (SELECT rid, row_number() OVER () AS place FROM (${once}) o),
    size AS MATERIALIZED (
      SELECT count(*) AS led, (count(*) + ${askedMax - 1}) / ${askedMax} AS step FROM led),
    asked AS MATERIALIZED (
      SELECT count(*) AS asked, count(*) FILTER (WHERE fits) AS fitting
      FROM (SELECT (${sql.join(asked, sql` AND `)}) AS fits FROM led d WHERE d.place % (SELECT greatest(step, 1) FROM size) = 0 OFFSET 0) s)
    SELECT CASE WHEN asked = 0 THEN 0 ELSE round(led * fitting::float8 / asked)::bigint END AS total,
      asked < led AS sampled, ${beyond}
    FROM size CROSS JOIN asked`;
}
