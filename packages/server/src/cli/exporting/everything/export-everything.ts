/**
 * Everything of a firm as files (docs/decisions/0316): what is current, all versions, documents, what is configured, and the audit
 * ledger. All but the ledger is of one moment, which no transaction has to hold: versions are kept for good, and what has no versions
 * is read in one short transaction.
 */
import { writeFile } from 'node:fs/promises';
import { resourceTypes } from '@praxis/fhir';
import { getStoredText } from '../../../access/disclosure.ts';
import type { Platform } from '../../../app.ts';
import { openLedger } from '../../../audit/ledger.ts';
import { openProver } from '../../../audit/proof.ts';
import { openSealingKey } from '../../../audit/seal.ts';
import { toInstant } from '../../../base/clock.ts';
import { ConfigError } from '../../../base/config.ts';
import { PraxisError } from '../../../base/errors.ts';
import { sql } from '../../../database/sql.ts';
import { formatEtag } from '../../../engine/preconditions.ts';
import { getTypeNumber } from '../../../search/numbers.ts';
import { type HistoryAtPage, type HistoryVersion, readHistoryAt } from '../../../storage/history-at.ts';
import type { StoredResource } from '../../../storage/store.ts';
import type { VersionPlace, VersionsMoment } from '../../../storage/versions-at.ts';
import { type Firm, getFirm } from '../../../tenancy/firms.ts';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import type { TenantScope } from '../../../tenancy/scope.ts';
import { version } from '../../../version.ts';
import { exportConfiguration } from './export-configuration.ts';
import { type ExportDirectory, type LineFile, openExportDirectory } from './export-directory.ts';
import { exportContents, exportDocumentList } from './export-documents.ts';
import { exportLedger } from './export-ledger.ts';
import {
  type ExportManifest,
  type ListedFile,
  manifestName,
  manifestVersion,
  signatureName,
  signManifest,
} from './manifest.ts';
import { withoutHeaders } from './without-headers.ts';

export interface EverythingReport {
  readonly manifest: ExportManifest;
  readonly resources: number;
  readonly versions: number;
  /** What is missing or was altered, one line each. */
  readonly problems: readonly string[];
}

export interface EverythingProgress {
  /** A part begins: its name. */
  readonly onPart: (what: string) => void;
  readonly onCount: (count: number) => void;
}

/**
 * Writes all of it to a directory that is new or empty.
 * @throws UsageError for a directory that is not; nothing is left there when it fails
 */
export async function exportEverything(
  platform: Platform,
  firm: Firm,
  target: string,
  progress: EverythingProgress,
): Promise<EverythingReport> {
  const directory = await openExportDirectory(target);
  try {
    const report = await writeAll(platform, firm, directory, progress);
    await directory.finish();
    return report;
  } catch (error) {
    await directory.abandon();
    throw error;
  }
}

async function writeAll(
  platform: Platform,
  firm: Firm,
  directory: ExportDirectory,
  { onPart, onCount }: EverythingProgress,
): Promise<EverythingReport> {
  const createdAt = toInstant(platform.clock.now());
  const read = await openPages(platform, firm);
  onPart('settings');
  const { moment, files: configured, list } = await writeMoment(platform, firm, directory);
  onPart('versions');
  const {
    files: versionFiles,
    resources,
    versions,
  } = await writeVersions(directory, openDisclosures(platform, firm), (type) => read(type, moment), onCount);
  onPart('documents');
  const documents = await exportContents(platform, directory, firm.id, list !== undefined, onCount);
  onPart('audit ledger');
  const {
    ledger,
    files: ledgerFiles,
    archives,
    findings,
  } = await exportLedger(platform, directory, firm, moment, onCount);
  const { environment, prefix, name, timeZone } = firm;
  // What was read of a firm whose rows are being removed is not everything.
  if ((await getFirm(platform.database, environment, prefix)).id !== firm.id)
    throw new ConfigError(`firm ${prefix} was erased meanwhile`);
  const key = openSealingKey(platform.secrets);
  const manifest: ExportManifest = {
    praxisExport: manifestVersion,
    createdAt,
    software: version,
    firm: { environment, prefix, name, timeZone },
    moment: { at: createdAt, ...moment },
    publicKey: key.publicKey,
    documents: documents.counts,
    ledger,
    archives,
    files: [...versionFiles, ...configured, ...(list === undefined ? [] : [list]), ...ledgerFiles],
  };
  const bytes = Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
  await writeWhole(await directory.place(manifestName), bytes);
  await writeWhole(await directory.place(signatureName), `${signManifest(key, bytes)}\n`);
  const problems = [...documents.problems, ...findings.map((line) => `audit ledger: ${line}`)];
  return { manifest, resources, versions, problems };
}

function writeWhole(at: string, content: string | Uint8Array): Promise<void> {
  return writeFile(at, content, { mode: 0o600, flush: true });
}

