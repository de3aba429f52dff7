/**
 * Bytes on their way in: to a file of this machine first, with size and hashes taken as they pass, so that nothing is stored
 * that was not whole. What a killed process leaves there is nobody's content, and is removed an hour later.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeUuid } from '../base/ids.ts';
import type { SpooledFile } from './content-store.ts';
import { beginningBytes } from './media-types.ts';

export interface ReceivedFile extends SpooledFile {
  readonly sha1: Buffer;
  /** Its first bytes, at most `beginningBytes`. */
  readonly beginning: Buffer;
}

/**
 * Writes all of `source` into a new file of `directory`, which its owner alone can read, and to the disk.
 * @throws what `source` fails with, and RangeError beyond `sizeMax` bytes; no file is left then
 */
export async function receive(source: Readable, directory: string, sizeMax: number): Promise<ReceivedFile> {
  // Before anything else waits: a source that fails with nobody listening ends the process.
  let fault: Error | undefined;
  source.once('error', (error) => {
    fault = error;
  });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (fault !== undefined) throw fault;
  const file = path.join(directory, makeUuid());
  const sha256 = createHash('sha256');
  const sha1 = createHash('sha1'); // what R4 has in Attachment.hash; nothing is trusted because of it
  const beginning: Buffer[] = [];
  let size = 0;
  const measured = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (size < beginningBytes) beginning.push(chunk.subarray(0, beginningBytes - size));
      size += chunk.length;
      sha256.update(chunk);
      sha1.update(chunk);
      done(size > sizeMax ? new RangeError('the content is larger than allowed') : null, chunk);
    },
  });
  try {
    await pipeline(source, measured, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
  return { path: file, size, sha256: sha256.digest(), sha1: sha1.digest(), beginning: Buffer.concat(beginning) };
}

/** Removes files of `directory` that were last written before `beforeMs`. */
export async function removeAbandoned(directory: string, beforeMs: number): Promise<void> {
  for (const name of await namesIn(directory)) {
    const file = path.join(directory, name);
    const facts = await stat(file).catch(() => undefined); // another process was faster
    if (facts !== undefined && facts.mtimeMs < beforeMs) await rm(file, { force: true });
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
