/** The floor: COPY … TO STDOUT of the same contents, through the gzip that the service uses. */
import { createGzip } from 'node:zlib';
import pg from 'pg';

/** Bytes that are compressed at once: a row at a time takes many times as long. */
const pieceBytes = 262_144;

/** The level of the service (http/answer/compression.ts). */
const level = 4;

export interface Copied {
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly seconds: number;
}

/** Copies what a statement selects. @param url of the database, as its owner */
export async function copyThroughGzip(url: string, select: string): Promise<Copied> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const beganMs = performance.now();
  const gzip = createGzip({ level });
  let bytes = 0;
  let compressedBytes = 0;
  gzip.on('data', (chunk: Buffer) => {
    compressedBytes += chunk.length;
  });
  const compressed = new Promise<void>((resolve, reject) => {
    gzip.once('end', resolve);
    gzip.once('error', reject);
  });
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;
  const write = (): void => {
    gzip.write(Buffer.concat(gathered));
    gathered = [];
    gatheredBytes = 0;
  };
  await runCopy(client, `COPY (${select}) TO STDOUT`, (chunk) => {
    bytes += chunk.length;
    gathered.push(chunk);
    gatheredBytes += chunk.length;
    if (gatheredBytes >= pieceBytes) write();
  });
  write();
  gzip.end();
  await compressed;
  const seconds = (performance.now() - beganMs) / 1000;
  await client.end();
  return { bytes, compressedBytes, seconds };
}

/** A statement as the driver takes it, whose rows are chunks of COPY (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY). */
function runCopy(client: pg.Client, statement: string, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const ignore = (): void => undefined;
    client.query({
      submit: (connection: pg.Connection) => connection.query(statement),
      handleCopyData: ({ chunk }: { readonly chunk: Buffer }) => onChunk(chunk),
      handleCopyOutResponse: ignore,
      handleRowDescription: ignore,
      handleDataRow: ignore,
      handleCommandComplete: ignore,
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    });
  });
}
