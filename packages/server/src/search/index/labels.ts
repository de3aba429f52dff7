/**
 * Which profiles, tags and security labels are in use on the resources of a type
 * (https://hl7.org/fhir/R4/resource-operation-meta.html), from the rows by which `_profile`, `_tag` and `_security` search:
 * docs/decisions/0140.
 */
import { type Sql, sql } from '../../database/sql.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { computeParameterNumber } from '../numbers.ts';
import { buildMandatoryGroups, type RowCriterion } from '../query/row-criteria.ts';
import { buildMandatoryCondition } from '../sql/exists-subquery.ts';
import { isWithinBytes } from '../sql/page-bytes.ts';

/** Search parameters of the labels; the values of the first are URIs, which have no system beside them. */
export const labelCodes = ['_profile', '_tag', '_security'] as const;

/**
 * For each label that is in use on rows that the caller may see, one of these rows; the same row may stand for several.
 * Columns: as those of a search page (search/sql/plan.ts).
 *
 * From one code the walk goes to the next that a visible row has, so it reads a row per profile, and the index rows of tags
 * and security labels once: only those tell whether a code has one system or several.
 * @param mandatory row restrictions of the caller, never empty (SearchTarget.mandatory)
 * @param labelsMax labels that are looked for at most
 * @param bytesMax bytes of contents that are read at most: rows beyond come without
 */
export function planLabels(
  { firm, application }: TenantScope,
  type: string,
  mandatory: readonly (readonly RowCriterion[])[],
  { labelsMax, bytesMax }: { readonly labelsMax: number; readonly bytesMax: number },
): Sql {
  const groups = buildMandatoryGroups(type, mandatory);
  const visible = groups.length === 0 ? sql.empty : sql` AND ${buildMandatoryCondition(firm, groups, 'nested-loop')}`;
  const rowsOf = (param: Sql): Sql => sql`FROM index_token d WHERE d.firm = ${firm} AND d.param = ${param}`;
  const [profile = sql.empty, ...codings] = labelCodes.map((code) => sql`(${computeParameterNumber(type, code)}::int)`);
  const next = (param: Sql, after: Sql): Sql =>
    sql`SELECT d.code ${rowsOf(param)}${after}${visible} ORDER BY d.code LIMIT 1`;
  const rowsOfCode = sql`${rowsOf(sql`c.param`)} AND d.code = c.code${visible}`;
  return sql`
    WITH RECURSIVE codes AS (
      SELECT p.param, n.code FROM (VALUES ${sql.join([profile, ...codings])}) p (param)
        CROSS JOIN LATERAL (${next(sql`p.param`, sql.empty)}) n
      UNION ALL
      SELECT c.param, n.code FROM codes c CROSS JOIN LATERAL (${next(sql`c.param`, sql` AND d.code > c.code`)}) n),
    page AS MATERIALIZED (
      SELECT DISTINCT s.rid FROM (
        SELECT s.rid FROM (SELECT param, code FROM codes LIMIT ${labelsMax}) c CROSS JOIN LATERAL (
          (SELECT d.rid ${rowsOfCode} AND c.param = ${profile} ORDER BY d.rid LIMIT 1)
          UNION ALL
          (SELECT min(d.rid) ${rowsOfCode} AND c.param <> ${profile} GROUP BY d.system)) s
        LIMIT ${labelsMax}) s)
    SELECT e.epoch, r.rtype, r.id, r.vid, r.lu,
      CASE WHEN ${isWithinBytes(sql`octet_length(r.content)`, sql`ORDER BY page.rid`, bytesMax)} THEN r.content END AS content, page.rid
    FROM access_epoch e LEFT JOIN (page CROSS JOIN LATERAL (
      SELECT rtype, id, vid, lu, content FROM resource WHERE firm = ${firm} AND rid = page.rid OFFSET 0) r) ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY page.rid`;
}
