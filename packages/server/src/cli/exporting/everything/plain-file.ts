/** Files of a directory that somebody else may have made: read only where they are files of it, and no links out of it. */
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { isPlainPath } from './manifest.ts';

/** What is wrong with a file, after its name. */
export type FileFault = 'is missing' | 'is no regular file of the directory';

/** @param file below the directory, with `/`; gives what is wrong where it is not there, or is no regular file reached without links */
export async function openPlainFile(directory: string, file: string): Promise<FileHandle | FileFault> {
  const foreign = 'is no regular file of the directory';
  if (!isPlainPath(file)) return foreign;
  let handle: FileHandle;
  try {
    const at = path.join(await realpath(directory), file);
    if ((await realpath(path.dirname(at))) !== path.dirname(at)) return foreign;
    // Without waiting for who writes to a pipe.
    handle = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'is missing';
    if (code === 'ELOOP' || code === 'ENXIO') return foreign;
    throw error;
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  return foreign;
}
