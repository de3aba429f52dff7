/**
 * docs/integrate/contract.md#credentials: whatever changes a right raises the access epoch of those whose right it is, in
 * the same transaction, and of nobody else.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test, { after } from 'node:test';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { revokeApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { revokeClient } from '../../src/oauth/client-auth/clients.ts';
import { resetLegacyPassword, revokeLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
import { addBrownOut, clearSunset, removeBrownOut, setSunset } from '../../src/oauth/legacy/sunset-administration.ts';
import {
  resumeApplication,
  setApplicationAcl,
  setApplicationSettings,
  suspendApplication,
} from '../../src/tenancy/applications.ts';
import { authorise, revokeAuthorisation, setOperatorRows } from '../../src/tenancy/authorisations.ts';
import { changeRights } from '../../src/tenancy/epochs.ts';
import { resumeFirm, setFirmTimeZone, suspendFirm } from '../../src/tenancy/firms.ts';
import { entryProblem, makeAccount, makeFirm, makeVendor, openWorld, startMs } from '../oauth/world.ts';
import { openTestDatabase } from '../support/database.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);

/** Two applications at two firms each. */
async function square() {
  const [a, b] = [await makeVendor(world), await makeVendor(world)];
  const [x, y] = [await makeFirm(world), await makeFirm(world)];
  const account = await makeAccount(world, a, x);
  await makeAccount(world, a, y);
  await makeAccount(world, b, x);
  await makeAccount(world, b, y);
  return { a, b, x, y, account, brownOut: await insertTerms(a.application.id) };
}

/** A sunset and a brown-out of the application, without raising anything; the id of the brown-out. */
async function insertTerms(application: number): Promise<number> {
  await database.query(sql`
    INSERT INTO legacy_sunset (environment, application, deprecated_at, link)
    VALUES (${environment.id}, ${application}, now(), ${sunset.link})`);
  const [row] = await database.query<{ id: number }>(sql`
    INSERT INTO legacy_brown_out (environment, application, starts_at, ends_at)
    VALUES (${environment.id}, ${application}, now(), now() + interval '1 s') RETURNING id`);
  return row?.id ?? 0;
}

type Square = Awaited<ReturnType<typeof square>>;

/** Epochs of ax, ay, bx, by. */
async function epochsOf({ a, b, x, y }: Square): Promise<number[]> {
  const pairs = [
    [x, a],
    [y, a],
    [x, b],
    [y, b],
  ] as const;
  return await Promise.all(
    pairs.map(async ([firm, vendor]) => {
      const [row] = await database.query<{ epoch: number }>(
        sql`SELECT epoch FROM access_epoch WHERE firm = ${firm.id} AND application = ${vendor.application.id}`,
      );
      return row?.epoch ?? 0;
    }),
  );
}

const ofApplication = [1, 1, 0, 0];
const ofFirm = [1, 0, 1, 0];
const ofPair = [1, 0, 0, 0];
const ofEnvironment = [1, 1, 1, 1];

const environment = await world.environment('sandbox');
const sunset = { deprecatedAtMs: startMs, link: 'https://example.com/migrate' };
const brownOut = { startsAtMs: startMs, endsAtMs: startMs + 1000 };

/** Every function that changes a right, as application `a` or firm `x`, and whose epochs it raises. */
const changes: Readonly<
  Record<string, readonly [raised: readonly number[], change: (made: Square, on: Database) => Promise<unknown>]>
> = {
  authorise: [
    ofPair,
    ({ a, x }, on) => authorise(on, world.clock, x, a.application, { purpose: 'test' }, entryProblem),
  ],
  setOperatorRows: [ofPair, ({ a, x }, on) => setOperatorRows(on, x, a.application, {})],
  revokeAuthorisation: [ofPair, ({ a, x }, on) => revokeAuthorisation(on, x, a.application)],
  setApplicationAcl: [ofApplication, ({ a }, on) => setApplicationAcl(on, a.application, ['acl/pat_r'], entryProblem)],
  setApplicationSettings: [
    ofApplication,
    ({ a }, on) => setApplicationSettings(on, a.application, { totalOfPage: true }),
  ],
  suspendApplication: [ofApplication, ({ a }, on) => suspendApplication(on, a.application)],
  resumeApplication: [ofApplication, ({ a }, on) => resumeApplication(on, a.application)],
  suspendFirm: [ofFirm, ({ x }, on) => suspendFirm(on, x)],
  resumeFirm: [ofFirm, ({ x }, on) => resumeFirm(on, x, { by: 'operator', nowMs: 0 })],
  setFirmTimeZone: [ofFirm, ({ x }, on) => setFirmTimeZone(on, x, 'UTC')],
  revokeApiKey: [ofApplication, ({ a }, on) => revokeApiKey(on, a.application, a.legacyKeyId)],
  revokeClient: [ofApplication, ({ a }, on) => revokeClient(on, a.application, a.clientId)],
  revokeLegacyAccount: [ofFirm, ({ x, account }, on) => revokeLegacyAccount(on, x, account.username)],
  'setSunset of an environment': [ofEnvironment, (_made, on) => setSunset(on, { environment }, sunset)],
  'setSunset of a firm': [ofFirm, ({ x }, on) => setSunset(on, { environment, firm: x }, sunset)],
  'setSunset of an application': [
    ofApplication,
    ({ a }, on) => setSunset(on, { environment, application: a.application }, sunset),
  ],
  'setSunset of a pair': [
    ofPair,
    ({ a, x }, on) => setSunset(on, { environment, firm: x, application: a.application }, sunset),
  ],
  clearSunset: [ofApplication, ({ a }, on) => clearSunset(on, { environment, application: a.application })],
  'addBrownOut of a pair': [
    ofPair,
    ({ a, x }, on) => addBrownOut(on, world.clock, { environment, firm: x, application: a.application }, brownOut),
  ],
  removeBrownOut: [ofEnvironment, (made, on) => removeBrownOut(on, environment, made.brownOut)],
  resetLegacyPassword: [ofFirm, ({ x, account }, on) => resetLegacyPassword(on, world.secrets, x, account.username)],
};

