/** The best statement, written by hand, for the record of a patient. */
import { type Sql, sql } from '../../../packages/server/src/database/sql.ts';
import { findCompartmentScope, listMemberTypes } from '../../../packages/server/src/engine/search/compartment.ts';
import { computeParameterNumber, getTypeNumber } from '../../../packages/server/src/search/numbers.ts';
import { encodeIntegerArray } from '../../../packages/server/src/storage/index-arrays.ts';

/**
 * The patient, what is in its compartment by any of the parameters that R4 lists, what these refer to, and what those refer to;
 * no other patients.
 */
export function findEverything(id: string): (firm: number) => Sql {
  const patient = getTypeNumber('Patient');
  const parameters = encodeIntegerArray(listParameters());
  return (firm) => {
    const referred = (from: Sql): Sql => sql`
      SELECT DISTINCT i.target_rtype, i.target_id FROM ${from} m CROSS JOIN LATERAL (
        SELECT target_rtype, target_id FROM index_reference
        WHERE firm = ${firm} AND rid = m.rid AND target_rtype NOT IN (0, ${patient}) OFFSET 0) i`;
    const found = (references: Sql): Sql => sql`
      SELECT r.rid FROM (${references}) g CROSS JOIN LATERAL (
        SELECT rid FROM resource WHERE firm = ${firm} AND rtype = g.target_rtype AND id = g.target_id AND content IS NOT NULL OFFSET 0) r`;
    return sql`
      WITH member AS MATERIALIZED (
        SELECT rid FROM resource WHERE firm = ${firm} AND rtype = ${patient} AND id = ${id}
        UNION SELECT rid FROM index_reference
        WHERE firm = ${firm} AND param = ANY (${parameters}::int[]) AND target_rtype = ${patient} AND target_id = ${id}),
      near AS MATERIALIZED (${found(referred(sql`member`))}),
      far AS MATERIALIZED (${found(referred(sql`near`))})
      SELECT r.content FROM (SELECT rid FROM member UNION SELECT rid FROM near UNION SELECT rid FROM far) d
      CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rid = d.rid OFFSET 0) r`;
  };
}

/** Of the references by which resources are in the compartment of a patient. */
function listParameters(): readonly number[] {
  return listMemberTypes('Patient').flatMap((type) => {
    const codes = findCompartmentScope('Patient', '', type)?.codes ?? [];
    return codes.filter((code) => code !== '_id').map((code) => computeParameterNumber(type, code));
  });
}
