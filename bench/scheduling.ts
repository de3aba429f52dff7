/**
 * Slots and $find in a practice of ten practitioners with two years of appointments, by HTTP in one process: a search for the
 * slots of one practitioner's week beside a plain search that returns as many rows (limit 3 times its p50), and the database
 * time of $find for ten practitioners over 30 days (limit 50 ms). What is compared takes turns; medians count.
 *
 *     npm run bench -- scheduling [--rounds 40]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { entryProblem } from '../packages/server/src/admin/entry-problem.ts';
import { openPlatform, type Platform, startService } from '../packages/server/src/app.ts';
import { systemClock } from '../packages/server/src/base/clock.ts';
import { readConfig } from '../packages/server/src/base/config.ts';
import { makeSecret } from '../packages/server/src/base/ids.ts';
import { openLog } from '../packages/server/src/base/log.ts';
import { loadPractice } from '../packages/server/src/cli/sandbox/practice.ts';
import { type Database, openDatabase } from '../packages/server/src/database/database.ts';
import { startEmbeddedDatabase } from '../packages/server/src/database/embedded-postgres.ts';
import { sql } from '../packages/server/src/database/sql.ts';
import { issueApiKey } from '../packages/server/src/oauth/client-auth/api-keys.ts';
import { issueClient } from '../packages/server/src/oauth/client-auth/clients.ts';
import { openStore } from '../packages/server/src/storage/store.ts';
import { toDayStart } from '../packages/server/src/synthetic/zoned-time.ts';
import { createApplication } from '../packages/server/src/tenancy/applications.ts';
import { authorise } from '../packages/server/src/tenancy/authorisations.ts';
import { createFirm, type Firm } from '../packages/server/src/tenancy/firms.ts';
import { median } from './cpu.ts';

const patients = 2_500; // ten practitioners
const practitioners = 10;
const dayMs = 86_400_000;
const ratioMax = 3;
const findMaxMs = 50;
/** Rows of a page at most. */
const pageMax = 100;

/** A database that adds up how long its statements take. */
function timed(database: Database, spent: { ms: number }): Database {
  const clocked = async <T>(work: () => Promise<T>): Promise<T> => {
    const startMs = performance.now();
    try {
      return await work();
    } finally {
      spent.ms += performance.now() - startMs;
    }
  };
  return {
    ...database,
    query: (statement, options) => clocked(() => database.query(statement, options)),
    forFirm: (firm) => ({
      query: (statement, options) => clocked(() => database.forFirm(firm).query(statement, options)),
    }),
  };
}

/** Appointments of the past, which are not taken up any more: two years of a full calendar. */
async function fillPast(owner: Database, firm: Firm, nowMs: number): Promise<number> {
  const rows = await owner.query<{ taken: number }>(sql`
    WITH past AS (
      INSERT INTO occupancy (firm, actor, owner, starts, ends, lane, places)
      SELECT ${firm.id}, b.actor, 'Appointment/past-' || b.actor || day || '-' || slot, at.ms, at.ms + 1500000, 0, 1
      FROM (SELECT actor FROM bookable_actor WHERE firm = ${firm.id} AND actor LIKE 'Practitioner/%') b
      CROSS JOIN generate_series(1, 520) AS day CROSS JOIN generate_series(0, 15) AS slot
      CROSS JOIN LATERAL (SELECT ${nowMs}::bigint - day * ${Math.floor(1.4 * dayMs)}::bigint + slot * 1800000 AS ms) at
      RETURNING 1)
    SELECT count(*)::int AS taken FROM past`);
  return rows[0]?.taken ?? 0;
}

