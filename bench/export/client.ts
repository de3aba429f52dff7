/** A client of bulk exports, which goes on after whatever breaks off (https://hl7.org/fhir/uv/bulkdata/export.html). */
import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { openCaller } from '../service/caller.ts';
import { firmPrefix, type Prepared } from '../service/prepare.ts';

/** Files that are fetched at once. */
export const downloadsAtOnce = 4;

const retryMs = 100;
const retryMaxMs = 60_000;

export interface ListedFile {
  readonly type: string;
  readonly url: string;
  readonly count: number;
}

/** A file as it came. */
export interface FetchedFile extends ListedFile {
  readonly compressed: Buffer;
}

export interface ExportClient {
  /** Begins an export; where to ask for it. @param query of the kick-off, with its question mark */
  begin(query: string): Promise<string>;
  /** Asks until all files are planned. */
  plan(status: string): Promise<readonly ListedFile[]>;
  /** Fetches all files, compressed. @param onFile called with each file */
  fetchAll(files: readonly ListedFile[], onFile: (file: FetchedFile) => void): Promise<void>;
  remove(status: string): Promise<void>;
  close(): void;
}

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

/** The client of the bench's application. @param origins in turns: where one does not answer, another may */
export async function openExportClient(origin: string, prepared: Prepared): Promise<ExportClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: downloadsAtOnce });
  let caller = await openCaller(origin, prepared);
  const base = `${origin}/sandbox/firm/${firmPrefix}/pm/fhir/v2`;

  /** The answer, whatever happened to the connection or the token meanwhile. */
  const ask = async (method: string, url: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    for (const sinceMs = performance.now(); ; await delay(retryMs)) {
      const asked = await askOnce(agent, method, url, { ...caller.get('').headers, ...more }).catch(() => undefined);
      if (asked?.status === 401) caller = await openCaller(origin, prepared);
      else if (asked !== undefined && asked.status < 500) return asked;
      if (performance.now() - sinceMs > retryMaxMs)
        throw new Error(`${method} ${url}: ${asked?.status ?? 'no answer'}`);
    }
  };
  const fetchFile = async (file: ListedFile): Promise<FetchedFile> => {
    const { status, body } = await ask('GET', file.url, { 'accept-encoding': 'gzip' });
    if (status !== 200) throw new Error(`${file.url}: ${status} ${body.toString()}`);
    return { ...file, compressed: body };
  };
  return {
    async begin(query) {
      const { status, headers, body } = await ask('GET', `${base}/$export${query}`, { prefer: 'respond-async' });
      if (status !== 202) throw new Error(`$export: ${status} ${body.toString()}`);
      return String(headers['content-location']);
    },
    async plan(url) {
      for (;;) {
        const { status, body } = await ask('GET', url);
        if (status === 200) return JSON.parse(body.toString()).output;
        if (status !== 202) throw new Error(`${url}: ${status} ${body.toString()}`);
      }
    },
    async fetchAll(files, onFile) {
      const waiting = [...files];
      const fetchNext = async (): Promise<void> => {
        for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) onFile(await fetchFile(file));
      };
      await Promise.all(Array.from({ length: downloadsAtOnce }, fetchNext));
    },
    async remove(status) {
      await ask('DELETE', status);
    },
    close: () => agent.destroy(),
  };
}

/** @throws Error where the connection ended before the answer did */
function askOnce(
  agent: Agent,
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('error', reject);
      answer.once('end', () => {
        if (!answer.complete) return reject(new Error('cut off'));
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) });
      });
    });
    asked.once('error', reject);
    asked.end();
  });
}

/** The lines of a file. */
export function decodeFile({ compressed }: FetchedFile): Buffer {
  return compressed.length > 1 && compressed[0] === 0x1f && compressed[1] === 0x8b
    ? gunzipSync(compressed)
    : compressed;
}

export function hashFile(file: FetchedFile): string {
  return createHash('sha256').update(decodeFile(file)).digest('hex');
}
