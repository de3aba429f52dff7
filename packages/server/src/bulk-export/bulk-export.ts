/**
 * A bulk export (https://hl7.org/fhir/uv/bulkdata/export.html): all that an application may search at a firm, as it was at one
 * moment. Nothing is copied (docs/decisions/0306): a file names the versions that it holds, which are read when it is fetched.
 */
import type { VersionKey, VersionPlace, VersionsMoment } from '../storage/versions-at.ts';

/** What was asked for. */
export interface AskedExport {
  /** Of the request, absolute. */
  readonly url: string;
  /** `patient`: only what is in the compartment of a patient; `group`: of a member of a Group. */
  readonly level: 'system' | 'patient' | 'group';
  /** Ids of the patients, whatever others there are; absent: all. */
  readonly patients?: readonly string[];
  /** In the order in which they are planned. */
  readonly types: readonly string[];
  /** Only what was last updated then or later, and what is gone since; absent: all that is live. */
  readonly sinceMs?: number;
  /** Elements as `_elements` names them, without their type; absent: all. */
  readonly elements?: readonly string[];
  /** Searches of some of the types, as the query of a URL has them: what one of them finds. The other types have none. */
  readonly filters?: Readonly<Record<string, readonly string[]>>;
  /** Binaries that belong to somebody are there, as DocumentReferences; absent: they are not. */
  readonly hasBinaryDocuments?: true;
  /** Of parameters that are ignored, for the manifest; absent: of none. */
  readonly notes?: readonly string[];
}

export interface BulkExport {
  readonly id: string;
  readonly createdMs: number;
  /** All that was last updated before is in the moment. */
  readonly transactionTimeMs: number;
  /** Fingerprint of the rights that it was begun under. */
  readonly policy: string;
  readonly asked: AskedExport;
  readonly moment: VersionsMoment;
  readonly planned: Planned;
}

/** How far the files are planned. */
export interface Planned {
  /** Files that are complete. */
  readonly files: number;
  /** Position in `listParts`; as many as there are: all is planned. */
  readonly typeIndex: number;
  /** The last version of that type that was looked at. */
  readonly after: VersionPlace;
  /** The next file of that type, so far. */
  readonly open: { readonly keys: readonly VersionKey[]; readonly bytes: number };
  /** Ids of those that the next file of deletions tells of, so far. */
  readonly gone: readonly string[];
}

/** A file, of resources or of those that are gone. */
export interface ExportFile {
  /** From 1. */
  readonly number: number;
  readonly type: string;
  /** Its resources are Binaries, told as DocumentReferences. */
  readonly asDocuments: boolean;
  readonly content: { readonly keys: readonly VersionKey[] } | { readonly gone: readonly string[] };
}

/** A file as the manifest tells of it. */
export interface ListedFile {
  readonly number: number;
  readonly type: string;
  readonly asDocuments: boolean;
  readonly isOfGone: boolean;
  readonly resources: number;
}

/** How long an export can be fetched. */
export const exportKeptMs = 24 * 60 * 60 * 1000;

/** What is planned one after another. */
export type ExportPart = Pick<ExportFile, 'type' | 'asDocuments'>;

export function listParts({ types, hasBinaryDocuments }: AskedExport): readonly ExportPart[] {
  const parts = types.map((type) => ({ type, asDocuments: false }));
  return hasBinaryDocuments === true ? [...parts, { type: 'Binary', asDocuments: true }] : parts;
}

export function isPlanned({ asked, planned }: BulkExport): boolean {
  return planned.typeIndex >= listParts(asked).length;
}

/** When its files are gone, in ms since 1970. */
export function computeExpiry({ createdMs }: BulkExport): number {
  return createdMs + exportKeptMs;
}

/** Where a type begins. */
export function findFirstPlace({ sinceMs = 0 }: AskedExport): VersionPlace {
  return { lastUpdatedMs: sinceMs, seq: 0 };
}
