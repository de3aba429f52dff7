/**
 * Checks an export of everything by itself, without a database: that its manifest is signed, that each file is as the manifest has it,
 * and that the audit ledger is a chain of seals without gaps.
 */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { openVerifyingKey, type VerifyingKey } from '../../../audit/seal.ts';
import { toPrintable } from '../../../audit/seal-check.ts';
import { checkArchive } from '../../archiving/check-archive.ts';
import { UsageError } from '../../command.ts';
import { readFacts, type WrittenFile } from './export-directory.ts';
import { documentsName, readListedDocuments } from './export-documents.ts';
import {
  type ExportManifest,
  isPlainPath,
  isSignedManifest,
  type ListedFile,
  manifestName,
  parseManifest,
  signatureName,
} from './manifest.ts';
import { openPlainFile } from './plain-file.ts';

export interface VerifiedExport {
  /** Undefined: there is none that can be believed. */
  readonly manifest: ExportManifest | undefined;
  /** That signed the manifest: the one that was given, or the one that the manifest names. */
  readonly key: VerifyingKey | undefined;
  readonly files: number;
  /** What is wrong, one line each. */
  readonly findings: readonly string[];
}

/** Lines that are told at most. */
const findingsMax = 1_000;

/**
 * @param publicKey in PEM; absent: the manifest is checked by the key that it names
 * @throws UsageError where there is no export
 */
export async function verifyExport(
  directory: string,
  publicKey: string | undefined,
  onCount: (files: number) => void,
): Promise<VerifiedExport> {
  const bytes = await readWhole(directory, manifestName);
  const manifest = parseManifest(bytes);
  const key = openVerifyingKey(publicKey ?? manifest?.publicKey ?? '');
  if (publicKey !== undefined && key === undefined)
    throw new UsageError('the public key must be one of Ed25519 in PEM');
  const findings: string[] = [];
  if (manifest === undefined || key === undefined) findings.push(`${manifestName} is not that of an export`);
  else if (!isSignedManifest(key, bytes, (await readWhole(directory, signatureName)).toString('utf8')))
    findings.push(`${manifestName} was changed, or is not signed by this key`);
  // What it says of files is not to be believed then.
  if (manifest === undefined || key === undefined || findings.length > 0)
    return { manifest: undefined, key, files: 0, findings };
  const run: Run = { directory, findings, seen: new Set([manifestName, signatureName]), same: new Set(), onCount };
  for (const file of manifest.files) await checkListed(run, file);
  if (run.same.has(documentsName)) await checkDocuments(run, manifest);
  await checkLedger(run, manifest, key);
  await checkOthers(run, '');
  const told = findings.slice(0, findingsMax).map(toPrintable);
  return { manifest, key, files: run.seen.size, findings: told };
}

interface Run {
  readonly directory: string;
  readonly findings: string[];
  /** Files that belong to the export. */
  readonly seen: Set<string>;
  /** Those that are as the manifest has them. */
  readonly same: Set<string>;
  readonly onCount: (files: number) => void;
}

async function readWhole(directory: string, name: string): Promise<Buffer> {
  const handle = await openPlainFile(directory, name).catch((cause: unknown) => {
    throw new UsageError(`${directory} holds no whole export: ${name} cannot be read`, { cause });
  });
  if (typeof handle === 'string') throw new UsageError(`${directory} holds no whole export: ${name} ${handle}`);
  await using file = handle;
  return await file.readFile();
}

async function checkListed(run: Run, { lines, ...file }: ListedFile): Promise<void> {
  const isSame = await checkFile(run, file);
  if (isSame) run.same.add(file.path);
  if (!isSame || lines === undefined) return;
  const found = await countLines(path.join(run.directory, file.path));
  if (found !== lines) run.findings.push(`${file.path} has ${found} lines instead of ${lines}`);
}

/** Whether the file is as it was written. */
async function checkFile({ directory, findings, seen, onCount }: Run, file: WrittenFile): Promise<boolean> {
  seen.add(file.path);
  onCount(seen.size);
  const handle = await openPlainFile(directory, file.path).catch(() => 'cannot be read' as const);
  const facts = typeof handle === 'string' ? undefined : await readFacts(handle, file.path).catch(() => undefined);
  if (facts === undefined) findings.push(`${file.path} ${typeof handle === 'string' ? handle : 'cannot be read'}`);
  else if (facts.bytes !== file.bytes) findings.push(`${file.path} has ${facts.bytes} bytes instead of ${file.bytes}`);
  else if (facts.sha256 !== file.sha256) findings.push(`${file.path} was changed`);
  return facts !== undefined && facts.bytes === file.bytes && facts.sha256 === file.sha256;
}

async function countLines(file: string): Promise<number> {
  const stream = createReadStream(file);
  const bytes = file.endsWith('.gz') ? pipeline(stream, createGunzip(), () => undefined) : stream;
  let lines = 0;
  for await (const chunk of bytes) for (const byte of chunk as Buffer) if (byte === 0x0a) lines += 1;
  return lines;
}

/** Of a list that is as it was written. */
async function checkDocuments(run: Run, { documents }: ExportManifest): Promise<void> {
  let absent = 0;
  try {
    for await (const page of readListedDocuments(path.join(run.directory, documentsName)))
      for (const { path: file, bytes, sha256 } of page) {
        if (!isPlainPath(file)) throw new SyntaxError('a path leaves the directory');
        const before = run.findings.length;
        await checkFile(run, { path: file, bytes, sha256 });
        const told = run.findings[before];
        // What was missing when the export was made is known.
        if (told?.endsWith(' is missing') !== true) continue;
        absent += 1;
        if (absent <= documents.missing) run.findings.pop();
      }
  } catch {
    run.findings.push(`${documentsName} cannot be read`);
  }
}

async function checkLedger(run: Run, { ledger, firm }: ExportManifest, key: VerifyingKey): Promise<void> {
  if (ledger === null) return;
  const { path: file, firstSeal, lastSeal, follows, head } = ledger;
  if (!isPlainPath(file)) return;
  if (!(await isPlainFile(run, file))) return; // a finding has said so
  const before = { number: firstSeal - 1, head: Buffer.from(follows, 'hex'), place: { epoch: 0, xid: '0', seq: 0 } };
  try {
    // Whether the server has written a row its proof tells, for which the secret key is needed; that it is there, the seals.
    const trust = { key, isProven: () => true };
    const check = await checkArchive({ file: path.join(run.directory, file), trust, findBefore: async () => before });
    for (const line of check.findings) run.findings.push(`${file}: ${line}`);
    const last = check.seals.at(-1);
    const isWhole = last?.number === lastSeal && last.head.toString('hex') === head;
    if (!isWhole || check.header?.firm !== firm.prefix) run.findings.push(`${file} does not end with seal ${lastSeal}`);
  } catch {
    run.findings.push(`${file} cannot be read`);
  }
}

async function isPlainFile({ directory }: Run, file: string): Promise<boolean> {
  const handle = await openPlainFile(directory, file).catch(() => 'cannot be read' as const);
  if (typeof handle === 'string') return false;
  await handle.close();
  return true;
}

/** Files and directories that do not belong to the export. */
async function checkOthers(run: Run, below: string): Promise<void> {
  for (const entry of await readdir(path.join(run.directory, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    const isOurs = entry.isDirectory() && [...run.seen].some((file) => file.startsWith(`${name}/`));
    if (isOurs) await checkOthers(run, name);
    else if (!run.seen.has(name)) run.findings.push(`${name} does not belong to the export`);
  }
}
