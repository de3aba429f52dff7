/** What needs Node: `@praxis/client/node`. */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { CursorStore } from './cursor.ts';

export type { CursorStore } from './cursor.ts';

/**
 * A store in a file. It holds one cursor or another, whatever happens: a new one is written beside it, made durable, and put in
 * its place. One program at a time may use a file.
 */
export function makeFileCursor(file: string | URL): CursorStore {
  const path = typeof file === 'string' ? file : fileURLToPath(file);
  return {
    async load() {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async save(cursor) {
      if (cursor === undefined) return await rm(path, { force: true });
      const beside = `${path}.new`;
      const handle = await open(beside, 'w', 0o600);
      try {
        await handle.writeFile(cursor);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(beside, path);
    },
  };
}
