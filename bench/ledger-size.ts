/**
 * `npm run bench -- ledger-size [--accesses 200000] [--against DIRECTORY]`: bytes that an access leaves in the audit ledger, on
 * disk with indexes and seals, and in the write-ahead log; with `--against` beside those of another checkout of the project.
 * Of 20 accesses 12 read a resource of one patient, 5 search in the record of one, 1 shows a day with 20 patients, 1 searches
 * something of no patient and 1 is refused. A token is used 200 times. Rows of writes are not among them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { AccessRow } from '../packages/server/src/audit/audit-row.ts';
import { makeUuid } from '../packages/server/src/base/ids.ts';
import { sql } from '../packages/server/src/database/sql.ts';

const firm = 5;
const patients = 2_000;
const usesOfToken = 200;
const patientsOfDay = 20;
/** Accesses between two flushes: one round of a busy node. */
const atOnce = 100;
/** Of the release before this was first measured. */
const ratioMax = 0.5;

interface Size {
  readonly disk: number;
  readonly wal: number;
  /** Bytes by table and index. */
  readonly parts: readonly { readonly name: string; readonly bytes: number }[];
}

/** Runs the bench with these arguments; returns the exit status. */
export async function benchLedgerSize(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { accesses: { type: 'string', default: '200000' }, against: { type: 'string' } },
  });
  const accesses = Number(values.accesses);
  const own = await measure(path.join(import.meta.dirname, '..'), accesses);
  const parts = own.parts.filter(({ bytes }) => bytes >= 1).map(({ name, bytes }) => `${name} ${bytes.toFixed(0)}`);
  console.log(`by table and index: ${parts.join(', ')}\n`);
  console.log('| bytes of an access | on disk | write-ahead log |\n|---|---:|---:|');
  if (values.against === undefined) {
    console.log(lineOf('this code', own));
    return 0;
  }
  const other = await measure(path.resolve(values.against), accesses);
  const ratio = own.disk / other.disk;
  console.log(lineOf('the other code', other));
  console.log(lineOf('this code', own));
  console.log(`| ratio | ${ratio.toFixed(2)} | ${(own.wal / other.wal).toFixed(2)} |`);
  if (ratio <= ratioMax) return 0;
  console.log(`\nBeyond the bound: ${ratio.toFixed(2)}, at most ${ratioMax}`);
  return 1;
}

function lineOf(name: string, { disk, wal }: Size): string {
  return `| ${name} | ${disk.toFixed(0)} | ${wal.toFixed(0)} |`;
}

