/** Sealing ledgers one seal at a time, for tests that count seals. */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openHeadFiles } from '../../src/audit/head-files.ts';
import { openSealingKey } from '../../src/audit/seal.ts';
import { type SealingState, sealNext } from '../../src/audit/sealing.ts';
import type { Log } from '../../src/base/log.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import type { TestService } from '../support/service.ts';

/**
 * Gives a function that puts all rows of a ledger under one seal. The service must seal nothing by itself.
 * Other test files have transactions under way in the same cluster, for which rows wait: so does the function.
 */
export function openSealing({ platform, database }: TestService, dataDir: string, log: Log = testLog) {
  const heads = openHeadFiles(path.join(dataDir, 'audit-heads'));
  const options = { ...platform, log, key: openSealingKey(platform.secrets), heads };
  const isSettled = async (firm: number): Promise<boolean> => {
    const [row] = await database.owner.query<{ settled: boolean }>(sql`
      SELECT pg_snapshot_xmin(pg_current_snapshot()) > COALESCE(max(xid), '0'::xid8) AS settled
      FROM audit_event WHERE firm = ${firm}`);
    return row?.settled === true;
  };
  return async (firm: number): Promise<void> => {
    while (!(await isSettled(firm))) await delay(5);
    for (let state: SealingState = 'more'; state !== 'done'; ) state = await sealNext(options, firm);
  };
}
