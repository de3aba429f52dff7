/**
 * A firm's resources as NDJSON: one stream, or a file per type, as FHIR's bulk data has them
 * (https://hl7.org/fhir/uv/bulkdata/export.html#bulk-data-output-file-requirements).
 */

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { getStoredText } from '../../access/disclosure.ts';
import type { StoredResource } from '../../storage/store.ts';
import { UsageError } from '../command.ts';

const chunkCharacters = 64 * 1024;

/** Receives resources one by one; resolves when it can take the next. */
export interface ResourceSink {
  write(resource: StoredResource): Promise<void>;
  /** All were written: what was collected becomes visible. */
  finish(): Promise<void>;
  /** Something failed: nothing is left behind. */
  abandon(): Promise<void>;
}

/** All resources into one stream, which is not ended. Waits for slow readers. */
export function streamSink(stream: Writable): ResourceSink {
  const writer = chunkWriter(stream);
  return {
    write: (resource) => writer.write(lineOf(resource)),
    async finish() {
      await writer.flush();
      await new Promise<void>((resolve, reject) => {
        stream.write('', (error) => (error ? reject(error) : resolve()));
      });
    },
    abandon: async () => undefined,
  };
}

/**
 * A file `Type.ndjson` per type in `directory`, which is made. Files are called `.partial` until all of them are complete,
 * and can be read by their owner alone.
 * @throws UsageError when the directory holds anything already
 */
export async function openDirectorySink(directory: string): Promise<ResourceSink> {
  await requireEmpty(directory);
  const begin = (type: string) => {
    const name = path.join(directory, `${type}.ndjson`);
    const stream = createWriteStream(`${name}.partial`, { mode: 0o600, flags: 'wx', flush: true });
    const file = { name, stream, writer: chunkWriter(stream) };
    files.set(type, file);
    return file;
  };
  const files = new Map<string, ReturnType<typeof begin>>();
  return {
    write: (resource) => (files.get(resource.type) ?? begin(resource.type)).writer.write(lineOf(resource)),
    async finish() {
      for (const { stream, writer } of files.values()) {
        await writer.flush();
        stream.end();
        await finished(stream);
      }
      for (const { name } of files.values()) await rename(`${name}.partial`, name);
    },
    async abandon() {
      for (const { name, stream } of files.values()) {
        stream.destroy();
        if (!stream.closed) await once(stream, 'close');
        await rm(`${name}.partial`, { force: true });
      }
    },
  };
}

async function requireEmpty(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const [entry] = await readdir(directory);
  if (entry !== undefined)
    throw new UsageError(`${directory} must be empty: it holds ${entry}, which would mix with the export`);
}

/** Collects small texts into larger writes, and waits for the stream whenever its buffer is full. */
export function chunkWriter(stream: Writable) {
  let pending: string[] = [];
  let characters = 0;
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  const flush = async (): Promise<void> => {
    if (failure !== undefined) throw failure;
    if (pending.length === 0) return;
    const chunk = pending.join('');
    pending = [];
    characters = 0;
    if (!stream.write(chunk)) await once(stream, 'drain');
  };
  return {
    async write(text: string): Promise<void> {
      pending.push(text);
      characters += text.length;
      if (characters >= chunkCharacters) await flush();
    },
    flush,
  };
}

function lineOf(resource: StoredResource): string {
  return `${getStoredText(resource.content)}\n`;
}
