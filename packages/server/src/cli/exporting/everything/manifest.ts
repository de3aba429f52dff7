/**
 * What an export of everything holds: `manifest.json`, and `manifest.sig` beside it, a signature by the key of the audit ledger's seals.
 * So whoever has the public key can tell offline whether a file was changed, added or removed.
 */
import type { SealingKey, VerifyingKey } from '../../../audit/seal.ts';
import type { WrittenFile } from './export-directory.ts';

export const manifestName = 'manifest.json';
export const signatureName = 'manifest.sig';
export const manifestVersion = 1;

/** What a file is about. */
export const exportKinds = ['current', 'history', 'documents', 'configuration', 'audit'] as const;
export type ExportKind = (typeof exportKinds)[number];

export interface ListedFile extends WrittenFile {
  readonly kind: ExportKind;
  /** The resource type, or the name of what is configured. */
  readonly type?: string;
  /** Of NDJSON. */
  readonly lines?: number;
}

/** An archive of the ledger, which lies elsewhere (docs/decisions/0299). */
export interface ListedArchive {
  readonly file: string;
  readonly sha256: string;
  readonly firstSeal: number;
  readonly lastSeal: number;
}

export interface ListedLedger {
  /** An archive of the audit ledger by its form. */
  readonly path: string;
  readonly firstSeal: number;
  readonly lastSeal: number;
  readonly rows: number;
  /** Head of the seal before the first, and of the last; in hexadecimal. */
  readonly follows: string;
  readonly head: string;
  /** What was wrong when it was written: rows that were changed, removed or put in by hand. */
  readonly findings: number;
}

export interface ExportManifest {
  readonly praxisExport: typeof manifestVersion;
  /** An instant. */
  readonly createdAt: string;
  /** Version of the program that made it. */
  readonly software: string;
  readonly firm: {
    readonly environment: string;
    readonly prefix: string;
    readonly name: string;
    readonly timeZone: string;
  };
  /** Of which all files are but for the ledger, which goes on a little: the transactions that had ended. */
  readonly moment: { readonly at: string; readonly orderEpoch: number; readonly snapshot: string };
  /** Of the installation, which has signed the manifest and the seals; PEM. */
  readonly publicKey: string;
  readonly documents: { readonly files: number; readonly bytes: number; readonly missing: number };
  readonly ledger: ListedLedger | null;
  readonly archives: readonly ListedArchive[];
  readonly files: readonly ListedFile[];
}

/** Begins as nothing else does that the key signs. */
function buildSignedText(manifest: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('praxis export manifest\n'), manifest]);
}

/** In base64. */
export function signManifest(key: SealingKey, manifest: Uint8Array): string {
  return key.sign(buildSignedText(manifest)).toString('base64');
}

export function isSignedManifest(key: VerifyingKey, manifest: Uint8Array, signature: string): boolean {
  return key.verifies(buildSignedText(manifest), Buffer.from(signature, 'base64'));
}

/** Undefined: it is no manifest that this program reads. What it says is to be believed only where it is signed. */
export function parseManifest(bytes: Buffer): ExportManifest | undefined {
  try {
    const value = JSON.parse(bytes.toString('utf8'));
    const isOne =
      value?.praxisExport === manifestVersion &&
      typeof value.publicKey === 'string' &&
      Array.isArray(value.files) &&
      value.files.every(isListed);
    return isOne ? value : undefined;
  } catch {
    return undefined;
  }
}

/** No path leaves the directory. */
const pathPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

export function isPlainPath(text: unknown): text is string {
  return typeof text === 'string' && pathPattern.test(text);
}

function isListed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('path' in value)) return false;
  return isPlainPath(value.path) && 'sha256' in value && typeof value.sha256 === 'string';
}