async function credentials(platform: Platform, firm: Firm, origin: string): Promise<Record<string, string>> {
  const { database, secrets, clock } = platform;
  const application = await createApplication(
    database,
    { environment: 'sandbox', name: 'Bench', acl: ['acl/*'] },
    entryProblem,
  );
  await authorise(database, clock, firm, application, { purpose: 'Bench' }, entryProblem);
  const { apiKey } = await issueApiKey(database, secrets, application, 'client', 'bench');
  const { clientId, clientSecret } = await issueClient(database, secrets, application);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const answer = await fetch(`${origin}/auth/realms/sandbox/protocol/openid-connect/token`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body,
  });
  const { access_token } = (await answer.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}`, 'x-api-key': apiKey };
}

type Get = (query: string) => Promise<readonly { readonly resource: Readonly<Record<string, unknown>> }[]>;

/** A practitioner's week, and the appointment type with most slots of those that fit on a page of a plain search. */
async function chooseWeek(
  get: Get,
  from: number,
): Promise<{ readonly query: string; readonly code: string; readonly rows: number }> {
  const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const window = `date=ge${date(from + 3 * dayMs)}&date=le${date(from + 7 * dayMs)}`;
  const practitioner = 'identifier=http://www.hl7.org/fhir/v2/0203/index.html%23v2-0203-PRN|100';
  const entries = await get(`Slot?${practitioner}&${window}&status=free,busy`);
  const codes = entries.map(
    ({ resource }) => (resource['appointmentType'] as { coding: { code: string }[] }).coding[0]?.code ?? '',
  );
  const code =
    [...new Set(codes)]
      .filter((each) => count(codes, each) <= pageMax)
      .toSorted((a, b) => count(codes, b) - count(codes, a))[0] ?? '';
  const query = `Slot?appointment-type=${code}&${practitioner}&${window}&status=free,busy`;
  return { query, code, rows: (await get(query)).length };
}

function count(codes: readonly string[], code: string): number {
  return codes.filter((each) => each === code).length;
}

async function measure(platform: Platform, firm: Firm, owner: Database, rounds: number): Promise<boolean> {
  const spent = { ms: 0 };
  const database = timed(platform.database, spent);
  const service = await startService({ ...platform, database, store: openStore(database) });
  try {
    await service.jobs.settle();
    const nowMs = Date.now();
    const [{ taken } = { taken: 0 }] = await owner.query<{ taken: number }>(
      sql`SELECT count(*)::int AS taken FROM occupancy`,
    );
    const past = await fillPast(owner, firm, nowMs);
    await owner.query(sql`ANALYZE occupancy`);
    console.log(`${practitioners} practitioners; taken: ${taken} coming, ${past} of two years`);
    const headers = await credentials(platform, firm, service.origin);
    const base = `${service.origin}/sandbox/firm/${firm.prefix}/pm/fhir/v2`;
    const get: Get = async (query) => {
      const answer = await fetch(`${base}/${query}`, { headers });
      const body = (await answer.json()) as { entry?: { resource: Record<string, unknown> }[] };
      if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${JSON.stringify(body)}`);
      return body.entry ?? [];
    };
    const { query, code, rows } = await chooseWeek(get, toDayStart(nowMs));
    const plain = `Observation?_count=${rows}`;
    const find = `Slot/$find?appointment-type=${code}&start=${new Date(nowMs).toISOString()}&end=${new Date(nowMs + 30 * dayMs).toISOString()}&_count=${pageMax}`;
    const times: Record<'slots' | 'plain' | 'find' | 'findDatabase', number[]> = {
      slots: [],
      plain: [],
      find: [],
      findDatabase: [],
    };
    let plainRows = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const clocked = async (asked: string): Promise<readonly [ms: number, databaseMs: number, rows: number]> => {
        const [startMs, before] = [performance.now(), spent.ms];
        const found = await get(asked);
        return [performance.now() - startMs, spent.ms - before, found.length];
      };
      const [slots, other, found] = [await clocked(query), await clocked(plain), await clocked(find)];
      plainRows = other[2];
      if (round === 0) continue;
      times.slots.push(slots[0]);
      times.plain.push(other[0]);
      times.find.push(found[0]);
      times.findDatabase.push(found[1]);
    }
    const ratio = median(times.slots) / median(times.plain);
    console.log(
      `one practitioner's week: ${rows} slots in ${median(times.slots).toFixed(1)} ms; ${plainRows} observations in ${median(times.plain).toFixed(1)} ms; ratio ${ratio.toFixed(2)} (limit ${ratioMax})`,
    );
    console.log(
      `$find, ${practitioners} practitioners, 30 days, first page of 100: ${median(times.find).toFixed(1)} ms, of these in the database ${median(times.findDatabase).toFixed(1)} ms (limit ${findMaxMs})`,
    );
    const whole = await wholeFind(get, find, spent);
    console.log(
      `$find, all pages of the 30 days: ${whole.rows} slots, ${whole.databaseMs.toFixed(1)} ms in the database per page`,
    );
    return ratio <= ratioMax && Math.max(median(times.findDatabase), whole.databaseMs) <= findMaxMs;
  } finally {
    await service.drain();
  }
}

/** What a page costs, wherever it is, and how many slots there are. */
async function wholeFind(
  get: Get,
  find: string,
  spent: { ms: number },
): Promise<{ readonly rows: number; readonly databaseMs: number }> {
  const times: number[] = [];
  let rows = 0;
  let after = '';
  for (;;) {
    const before = spent.ms;
    const found = await get(`${find}${after}`);
    times.push(spent.ms - before);
    rows += found.length;
    if (found.length < pageMax) return { rows, databaseMs: median(times) };
    const last = found.at(-1)?.resource as {
      start: string;
      schedule: { identifier: { value: string } };
      appointmentType: { coding: { code: string }[] };
    };
    const code = Buffer.from(last.appointmentType.coding[0]?.code ?? '').toString('base64url');
    after = `&_cursor=p.${Date.parse(last.start)}.${last.schedule.identifier.value}.${code}`;
  }
}

/** 0 where all is within its limits. */
export async function benchScheduling(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: 'string', default: '40' } } });
  const log = openLog('error');
  const dataDir = await mkdtemp(path.join(tmpdir(), 'praxis-bench-'));
  const embedded = await startEmbeddedDatabase({ dataDir, log });
  const config = readConfig({
    PRAXIS_DATA_DIR: dataDir,
    PRAXIS_SECRET_KEY: makeSecret(),
    PRAXIS_PORT: '0',
    PRAXIS_RATE_LIMIT: '0',
    PRAXIS_LOG_LEVEL: 'error',
  });
  const platform = await openPlatform({ config, clock: systemClock, log, connections: embedded });
  const owner = await openDatabase({
    connection: embedded.owner,
    rowSecurity: 'bypassed',
    poolMax: 2,
    statementTimeoutMs: 60_000,
    log,
  });
  try {
    const draft = { environment: 'sandbox', prefix: 'bench', name: 'Bench', timeZone: 'UTC' };
    const firm = await createFirm(platform.database, draft);
    const resources = await loadPractice(platform, firm, { seed: 'bench', patients, todayMs: toDayStart(Date.now()) });
    console.log(`${resources} resources`);
    return (await measure(platform, firm, owner, Number(values.rounds))) ? 0 : 1;
  } finally {
    await owner.close();
    await platform.close();
    await embedded.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
