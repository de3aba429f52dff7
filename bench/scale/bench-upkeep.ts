/**
 * `npm run bench -- upkeep --data DIRECTORY [--firms 20]`: what becomes of the tables of 3 million resources while those of some
 * firms are updated once. Takes the large data set that `npm run bench -- scale --data DIRECTORY` has left there, moves all that
 * it says of time by a day, and tells the size of each table and index before and after, and how many dead rows
 * there were meanwhile.
 */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Platform } from '../../packages/server/src/app.ts';
import { sql } from '../../packages/server/src/database/sql.ts';
import { markToday, openDataSet, readMark, storePractice } from './data-set.ts';

const dayMs = 86_400_000;
/** Firms that are updated at once. */
const atOnce = 2;
const sampleMs = 5_000;
/** How long autovacuum gets after the last update before sizes are read. */
const restMs = 90_000;

interface TableState {
  readonly name: string;
  readonly kind: 'table' | 'index';
  readonly megabytes: number;
  readonly live: number;
  readonly dead: number;
  readonly vacuums: number;
}

/** Runs the bench with the arguments that follow its name; returns the exit status. */
export async function benchUpkeep(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { data: { type: 'string' }, firms: { type: 'string', default: '20' } },
  });
  if (values.data === undefined)
    throw new Error('upkeep needs --data DIRECTORY, of `npm run bench -- scale --data DIRECTORY`');
  const directory = path.resolve(values.data);
  const set = await openDataSet(directory, { name: 'large', ...readMark(directory, 'large') }, tell);
  try {
    const before = await readTables(set.platform);
    const deadMax = new Map<string, number>();
    const watching = watchDeadRows(set.platform, deadMax);
    const startMs = performance.now();
    const todayMs = set.todayMs + dayMs;
    const waiting = set.members.slice(0, Number(values.firms));
    let updated = 0;
    const updateNext = async (): Promise<void> => {
      for (let firm = waiting.shift(); firm !== undefined; firm = waiting.shift()) {
        const stored = await storePractice(set.platform, firm, { patients: set.patientsPerFirm, todayMs });
        updated += stored;
        tell(`${updated} updates, ${Math.round((performance.now() - startMs) / 1000)} s`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, updateNext));
    const seconds = (performance.now() - startMs) / 1000;
    if (values.firms === '20') markToday(directory, 'large', todayMs);
    await delay(restMs);
    await watching.stop();
    console.log(`${updated} updates in ${seconds.toFixed(0)} s, ${(updated / seconds).toFixed(0)} a second\n`);
    console.log(tableOf(before, await readTables(set.platform), deadMax));
    return 0;
  } finally {
    await set.platform.close();
  }
}

/** Of all tables and indexes of a megabyte or more. */
async function readTables(platform: Platform): Promise<readonly TableState[]> {
  return await platform.asOwner((owner) =>
    owner.query<TableState>(sql`
      SELECT c.relname AS name, CASE c.relkind WHEN 'i' THEN 'index' ELSE 'table' END AS kind,
        pg_relation_size(c.oid)::float8 / 1e6 AS megabytes,
        coalesce(s.n_live_tup, 0)::float8 AS live, coalesce(s.n_dead_tup, 0)::float8 AS dead,
        coalesce(s.autovacuum_count, 0)::float8 AS vacuums
      FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i') AND pg_relation_size(c.oid) > 1000000
      ORDER BY c.relkind DESC, pg_relation_size(c.oid) DESC`),
  );
}

/** Keeps in `deadMax` the largest number of dead rows that each table was seen with. */
function watchDeadRows(platform: Platform, deadMax: Map<string, number>): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      for (const { name, dead } of await readTables(platform))
        deadMax.set(name, Math.max(dead, deadMax.get(name) ?? 0));
      await delay(sampleMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const watched = watch();
  return {
    async stop() {
      stopping.abort();
      await watched;
    },
  };
}

function tableOf(
  before: readonly TableState[],
  after: readonly TableState[],
  deadMax: ReadonlyMap<string, number>,
): string {
  const lines = after.map(({ name, kind, megabytes, live, vacuums }) => {
    const sizeBefore = before.find((each) => each.name === name)?.megabytes ?? 0;
    const ratio = sizeBefore === 0 ? '' : (megabytes / sizeBefore).toFixed(2);
    const rows = kind === 'table' ? `${live} | ${deadMax.get(name) ?? 0} | ${vacuums}` : ' | | ';
    return `| ${name} | ${sizeBefore.toFixed(0)} | ${megabytes.toFixed(0)} | ${ratio} | ${rows} |`;
  });
  return [
    '| Table or index | MB before | after | ratio | live rows | most dead rows seen | autovacuums |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...lines,
  ].join('\n');
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}