for (const [name, [raised, change]] of Object.entries(changes)) {
  test(`${name} raises the epochs of those whose right it changes, and no others`, async () => {
    const made = await square();
    const before = await epochsOf(made);
    assert.ok(before.every((epoch) => epoch === 1));
    await change(made, database);
    assert.deepEqual(
      await epochsOf(made),
      before.map((epoch, index) => epoch + (raised[index] ?? 0)),
    );
  });

  test(`${name} changes nothing when the epochs cannot be raised`, async () => {
    const made = await square();
    const [before, tables] = [await epochsOf(made), await contentOf()];
    const failing: Database = {
      ...database,
      transaction: (firm, work, options) =>
        database.transaction(
          firm,
          (tx) =>
            work({
              query: (statement) =>
                statement.text.includes('access_epoch') ? Promise.reject(new Error('cut')) : tx.query(statement),
            }),
          options,
        ),
    };
    await assert.rejects(change(made, failing), /cut/);
    assert.deepEqual(await epochsOf(made), before);
    assert.deepEqual(await contentOf(), tables);
  });
}

/** Everything that rights are read from. */
async function contentOf(): Promise<unknown> {
  const tables = [
    'firm',
    'application',
    'authorisation',
    'api_key',
    'client',
    'legacy_account',
    'legacy_sunset',
    'legacy_brown_out',
  ];
  return await Promise.all(
    tables.map((table) => database.query(sql`SELECT t.*::text AS row FROM ${sql.identifier(table)} t ORDER BY 1`)),
  );
}

test('a change that is refused raises nothing', async () => {
  const made = await square();
  const before = await epochsOf(made);
  await assert.rejects(revokeApiKey(database, made.b.application, made.a.legacyKeyId), /has no live API key/);
  await assert.rejects(revokeClient(database, made.b.application, made.a.clientId), /has no live client/);
  await assert.rejects(revokeLegacyAccount(database, made.y, made.account.username), /has no live account/);
  await assert.rejects(
    changeRights(database, { application: made.a.application.id }, () => Promise.reject(new Error('refused'))),
    /refused/,
  );
  assert.deepEqual(await epochsOf(made), before);
});

test('what is revoked cannot be changed again, and nothing is raised', async () => {
  const made = await square();
  const account = made.account.username;
  await revokeApiKey(database, made.a.application, made.a.legacyKeyId);
  await revokeClient(database, made.a.application, made.a.clientId);
  await revokeLegacyAccount(database, made.x, account);
  const before = await epochsOf(made);
  await assert.rejects(revokeApiKey(database, made.a.application, made.a.legacyKeyId), /has no live API key/);
  await assert.rejects(revokeClient(database, made.a.application, made.a.clientId), /has no live client/);
  await assert.rejects(revokeLegacyAccount(database, made.x, account), /has no live account/);
  await assert.rejects(resetLegacyPassword(database, world.secrets, made.x, account), /has no live account/);
  assert.deepEqual(await epochsOf(made), before);
});

test('changes at once raise the epoch once each', async () => {
  const made = await square();
  await Promise.all([
    ...Array.from({ length: 5 }, () => suspendFirm(database, made.x)),
    ...Array.from({ length: 5 }, () => suspendApplication(database, made.a.application)),
  ]);
  assert.deepEqual(await epochsOf(made), [11, 6, 6, 1]);
});

test('no statement of tenancy and oauth changes a right outside of `changeRights`', () => {
  const changed =
    /\b(?:UPDATE|DELETE FROM)\s+(?:ONLY\s+)?(?:firm|application|authorisation|api_key|client|legacy_account|legacy_sunset|legacy_brown_out)\b/;
  for (const directory of ['tenancy', 'oauth']) {
    const folder = new URL(`../../src/${directory}/`, import.meta.url);
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )) {
      // Each function that holds such a statement opens `changeRights` before it.
      for (const body of readFileSync(new URL(file, folder), 'utf8').split(/\n}\n/)) {
        const at = body.search(changed);
        assert.ok(
          at < 0 || body.slice(0, at).includes('changeRights(database'),
          `${directory}/${file}: ${body.slice(at, at + 60)}`,
        );
      }
    }
  }
});
