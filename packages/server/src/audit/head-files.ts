/**
 * The last seal of each ledger that this machine has seen, kept outside of the database: one small file a ledger in the
 * data directory. Whoever cuts off the end of a ledger in the database, seals included, leaves the file that knows better.
 * What was found missing stays in the file, so that the next seals cannot cover it up.
 */
import { readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface KnownHead {
  readonly number: number;
  /** Hexadecimal. */
  readonly head: string;
}

export interface HeadFile extends KnownHead {
  /** Ends of the ledger that were there once and then no longer. */
  readonly missing: readonly KnownHead[];
}

export interface HeadFiles {
  /** Undefined: this machine has seen no seal of the ledger. */
  read(firm: number): HeadFile | undefined;
  /**
   * Notes the last seal that there is now; false when it is not what was known before, or does not follow it.
   */
  note(firm: number, last: KnownHead): Promise<boolean>;
}

/** Where this machine keeps the heads of the audit ledgers' seals. */
export function auditHeadsDirectory({ dataDir }: { readonly dataDir: string }): string {
  return path.join(path.resolve(dataDir), 'audit-heads');
}

/** The files of `directory`, which is made when the first is written. */
export function openHeadFiles(directory: string): HeadFiles {
  const remembered = new Map<number, HeadFile>();
  const fileOf = (firm: number): string => path.join(directory, `${firm}.json`);
  const read = (firm: number): HeadFile | undefined => {
    const known = remembered.get(firm) ?? readFile(fileOf(firm));
    if (known !== undefined) remembered.set(firm, known);
    return known;
  };
  return {
    read,
    async note(firm, last) {
      const known = read(firm);
      if (known?.number === last.number && known.head === last.head) return true;
      const follows = known === undefined || last.number > known.number;
      const missing = follows ? (known?.missing ?? []) : [...known.missing, { number: known.number, head: known.head }];
      const file: HeadFile = { ...last, missing };
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const draft = `${fileOf(firm)}.${process.pid}`;
      await writeFile(draft, `${JSON.stringify(file)}\n`, { mode: 0o600 });
      await rename(draft, fileOf(firm));
      remembered.set(firm, file);
      return follows;
    },
  };
}

function readFile(file: string): HeadFile | undefined {
  try {
    const { number, head, missing } = JSON.parse(readFileSync(file, 'utf8'));
    return { number, head, missing };
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      return undefined;
    throw error;
  }
}
