/**
 * `npm run bench -- stock [--programs DIRECTORY --rows create --rounds 12 --seconds 1]`: a node on the distribution's
 * PostgreSQL with its default settings (by default the newest in /usr/lib/postgresql, as Debian's package installs it) beside
 * one on the embedded database. Ends with an error when it is slower than 0.9 times that.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { compare, contestantOf, statusOf } from './comparison.ts';
import { type Ground, openGround, openStockGround, startNode } from './nodes.ts';
import { inYard } from './processes.ts';
import { readRowOptions } from './turns.ts';

const bounds = { rateMin: 0.9 };
const packaged = '/usr/lib/postgresql';

/** Runs the bench with these arguments; returns the exit status. */
export async function benchStock(args: readonly string[]): Promise<number> {
  const { options, values } = readRowOptions(args, { rounds: '12', seconds: '1', rows: 'create' }, ['programs']);
  const programs = values['programs'] ?? newestPackaged();
  if (programs === undefined) {
    console.error(`No packaged PostgreSQL in ${packaged}: install one (apt-get install postgresql), or say --programs`);
    return 2;
  }
  return await inYard(async (yard) => {
    const contestant = async (name: string, ground: Ground) =>
      await contestantOf(name, await startNode(yard, ground, 1), ground.prepared, options);
    const pair = [
      await contestant('embedded', await openGround(yard, options.patients)),
      await contestant('stock', await openStockGround(yard, programs, options.patients)),
    ] as const;
    return statusOf(await compare(pair, options, bounds));
  });
}

function newestPackaged(): string | undefined {
  if (!existsSync(packaged)) return undefined;
  const [newest] = readdirSync(packaged).toSorted((a, b) => Number(b) - Number(a));
  return newest && path.join(packaged, newest, 'bin');
}
