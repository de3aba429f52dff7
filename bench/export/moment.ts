/** Whether an export has the versions of its moment, every one and no other: beside what SQL reads of that moment. */
import type { Platform } from '../../packages/server/src/app.ts';
import { sql } from '../../packages/server/src/database/sql.ts';
import { getTypeNumber } from '../../packages/server/src/search/numbers.ts';
import { ledgerTypes } from '../../packages/server/src/search/resource-types.ts';
import { getTypeName } from '../../packages/server/src/storage/rows.ts';
import { decodeFile, type FetchedFile } from './client.ts';

/** `Type/id/version` of all that was live at the moment of the export, read at once by a statement of its own. */
export async function readMoment(platform: Platform, job: string): Promise<ReadonlySet<string>> {
  const ledger = [...ledgerTypes].map(getTypeNumber);
  const rows = await platform.asOwner((owner) =>
    owner.query<{ rtype: number; id: string; vid: number }>(sql`
      SELECT last.rtype, last.id, last.vid FROM (
        SELECT DISTINCT ON (v.rtype, v.id) v.rtype, v.id, v.vid, v.content IS NULL AS gone
        FROM bulk_export b JOIN resource_version v ON v.firm = b.firm
        WHERE b.id = ${job}::uuid AND (v.epoch < b.order_epoch OR (v.epoch = b.order_epoch
          AND pg_visible_in_snapshot(COALESCE(v.written_by, v.xid), b.snapshot)))
        ORDER BY v.rtype, v.id, v.vid DESC) last
      WHERE NOT last.gone AND NOT last.rtype = ANY (${ledger}::smallint[])`),
  );
  return new Set(rows.map(({ rtype, id, vid }) => `${getTypeName(rtype)}/${id}/${vid}`));
}

/** What files have and the moment has not, and the other way round; a few of each. */
export function compareFiles(files: readonly FetchedFile[], moment: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  const problems: string[] = [];
  for (const file of files) {
    for (const line of decodeFile(file).toString().split('\n')) {
      if (line === '') continue;
      const { resourceType, id, meta } = JSON.parse(line);
      const key = `${resourceType}/${id}/${meta.versionId}`;
      if (found.has(key)) problems.push(`twice: ${key}`);
      found.add(key);
      if (!moment.has(key)) problems.push(`not of the moment: ${key}`);
    }
  }
  for (const key of moment) if (!found.has(key)) problems.push(`missing: ${key}`);
  return problems;
}