/** Notes the accesses in a new database by the code of that checkout. */
async function measure(root: string, accesses: number): Promise<Size> {
  const source = (name: string): string => path.join(root, 'packages/server/src', name);
  const app: typeof import('../packages/server/src/app.ts') = await import(source('app.ts'));
  const ledgers: typeof import('../packages/server/src/audit/ledger.ts') = await import(source('audit/ledger.ts'));
  const proofs: typeof import('../packages/server/src/audit/proof.ts') = await import(source('audit/proof.ts'));
  const seals: typeof import('../packages/server/src/audit/seal.ts') = await import(source('audit/seal.ts'));
  const sealing: typeof import('../packages/server/src/audit/sealing.ts') = await import(source('audit/sealing.ts'));
  const heads: typeof import('../packages/server/src/audit/head-files.ts') = await import(
    source('audit/head-files.ts')
  );
  const configs: typeof import('../packages/server/src/base/config.ts') = await import(source('base/config.ts'));
  const logs: typeof import('../packages/server/src/base/log.ts') = await import(source('base/log.ts'));
  const embeddeds: typeof import('../packages/server/src/database/embedded-postgres.ts') = await import(
    source('database/embedded-postgres.ts')
  );
  const dataDir = mkdtempSync(path.join(tmpdir(), 'praxis-bench-'));
  const log = logs.openLog('error');
  const embedded = await embeddeds.startEmbeddedDatabase({ dataDir, log });
  const settings = { PRAXIS_DATA_DIR: dataDir, PRAXIS_SECRET_KEY: 'A'.repeat(43) };
  const platform = await app.openPlatform({ config: configs.readConfig(settings), log, connections: embedded });
  try {
    const { database, secrets, clock } = platform;
    const ledger = ledgers.openLedger({ database, log, prove: proofs.openProver(secrets), flushMs: 0 });
    const readWal = async (): Promise<number> => {
      const [found] = await database.query<{ lsn: number }>(
        sql`SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint AS lsn`,
      );
      return found?.lsn ?? 0;
    };
    const options = { database, clock, log, heads: heads.openHeadFiles(path.join(dataDir, 'heads')) };
    const begin = await readWal();
    const beganMs = clock.now() - accesses * 10;
    for (let at = 0; at < accesses; at += 1) {
      void ledger.keep(firm, [accessOf(at, beganMs + at * 10)]);
      if (at % atOnce === atOnce - 1) await ledger.flush();
    }
    await ledger.flush();
    while ((await sealing.sealNext({ ...options, key: seals.openSealingKey(secrets) }, firm)) === 'more');
    const wal = (await readWal()) - begin;
    const parts = await platform.asOwner((owner) =>
      owner.query<{ name: string; bytes: number }>(sql`
        SELECT c.relname::text AS name, pg_relation_size(c.oid)::bigint + COALESCE(pg_total_relation_size(NULLIF(c.reltoastrelid, 0)), 0)::bigint AS bytes
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i') AND c.relname LIKE 'audit\\_%'
        ORDER BY 2 DESC`),
    );
    await ledger.close();
    const disk = parts.reduce((sum, { bytes }) => sum + bytes, 0) / accesses;
    return { disk, wal: wal / accesses, parts: parts.map(({ name, bytes }) => ({ name, bytes: bytes / accesses })) };
  } finally {
    await platform.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const patientIds = Array.from({ length: patients }, makeUuid);
const tokens = new Map<number, string>();
/** A prime: accesses that follow each other are about patients who do not. */
const stride = 379;

function patientAt(at: number): string {
  return patientIds[(at * stride) % patients] ?? '';
}

function accessOf(at: number, atMs: number): AccessRow {
  const number = Math.floor(at / usesOfToken);
  const tokenId = tokens.get(number) ?? makeUuid();
  tokens.set(number, tokenId);
  const who = {
    ...{ atMs, application: 1 + (number % 3), subject: `client-${number % 3}-0123456789`, tokenId },
    ...{ flow: 'client_credentials', requestId: makeUuid() },
  };
  const patient = { ids: [patientAt(at)], more: false };
  const kind = at % 20;
  const shown = { ...who, outcome: 0, elements: 'all' } as const;
  if (kind < 4)
    return {
      ...shown,
      interaction: 'read',
      typeNumber: 12,
      id: patientAt(at),
      shown: 1,
      entries: ['acl/pat_r'],
      patients: patient,
    };
  if (kind < 12)
    return {
      ...shown,
      interaction: 'read',
      typeNumber: 30,
      id: makeUuid(),
      shown: 1,
      entries: ['acl/enc_r'],
      patients: patient,
    };
  if (kind < 17)
    return {
      ...shown,
      interaction: 'search-type',
      typeNumber: 30,
      shown: 10,
      entries: ['acl/enc_s'],
      patients: patient,
    };
  if (kind === 17) {
    const ids = Array.from({ length: patientsOfDay }, (_, index) => patientAt(at + index));
    return {
      ...shown,
      interaction: 'search-type',
      typeNumber: 3,
      shown: 20,
      entries: ['acl/appt_s'],
      patients: { ids, more: false },
    };
  }
  if (kind === 18) return { ...shown, interaction: 'search-type', typeNumber: 40, shown: 5, entries: ['acl/sched_s'] };
  return {
    ...who,
    interaction: 'read',
    typeNumber: 12,
    id: patientAt(at),
    outcome: 4,
    reason: 'access-denied',
    entries: ['acl/pat_r'],
    patients: patient,
  };
}
