/**
 * The last seal of each ledger that this machine has seen, kept outside of the database. Whoever cuts off the end of a ledger in
 * the database, seals included, leaves what knows better. What was found missing stays, so that the next seals cannot cover it up.
 *
 * Several processes write here at once. So a head is the name of an empty file, `<ledger>/<number>-<head>`: it is there or not, and
 * no process can overwrite what another one knows. Of the names of a ledger the highest number counts (docs/decisions/0260).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface KnownHead {
  readonly number: number;
  /** Hexadecimal. */
  readonly head: string;
}

export interface KnownHeads extends KnownHead {
  /** Ends of the ledger that were there once and then no longer. */
  readonly missing: readonly KnownHead[];
}

export interface HeadFiles {
  /**
   * What is known of the ledger now; undefined: this machine has seen no seal of it. To be read before the database is: then a seal
   * that is known, and not in the database, is missing.
   */
  read(firm: number): KnownHeads | undefined;
  /** Notes the last seal that there is now. @param gone a seal that was known, and is missing */
  note(firm: number, last: KnownHead, gone?: KnownHead): Promise<void>;
}

/** Where this machine keeps the heads of the audit ledgers' seals. */
export function resolveAuditHeadsDirectory({ dataDir }: { readonly dataDir: string }): string {
  return path.join(path.resolve(dataDir), 'audit-heads');
}

/** The files of `directory`, which is made when the first is written. */
export function openHeadFiles(directory: string): HeadFiles {
  const placeOf = (firm: number): string => path.join(directory, String(firm));
  const formerOf = (firm: number): string => path.join(directory, `${firm}.json`);
  const write = (firm: number, name: string): Promise<void> =>
    writeFile(path.join(placeOf(firm), name), '', { mode: 0o600 });
  return {
    read(firm) {
      const former = readFormer(formerOf(firm));
      const names = namesIn(placeOf(firm));
      const seen = [...headsOf(names, seenName), ...(former === undefined ? [] : [former])];
      const [first, ...others] = seen;
      if (first === undefined) return undefined;
      const { number, head } = others.reduce((last, each) => (each.number > last.number ? each : last), first);
      return { number, head, missing: [...(former?.missing ?? []), ...headsOf(names, missingName)] };
    },
    async note(firm, last, gone) {
      await mkdir(placeOf(firm), { recursive: true, mode: 0o700 });
      const former = readFormer(formerOf(firm));
      for (const missing of [...(former?.missing ?? []), ...(gone === undefined ? [] : [gone])])
        await write(firm, `missing-${nameOf(missing)}`);
      await write(firm, nameOf(last));
      const passed = headsOf(namesIn(placeOf(firm)), seenName).filter(({ number }) => number < last.number);
      for (const head of gone === undefined ? passed : [...passed, gone])
        await rm(path.join(placeOf(firm), nameOf(head)), { force: true });
      if (former !== undefined) await rm(formerOf(firm), { force: true });
    },
  };
}

const seenName = /^(\d+)-([0-9a-f]+)$/;
const missingName = /^missing-(\d+)-([0-9a-f]+)$/;

function nameOf({ number, head }: KnownHead): string {
  return `${number}-${head}`;
}

function headsOf(names: readonly string[], pattern: RegExp): KnownHead[] {
  return names.flatMap((name) => {
    const [, number, head] = pattern.exec(name) ?? [];
    return number === undefined || head === undefined ? [] : [{ number: Number(number), head }];
  });
}

function namesIn(place: string): readonly string[] {
  return unlessMissing(() => readdirSync(place)) ?? [];
}

/** The file in which releases before kept the same. */
function readFormer(file: string): KnownHeads | undefined {
  const text = unlessMissing(() => readFileSync(file, 'utf8'));
  if (text === undefined) return undefined;
  try {
    const { number, head, missing } = JSON.parse(text);
    return { number, head, missing };
  } catch {
    return undefined;
  }
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
