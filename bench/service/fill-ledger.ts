/**
 * Fills the ledger of the firm of the bench by the statements that the service itself writes and seals it with.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { openPlatform } from '../../packages/server/src/app.ts';
import { openDimensions } from '../../packages/server/src/audit/dimensions.ts';
import { openHeadFiles, resolveAuditHeadsDirectory } from '../../packages/server/src/audit/head-files.ts';
import { addRows, proveRows } from '../../packages/server/src/audit/ledger-statements.ts';
import { openProver } from '../../packages/server/src/audit/proof.ts';
import { openSealingKey } from '../../packages/server/src/audit/seal.ts';
import { sealNext } from '../../packages/server/src/audit/sealing.ts';
import { systemClock } from '../../packages/server/src/base/clock.ts';
import { readConfig } from '../../packages/server/src/base/config.ts';
import { openLog } from '../../packages/server/src/base/log.ts';
import { sql } from '../../packages/server/src/database/sql.ts';
import { ledgerRows } from '../ledger-rows.ts';
import type { Ground } from './nodes.ts';
import { firmPrefix, type Place, patientId } from './prepare.ts';

const rowsPerStatement = 1_000;
const writers = 4;
/** A prime: rows that follow each other are of patients who do not. */
const stride = 7_919;

/** Adds that many rows and seals them; returns how many seals were made. */
export async function fillLedger({ connections, settings, prepared }: Ground, events: number): Promise<number> {
  const log = openLog('warn');
  const config = readConfig(settings);
  const platform = await openPlatform({ config, clock: systemClock, log, connections });
  const { database, secrets } = platform;
  try {
    const [firm] = await database.query<{ id: number }>(sql`SELECT id FROM firm WHERE prefix = ${firmPrefix}`);
    if (firm === undefined) throw new Error('the firm of the bench is missing');
    const ledger = database.forFirm(firm.id);
    const prove = openProver(secrets);
    const dimensions = openDimensions();
    const beganMs = Date.now() - events; // the rows lie before what is measured
    let next = 0;
    const write = async (): Promise<void> => {
      for (;;) {
        const from = next;
        const count = Math.min(rowsPerStatement, events - from);
        if (count <= 0) return;
        next += count;
        const rows = ledgerRows(count, beganMs + from, (at) => patientId(((from + at) * stride) % prepared.patients));
        const keys = dimensions.begin(firm.id);
        await ledger.query(addRows(firm.id, proveRows(firm.id, rows, prove), [], keys));
        keys.commit();
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
    const heads = openHeadFiles(resolveAuditHeadsDirectory(config));
    const options = { database, clock: systemClock, log, key: openSealingKey(secrets), heads };
    let seals = 1;
    while ((await sealNext(options, firm.id)) === 'more') seals += 1;
    return seals;
  } finally {
    await platform.close();
  }
}

/** Does at once what autovacuum and the checkpointer of the embedded database would do while the bench measures. */
export async function tidyGround({ connections, settings }: Place): Promise<void> {
  const file = path.join(settings['PRAXIS_DATA_DIR'] ?? '', '..', 'postgres', 'credentials.json');
  const { praxis_superuser: password } = JSON.parse(readFileSync(file, 'utf8'));
  // Checkpoints are for superusers.
  const client = new pg.Client({ ...connections.owner, user: 'praxis_superuser', password });
  await client.connect();
  try {
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}