/** What has no versions, and which moment that is. */
async function writeMoment({ database }: Platform, firm: Firm, directory: ExportDirectory) {
  return await database.transaction(
    firm.id,
    async (tx) => {
      // The first statement is what the moment of the transaction follows from.
      const [moment] = await tx.query<VersionsMoment>(
        sql`SELECT epoch AS "orderEpoch", pg_current_snapshot()::text AS snapshot FROM order_epoch`,
      );
      if (moment === undefined) throw new TypeError('there is no order epoch');
      const files = await exportConfiguration(tx, directory, firm);
      return { moment, files, list: await exportDocumentList(tx, directory, firm.id) };
    },
    { isolation: 'repeatable read', statementTimeoutMs: 0 },
  );
}

interface OpenFiles {
  current?: LineFile;
  history?: LineFile;
}

async function writeVersions(
  directory: ExportDirectory,
  disclosed: ReturnType<typeof openDisclosures>,
  read: (type: string) => AsyncGenerator<readonly HistoryVersion[]>,
  onCount: (count: number) => void,
) {
  const files: ListedFile[] = [];
  let resources = 0;
  let versions = 0;
  for (const type of resourceTypes) {
    const open: OpenFiles = {};
    for await (const page of read(type)) {
      for (const each of page) {
        if (await writeVersion(directory, open, each)) resources += 1;
        versions += 1;
      }
      if (type === 'Patient') await disclosed.note(page.map(({ resource }) => resource.id));
      onCount(versions);
    }
    if (open.current !== undefined) files.push({ ...(await open.current.finish()), kind: 'current', type });
    if (open.history !== undefined) files.push({ ...(await open.history.finish()), kind: 'history', type });
  }
  await disclosed.close();
  return { files, resources, versions };
}

/** Whether it is the resource as it stood at the moment. */
async function writeVersion(
  directory: ExportDirectory,
  open: OpenFiles,
  { resource, isLast }: HistoryVersion,
): Promise<boolean> {
  const text = resource.deleted ? buildDeletion(resource) : withoutHeaders(getStoredText(resource.content));
  open.history ??= await directory.begin(`history/${resource.type}.ndjson.gz`);
  await open.history.write(text);
  if (!isLast || resource.deleted) return false;
  open.current ??= await directory.begin(`current/${resource.type}.ndjson`);
  await open.current.write(text);
  return true;
}

/** As lines of `$changes` tell of it: https://hl7.org/fhir/R4/bundle.html#history */
function buildDeletion({ type, id, versionId, lastUpdatedMs }: StoredResource): string {
  const response = { status: '204', etag: formatEtag(versionId), lastModified: toInstant(lastUpdatedMs) };
  const entry = [{ request: { method: 'DELETE', url: `${type}/${id}` }, response }];
  return JSON.stringify({ resourceType: 'Bundle', type: 'history', entry });
}

/** Times that a page is read again because rights at the firm changed meanwhile: it was suspended, for instance. */
const freshMax = 4;

/** Gives the versions of a type page by page; the next one is read while one is written. */
async function openPages({ database, clock, store }: Platform, firm: Firm) {
  let scope: TenantScope = await openOperatorScope(database, clock, firm);
  const readPage = async (type: string, moment: VersionsMoment, after: VersionPlace): Promise<HistoryAtPage> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await readHistoryAt(store, scope, { type, moment, after });
      } catch (error) {
        if (!(error instanceof PraxisError) || error.code !== 'stale-access' || attempt === freshMax) throw error;
        scope = await openOperatorScope(database, clock, firm);
      }
    }
  };
  return async function* (type: string, moment: VersionsMoment): AsyncGenerator<readonly HistoryVersion[]> {
    let ahead = readPage(type, moment, { lastUpdatedMs: 0, seq: 0 });
    for (;;) {
      const page = await ahead;
      if (page.hasMore) {
        ahead = readPage(type, moment, page.end);
        ahead.catch(() => undefined); // told where it is awaited
      }
      yield page.versions;
      if (!page.hasMore) return;
    }
  };
}

/** Patients of one row of the ledger. */
const patientsOfRow = 500;

/** Notes in the ledger of the firm that all about these patients was given away. */
function openDisclosures({ database, log, secrets, clock }: Platform, firm: Firm) {
  const ledger = openLedger({ database, log, prove: openProver(secrets), flushMs: 0 });
  return {
    async note(patients: readonly string[]): Promise<void> {
      const ids = [...new Set(patients)];
      for (let at = 0; at < ids.length; at += patientsOfRow) {
        const named = ids.slice(at, at + patientsOfRow);
        await ledger.keep(firm.id, [
          {
            atMs: clock.now(),
            application: 0,
            interaction: '$export',
            typeNumber: getTypeNumber('Patient'),
            outcome: 0,
            subject: 'operator',
            flow: 'command',
            shown: named.length,
            elements: 'all',
            patients: { ids: named, more: false },
          },
        ]);
      }
    },
    close: () => ledger.close(),
  };
}
