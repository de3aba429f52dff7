/**
 * When the sender of a Bundle has left, no further entry is begun: those of a batch that are done stay done, what takes effect
 * as a whole takes none.
 */
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { rowsOfRequest } from '../audit/ledger-rows.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { batch, entry, transaction } from './bundles.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const ids = ['a', 'b', 'c'];
for (const id of ids) assert.equal((await full.send('PUT', `Patient/${id}`, { ...patient('Old'), id })).status, 201);
const puts = (family: string) => ids.map((id) => entry('PUT', `Patient/${id}`, { ...patient(family), id }));
const families = async (): Promise<string[]> =>
  await Promise.all(ids.map(async (id) => (await full.get(`Patient/${id}`)).json.name[0].family));

/** Sends the Bundle and leaves while its second entry waits for a lock on Patient/b; then lets it go on. */
async function leaveDuring(bundle: object, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const body = JSON.stringify(bundle);
  const { hostname, port, pathname } = new URL(maple.base);
  const headers = {
    host: 'localhost',
    ...full.headers,
    'content-type': 'application/fhir+json',
    'content-length': String(Buffer.byteLength(body)),
    ...more,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT 1 FROM resource WHERE firm = ${maple.id} AND id = 'b' FOR UPDATE`);
    const socket = net.connect(Number(port), hostname);
    socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    await untilWaiting();
    socket.destroy();
    await delay(100); // the service notices on its own
    await full.get('Patient/a');
  });
}

/** Until a statement of the service waits for a lock. */
async function untilWaiting(): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const [row] = await owner.query<{ waiting: number }>(
      sql`SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if ((row?.waiting ?? 0) > 0) return;
    await delay(25);
  }
  throw new Error('the entry does not wait');
}

/** Until nothing of the service is under way. */
async function untilIdle(): Promise<void> {
  const { database } = service.platform;
  for (let tries = 0; tries < 200; tries += 1) {
    await delay(25);
    if (database.load().exclusive.inFlight === 0) return await delay(100);
  }
}

test('a batch ends with the entry that is under way, and the ledger tells of those that were carried out', async () => {
  await leaveDuring(batch(...puts('New')), { 'x-request-id': 'left' });
  await untilIdle();
  assert.deepEqual(await families(), ['New', 'New', 'Old']);
  const rows = await rowsOfRequest(service, 'left');
  assert.deepEqual(
    rows.map(({ interaction, what, outcome }) => [interaction, what, outcome]),
    [
      ['update', 'Patient/a/2', 0],
      ['update', 'Patient/b/2', 0],
    ],
  );
});

test('a batch with an Idempotency-Key and a transaction take no effect, and can be sent again', async () => {
  const before = await families();
  const keyed = { 'idempotency-key': '"again"' };
  await leaveDuring(batch(...puts('Keyed')), keyed);
  await untilIdle();
  assert.deepEqual(await families(), before);
  assert.equal((await full.send('POST', '', batch(...puts('Keyed')), keyed)).status, 200);
  assert.deepEqual(await families(), ['Keyed', 'Keyed', 'Keyed']);
  await leaveDuring(transaction(...puts('Together')), { 'x-request-id': 'gone' });
  await untilIdle();
  assert.deepEqual(await families(), ['Keyed', 'Keyed', 'Keyed']);
  const [row] = (await rowsOfRequest(service, 'gone')).filter(({ reason }) => reason !== null);
  assert.deepEqual([row?.interaction, row?.outcome, row?.reason], ['transaction', 4, 'request-malformed']);
});
