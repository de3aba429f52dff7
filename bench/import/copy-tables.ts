/** `COPY` of whole tables to files and back, over one connection (https://www.postgresql.org/docs/current/sql-copy.html). */
import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import type { Writable } from 'node:stream';
import pg from 'pg';
import type { ConnectionParts } from '../../packages/server/src/database/database.ts';

/** All that a write of a resource leaves rows in. */
export const writtenTables = [
  'resource',
  'resource_version',
  'audit_caller',
  'audit_action',
  'audit_event',
  'audit_patient_key',
  'index_token',
  'index_reference',
  'index_date',
  'index_string',
  'index_number',
] as const;

/** Writes each table to a file of the directory. */
export async function writeTables(owner: ConnectionParts, directory: string): Promise<void> {
  await withClient(owner, async (client) => {
    for (const table of writtenTables) await copyOut(client, table, path.join(directory, `${table}.copy`));
  });
}

export async function emptyTables(owner: ConnectionParts): Promise<void> {
  await withClient(owner, async (client) => {
    await client.query(`TRUNCATE ${writtenTables.join(', ')} CASCADE`);
  });
}

/** Copies the files of the directory into their tables; how long that takes, in s. */
export async function timeCopy(owner: ConnectionParts, directory: string): Promise<number> {
  return await withClient(owner, async (client) => {
    const beganMs = performance.now();
    for (const table of writtenTables) await copyIn(client, table, path.join(directory, `${table}.copy`));
    return (performance.now() - beganMs) / 1000;
  });
}

async function withClient<T>(owner: ConnectionParts, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...owner });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The parts of pg that COPY uses; its types know them not. */
interface CopyWire {
  readonly stream: Writable;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** A statement whose data go through handlers of its own. */
function submitCopy(
  client: pg.Client,
  text: string,
  handlers: { onChunk?: (chunk: Buffer) => void; onReady?: (wire: CopyWire) => void },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let failure: Error | undefined;
  const query = {
    submit: (wire: CopyWire) => void wire.query(text),
    handleCopyInResponse: (wire: CopyWire) => handlers.onReady?.(wire),
    handleCopyData: ({ chunk }: { readonly chunk: Buffer }) => handlers.onChunk?.(Buffer.from(chunk)), // pg uses it again
    handleCommandComplete: () => undefined,
    handleError: (error: Error) => {
      failure = error;
    },
    handleReadyForQuery: () => (failure === undefined ? resolve() : reject(failure)),
  };
  client.query(query as never); // pg calls these
  return promise;
}

async function copyOut(client: pg.Client, table: string, file: string): Promise<void> {
  const out = createWriteStream(file);
  await submitCopy(client, `COPY ${table} TO STDOUT`, { onChunk: (chunk) => void out.write(chunk) });
  await new Promise<void>((resolve) => out.end(resolve));
}

async function copyIn(client: pg.Client, table: string, file: string): Promise<void> {
  await submitCopy(client, `COPY ${table} FROM STDIN`, { onReady: (wire) => void sendFile(wire, file) });
}

async function sendFile(wire: CopyWire, file: string): Promise<void> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) {
      wire.sendCopyFromChunk(chunk);
      if (wire.stream.writableLength > 4 * 1024 * 1024)
        await new Promise((resolve) => wire.stream.once('drain', resolve));
    }
    wire.endCopyFrom();
  } catch (error) {
    wire.sendCopyFail(String(error));
  }
}
