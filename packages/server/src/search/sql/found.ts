/**
 * The resources that a lead finds and that meet every other condition, each once and in no order. `d` is the lead's table;
 * conditions name its columns without a qualifier.
 */
import { type Sql, sql } from '../../database/sql.ts';
import { typeNumber } from '../numbers.ts';
import type { Condition } from '../query/condition.ts';
import type { Criterion } from '../query/criteria.ts';
import type { Lead } from './lead.ts';
import { type Asking, mandatoryProbe, probe, tables } from './probes.ts';

/** What a search is about, apart from its order and its page. */
export interface Wanted {
  readonly firm: number;
  readonly type: string;
  readonly criteria: readonly Condition[];
  /** The rows that the caller may see: those of at least one group; none: all. Never mixed with what the caller asks. */
  readonly mandatory: readonly (readonly Criterion[])[];
}

const and = sql` AND `;

/** What makes a row of the lead's table one of this firm and parameter, or of this firm and type. */
export function source({ firm, type }: Wanted, lead: Lead): readonly Sql[] {
  if (lead.table !== 'resource') return [sql`d.firm = ${firm}`, sql`d.param = ${lead.number}`];
  return [sql`d.firm = ${firm}`, sql`d.rtype = ${typeNumber(type)}`, sql`d.content IS NOT NULL`];
}

/**
 * WHERE of the rows of a branch of the lead that meet all criteria and `more`. In this order: of several lower bounds of an
 * index's column the scan begins at the one named first, and the row that a page comes after has to be that one.
 */
export function candidates(
  wanted: Wanted,
  lead: Lead,
  branch: Sql,
  more: readonly Sql[],
  asking: Asking = 'look-up',
): Sql {
  return sql`WHERE ${sql.join([...source(wanted, lead), ...more, sql`(${branch})`, ...filters(wanted, lead, asking)], and)}`;
}

/** What the lead does not see to: the other criteria, and the row restrictions of the caller. */
export function filters({ firm, criteria, mandatory }: Wanted, lead: Lead, asking: Asking): readonly Sql[] {
  const others = criteria.filter((condition) => !lead.covered.has(condition));
  const asked = others.map((condition) => probe(firm, condition, asking));
  const isLed = mandatory.length === 1 && soleGroup(mandatory).every((criterion) => lead.covered.has(criterion));
  return mandatory.length === 0 || isLed ? asked : [...asked, mandatoryProbe(firm, mandatory, asking)];
}

/** What every row has in common that the caller may see; nothing where it may see rows of several kinds. */
export function soleGroup(mandatory: Wanted['mandatory']): readonly Criterion[] {
  const [group = [], ...others] = mandatory;
  return others.length === 0 ? group : [];
}

/**
 * One row, `few`: whether at most `limit` rows lead the search, whatever the other conditions leave of them; of resources
 * that are linked, whether so many lead to them.
 */
export function leadsFew(wanted: Wanted, lead: Lead, limit: number): Sql {
  if (lead.gathersFew !== undefined) return lead.gathersFew(limit);
  const conditions = sql.join([...source(wanted, lead), sql`(${lead.where})`], and);
  return sql`SELECT count(*) <= ${limit} AS few FROM (SELECT 1 FROM ${tables[lead.table]} d WHERE ${conditions} LIMIT ${limit + 1}) c`;
}

/** The resources that the search finds: `rid`, each once, in no order. */
export function resourcesOf(wanted: Wanted, lead: Lead, more: readonly Sql[] = [], asking: Asking = 'look-up'): Sql {
  const from = sql`FROM ${tables[lead.table]} d`;
  const parts = lead.branches.map(
    (branch) => sql`SELECT d.rid ${from} ${candidates(wanted, lead, branch, more, asking)}`,
  );
  const all = sql.join(parts, sql` UNION ALL `);
  return parts.length === 1 && !lead.repeats ? all : sql`SELECT DISTINCT rid FROM (${all} OFFSET 0) c`;
}
