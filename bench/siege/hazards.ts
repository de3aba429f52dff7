/** What of an installation can be made to fail from outside, and whether it is right again. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { type DatabaseWay, openDatabaseWay } from './database-way.ts';
import { type Disk, mountDisk } from './disk.ts';

export interface Hazards {
  readonly way: DatabaseWay;
  /** A string says why there is none. */
  readonly disk: Disk | string;
  /** Environment of the service's processes. */
  readonly settings: Readonly<Record<string, string>>;
  /** From now on the wall clocks of the service's processes are so far ahead, in ms. */
  shiftClock(aheadMs: number): void;
  /** Whether the database itself answers, asked past everything that is made to fail. */
  databaseAnswers(): Promise<boolean>;
  close(): void;
}

const preload = new URL('../../packages/server/test/support/wrong-clock.mjs', import.meta.url).href;

/** Prepares `dataDir`, which is empty yet; what lies around it is in `directory`. */
export function openHazards(directory: string, dataDir: string): Hazards {
  const disk = mountDisk(dataDir);
  const clockFile = path.join(directory, 'clock-ahead-ms');
  writeFileSync(clockFile, '0');
  const way = openDatabaseWay(path.join(dataDir, 'postgres', 'socket'), path.join(directory, 'database'));
  return {
    way,
    disk,
    settings: { NODE_OPTIONS: `--import=${preload}`, WRONG_CLOCK_FILE: clockFile },
    shiftClock: (aheadMs) => writeFileSync(clockFile, String(aheadMs)),
    databaseAnswers: () => answers(way, path.join(dataDir, 'postgres', 'credentials.json')),
    close() {
      way.close();
      if (typeof disk !== 'string') disk.remove();
    },
  };
}

async function answers({ behind }: DatabaseWay, credentialsFile: string): Promise<boolean> {
  const { praxis_owner: password } = JSON.parse(readFileSync(credentialsFile, 'utf8'));
  const client = new pg.Client({
    ...behind,
    user: 'praxis_owner',
    database: 'postgres',
    password,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
