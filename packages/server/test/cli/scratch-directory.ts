/** A directory for the files of one test file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Lifetime } from '../support/database.ts';

export interface ScratchDirectory {
  readonly path: string;
  /** Writes a file, with directories as needed, and returns its path. */
  write(name: string, content: string | Uint8Array): string;
}

/** A new directory, removed afterwards. */
export function openScratchDirectory(t: Lifetime): ScratchDirectory {
  const root = mkdtempSync(path.join(os.tmpdir(), 'praxis-files-'));
  t.after(async () => rmSync(root, { recursive: true, force: true }));
  return {
    path: root,
    write(name, content) {
      const file = path.join(root, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
  };
}
