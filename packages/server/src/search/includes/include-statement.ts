/**
 * One round of includes as one statement: from the resources at hand along their references and along those that lead to
 * them, through `index_reference` in both directions (https://hl7.org/fhir/R4/search.html#revinclude).
 *
 * A versioned reference has a row without its version, so the current version is found. References to other servers,
 * contained and logical ones have no row with the type and id of a resource, and deleted resources have no content: they
 * add nothing.
 */
import { type Sql, sql } from '../../database/sql.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { getTypeNumber } from '../numbers.ts';
import { buildMandatoryGroups, type RowCriterion } from '../query/row-criteria.ts';
import { buildMandatoryCondition } from '../sql/exists-subquery.ts';

/** Row restrictions of the caller, as in a search: at least one group; one without criteria admits every row. */
export type Restriction = readonly (readonly RowCriterion[])[];

/** The references that a resource holds under a parameter. */
export interface Outgoing {
  readonly rid: number;
  /** Number of the parameter. */
  readonly parameter: number;
  /** The only type that they are followed to; undefined: every type that may be included. */
  readonly target: string | undefined;
}

/** The references that lead to a resource under a parameter. */
export interface Incoming {
  /** Number of the parameter. */
  readonly parameter: number;
  readonly type: string;
  readonly id: string;
}

/** What the caller may be shown of the resources with an incoming reference. */
export interface IncomingParameter {
  readonly parameter: number;
  /** Type of the resources that hold the reference. */
  readonly source: string;
  readonly restriction: Restriction;
}

export interface IncludeRound {
  readonly scope: TenantScope;
  readonly outgoing: readonly Outgoing[];
  readonly incoming: readonly Incoming[];
  /** The types that may be included by outgoing references, with the rows that the caller may see of each. */
  readonly targets: ReadonlyMap<string, Restriction>;
  /** One for each parameter of `incoming`. */
  readonly sources: readonly IncomingParameter[];
  /** Numbers of the resources that the answer already has. */
  readonly known: readonly number[];
  /** Rows at most. */
  readonly limit: number;
  /** Bytes of content at most: of rows beyond them only their columns come, without it. */
  readonly bytesMax: number;
}

/**
 * The live resources that the round reaches, each once, by their number. Columns: epoch, rtype, id, vid, lu, content, rid;
 * the others are null in the one row of an empty round. No row at all when firm and application have no access epoch.
 */
export function includeStatement(round: IncludeRound): Sql {
  const { firm, application } = round.scope;
  const found = [
    ...(round.outgoing.length > 0 ? [outgoingTargets(round)] : []),
    ...(round.incoming.length > 0 ? [incomingSources(round)] : []),
  ];
  if (found.length === 0) throw new TypeError('a round of includes needs references to follow');
  return sql`
    WITH found AS MATERIALIZED (
      SELECT DISTINCT rid FROM (${sql.join(found, sql` UNION ALL `)}) u ORDER BY rid LIMIT ${round.limit})
    SELECT e.epoch, r.rtype, r.id, r.vid, r.lu, CASE WHEN r.bytes <= ${round.bytesMax} THEN r.content END AS content, r.rid
    FROM access_epoch e LEFT JOIN (
      SELECT c.*, sum(octet_length(c.content)) OVER (ORDER BY found.rid) AS bytes, found.rid
      FROM found CROSS JOIN LATERAL (
        SELECT rtype, id, vid, lu, content FROM resource WHERE firm = ${firm} AND rid = found.rid OFFSET 0) c) r ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY r.rid`;
}

/** Type number in the list of outgoing references that stands for every type that may be included. */
const anyTarget = 0;

/** The planner can only look up: each resource by its references, each reference by its target. */
function outgoingTargets({ scope: { firm }, outgoing, targets, known }: IncludeRound): Sql {
  const rids = outgoing.map(({ rid }) => rid);
  const parameters = outgoing.map(({ parameter }) => parameter);
  const types = outgoing.map(({ target }) => (target === undefined ? anyTarget : getTypeNumber(target)));
  const visible = [...targets].map(([type, restriction]) => ({ number: getTypeNumber(type), type, restriction }));
  const allowed = visible.map(({ number }) => number);
  return sql`
    SELECT goal.rid
    FROM unnest(${rids}::bigint[], ${parameters}::int[], ${types}::smallint[]) AS l(rid, param, target)
    CROSS JOIN LATERAL (
      SELECT i.target_rtype, i.target_id FROM index_reference i WHERE i.firm = ${firm} AND i.rid = l.rid AND i.param = l.param
        AND l.target IN (${anyTarget}, i.target_rtype) AND i.target_rtype = ANY (${allowed}::smallint[]) OFFSET 0) i
    CROSS JOIN LATERAL (
      SELECT r.rid FROM resource r WHERE r.firm = ${firm} AND r.rtype = i.target_rtype AND r.id = i.target_id AND r.content IS NOT NULL OFFSET 0) goal
    WHERE goal.rid <> ALL (${known}::bigint[])${onlyVisible(firm, visible, { number: sql`i.target_rtype`, rid: sql`goal.rid` })}`;
}

/** Of each reference only the first rows are read: a patient may have very many. */
function incomingSources({ scope: { firm }, incoming, sources, known, limit }: IncludeRound): Sql {
  const parameters = incoming.map(({ parameter }) => parameter);
  const types = incoming.map(({ type }) => getTypeNumber(type));
  const ids = incoming.map(({ id }) => id);
  const visible = sources.map(({ parameter, source, restriction }) => ({
    number: parameter,
    type: source,
    restriction,
  }));
  return sql`
    SELECT s.rid
    FROM unnest(${parameters}::int[], ${types}::smallint[], ${ids}::text[]) AS l(param, rtype, id)
    CROSS JOIN LATERAL (
      SELECT i.rid FROM index_reference i WHERE i.firm = ${firm} AND i.param = l.param AND i.target_rtype = l.rtype AND i.target_id = l.id
        AND i.rid <> ALL (${known}::bigint[])${onlyVisible(firm, visible, { number: sql`l.param`, rid: sql`i.rid` })} ORDER BY i.rid LIMIT ${limit}) s`;
}

interface Restricted {
  /** What the row is told by: the number of its type, or of the parameter it was found by. */
  readonly number: number;
  readonly type: string;
  readonly restriction: Restriction;
}

/**
 * Conditions that hold for rows that the caller may see: a part of the statement, so that a limit counts no others.
 * @param row expressions whose tables must not be called `t`, as the tables of probes are
 */
function onlyVisible(firm: number, all: readonly Restricted[], row: { number: Sql; rid: Sql }): Sql {
  const restricted = all
    .map(({ number, type, restriction }) => ({ number, groups: buildMandatoryGroups(type, restriction) }))
    .filter(({ groups }) => groups.length > 0);
  if (restricted.length === 0) return sql.empty;
  const numbers = restricted.map(({ number }) => number);
  const alternatives = [sql`${row.number} <> ALL (${numbers}::int[])`];
  for (const { number, groups } of restricted) {
    const met = buildMandatoryCondition(firm, groups, 'nested-loop', { rid: row.rid, depth: 0 });
    alternatives.push(sql`(${row.number} = ${number} AND ${met})`);
  }
  return sql` AND (${sql.join(alternatives, sql` OR `)})`;
}
