/** Rows of the ledger as the release before migration 0037 added them, by its own function, which is still there. */
import { type AccessRow, formatEntries, formatPatients } from '../../src/audit/audit-row.ts';
import type { Prover } from '../../src/audit/proof.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';

/** Adds the row, of a read that showed everything, with its proof. */
export async function addWideRow(database: Database, firm: number, row: AccessRow, prove: Prover): Promise<void> {
  const columns = {
    ...{ at: row.atMs, application: row.application, vid: null, shown: row.shown ?? null, times: null },
    ...{ rtype: row.typeNumber ?? null, outcome: row.outcome, interaction: row.interaction, id: row.id ?? null },
    ...{ subject: row.subject ?? null, token_id: row.tokenId ?? null, request_id: row.requestId ?? null },
    ...{ flow: row.flow ?? null, elements: 'all', entries: formatEntries(row.entries), reason: null },
    patients: formatPatients(row.patients),
  };
  const ids = row.patients?.ids ?? [];
  await database.forFirm(firm).query(sql`
    SELECT praxis_audit(in_firm => ${firm}, in_at => ${[columns.at]}::bigint[], in_application => ${[columns.application]}::int[],
      in_vid => '{}', in_shown => ${[columns.shown]}::int[], in_times => '{}', in_rtype => ${[columns.rtype]}::smallint[],
      in_outcome => ${[columns.outcome]}::smallint[], in_interaction => ${[columns.interaction]}::text[],
      in_id => ${[columns.id]}::text[], in_subject => ${[columns.subject]}::text[], in_token_id => ${[columns.token_id]}::text[],
      in_request_id => ${[columns.request_id]}::text[], in_flow => ${[columns.flow]}::text[],
      in_elements => ${[columns.elements]}::text[], in_entries => ${[columns.entries]}::text[], in_reason => '{}',
      in_patients => ${[columns.patients]}::text[], in_proof => ARRAY[decode(${prove(firm, columns)}, 'hex')],
      in_patient => ${ids}::text[], in_patient_row => ${ids.map(() => 1)}::int[], in_fingerprint => '{}', in_list => '{}')`);
}
