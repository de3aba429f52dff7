/**
 * The content store in a directory of this machine, or one that all nodes share. Files are readable by their owner alone. A
 * file appears under its name whole: it is on the disk before it is renamed, and its directory after
 * (https://pubs.opengroup.org/onlinepubs/9799919799/functions/rename.html).
 */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type ContentStore, requireName } from './content-store.ts';

const directoryMode = 0o700;

/** @param root is made when the first file is stored */
export function openDirectoryStore(root: string): ContentStore {
  const fileOf = (name: string): string => path.join(root, requireName(name));
  return {
    async put(name, file) {
      const target = fileOf(name);
      const directory = path.dirname(target);
      const made = await mkdir(directory, { recursive: true, mode: directoryMode });
      await rename(file.path, target);
      await syncUpTo(directory, made === undefined ? directory : path.dirname(made));
    },
    async open(name, range) {
      const handle = await open(fileOf(name), 'r');
      return handle.createReadStream(range === undefined ? {} : { start: range.start, end: range.end });
    },
    remove: (name) => rm(fileOf(name), { force: true }),
  };
}

/** Makes the entries of a directory durable, and those of the directories above it up to `last`. */
async function syncUpTo(directory: string, last: string): Promise<void> {
  await using handle = await open(directory, 'r');
  await handle.sync();
  const above = path.dirname(directory);
  if (directory !== last && above !== directory) await syncUpTo(above, last);
}
