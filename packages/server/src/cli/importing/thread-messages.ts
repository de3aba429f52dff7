/** What an import and its threads say to each other. */
import type { Config } from '../../base/config.ts';
import type { ErrorCode, ErrorDetails } from '../../base/errors.ts';
import type { DatabaseConnection } from '../../database/database.ts';
import type { MissingReferences } from './check-references.ts';
import type { ChunkOutcome, ImportTask } from './chunk-importer.ts';
import type { Chunk } from './chunks.ts';

/** What a thread is started with. */
export interface ThreadData {
  readonly config: Config;
  readonly task: ImportTask;
  readonly connections: { readonly owner: DatabaseConnection; readonly runtime: DatabaseConnection };
}

export type ThreadRequest =
  | { readonly number: number; readonly prepare: Chunk }
  | { readonly number: number; readonly store: number }
  | { readonly number: number; readonly check: Chunk };

/** An error as it goes from thread to thread; `code` of a PraxisError, `usage` of a UsageError. */
export interface ThreadError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly code?: ErrorCode;
  readonly details?: Pick<ErrorDetails, 'diagnostics'>;
  readonly usage?: true;
}

/** Names of resources (`Patient/1`), a line each. */
export type ChunkNames = string;

export type ThreadAnswer =
  | { readonly number: number; readonly value: ChunkNames | ChunkOutcome | MissingReferences }
  | { readonly number: number; readonly error: ThreadError };
