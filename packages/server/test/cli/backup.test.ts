/** `praxis backup` and `praxis restore`: what is refused leaves everything as it was, and what is restored is the same. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createAdministrator } from '../../src/admin/administrators.ts';
import { openPasswords } from '../../src/admin/passwords.ts';
import { signIn } from '../../src/admin/sign-in.ts';
import type { Platform } from '../../src/app.ts';
import { openHeadFiles } from '../../src/audit/head-files.ts';
import { addRows, elementList } from '../../src/audit/ledger-statements.ts';
import { openProver } from '../../src/audit/proof.ts';
import { openSealingKey } from '../../src/audit/seal.ts';
import { sealNext } from '../../src/audit/sealing.ts';
import { ConfigError } from '../../src/base/config.ts';
import { newSecret } from '../../src/base/ids.ts';
import { openSecrets } from '../../src/base/secrets.ts';
import { tablesOf } from '../../src/cli/backup/tables.ts';
import { writeBackup } from '../../src/cli/backup/write-backup.ts';
import { backupCommands } from '../../src/cli/commands/backup.ts';
import { importCommands } from '../../src/cli/commands/import.ts';
import { entryProblem } from '../../src/cli/options.ts';
import { openDatabase } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { reconcile } from '../../src/indexing/reconcile.ts';
import { resourceWrite } from '../../src/interactions/writing.ts';
import { openGuessLimit } from '../../src/limits/guess-limit.ts';
import { openSharedCounters } from '../../src/limits/shared-counters.ts';
import { issueApiKey } from '../../src/oauth/api-keys.ts';
import { issueClient } from '../../src/oauth/clients.ts';
import { issueLegacyAccount } from '../../src/oauth/legacy-accounts.ts';
import { addBrownOut, setSunset } from '../../src/oauth/legacy-steering.ts';
import { openLegacyUse } from '../../src/oauth/legacy-use.ts';
import { recordRevocation } from '../../src/oauth/revocation.ts';
import { openSigningKeys } from '../../src/oauth/signing-keys.ts';
import { openTokenScopes } from '../../src/oauth/token-scopes.ts';
import { isFirstUse } from '../../src/oauth/used-assertions.ts';
import { completenessSteps } from '../../src/storage/completeness.ts';
import { type Application, createApplication } from '../../src/tenancy/applications.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { getEnvironment } from '../../src/tenancy/environments.ts';
import { type Firm, getFirm } from '../../src/tenancy/firms.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { testLog } from '../support/cluster.ts';
import { makeFirm, openTestPlatform, runCommand, startMs } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const secretKey = newSecret();
const files = openScratchDirectory({ after });
const source = await openTestPlatform({ after }, secretKey);
/** Stays empty until a test near the end restores into it. */
const empty = await openTestPlatform({ after }, secretKey);
await fill(source);
const backup = path.join(files.path, 'praxis.backup');
const backupResult = await runCommand(source, backupCommands, 'backup', backup);

/** Firms, an application with every kind of credential, and resources that fill every index table. */
async function fill(platform: Platform): Promise<void> {
  const { database, secrets, clock } = platform;
  const maple = await makeFirm(platform, 'maple');
  await makeFirm(platform, 'cedar');
  const application = await createApplication(
    database,
    { environment: 'sandbox', name: 'It\'s "quoted", \\ (all)', acl: ['acl/*'] },
    entryProblem,
  );
  await authorise(
    database,
    clock,
    maple,
    application,
    { purpose: 'Test', expiresAtMs: startMs + 123_456 },
    entryProblem,
  );
  await issueApiKey(database, secrets, application, 'client', 'test');
  const { clientId } = await issueClient(database, secrets, application);
  const expiresAtMs = startMs + 60_000;
  await isFirstUse(database, { clientId, jti: 'a', expiresAtMs }, startMs);
  await openTokenScopes(database, clock, 0).carry(['acl/pat_s'], 900);
  await recordRevocation(database, { tokenId: 'a', application: application.id, expiresAtMs }, startMs);
  await issueLegacyAccount(database, secrets, maple, application);
  await fillAdministration(platform);
  await fillLegacyEnd(platform, maple, application);
  await openSigningKeys(database, secrets).signer('sandbox');
  const tricky = 'tab\t newline\n "quotes" \\ back, (comma) \u2028 😀 \'{}';
  const resources = [
    {
      resourceType: 'Patient',
      id: 'a',
      name: [{ family: tricky }],
      birthDate: '1990-01-02',
      identifier: [{ system: 'urn:x', value: tricky }],
    },
    {
      resourceType: 'Observation',
      id: 'o',
      status: 'final',
      code: { text: tricky },
      subject: { reference: 'Patient/a' },
      valueQuantity: { value: 1.1, unit: 'mg' },
    },
    { resourceType: 'Patient', id: 'a', name: [{ family: 'Second' }], birthDate: '1990-01-02' },
    ...Array.from({ length: 300 }, (_, index) => ({
      resourceType: 'Patient',
      id: `p${index}`,
      name: [{ family: `Family ${index}` }],
    })),
  ];
  const file = files.write('source.ndjson', resources.map((each) => `${JSON.stringify(each)}\n`).join(''));
  await runCommand(platform, importCommands, 'import', file, '--firm', 'maple');
  await registerParameter(platform, maple.id);
  await fillLedger(platform, maple.id);
  await keepAnswers(platform, maple);
  await keepCalendars(platform, maple);
  await keepIntake(platform, maple);
  await keepContents(platform, maple);
}

/** A calendar, holidays, and a hold. */
async function keepCalendars({ store, database, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const change = { version: 1, changedAtMs: startMs, changedBy: 'test' };
  const place = { number: 1, active: true, practitioner: '1', location: '3' };
  await store.exclusively(scope, 'calendars', async (inside) => {
    await inside.putCalendar(scope, { ...place, ...change, content: '{}' }, ['Practitioner/1']);
    await inside.putHolidays(scope, { location: '', ...change, content: '{}' }, []);
  });
  const hold = { id: 'h', slot: 's', expiresMs: startMs + 60_000, renewals: 1 };
  const claim = { actor: 'Practitioner/1', version: 1, capacity: 2, startMs, endMs: startMs + 60_000 };
  await store.transaction(scope, async (inside) => {
    const { id, expiresMs } = hold;
    const owner = `hold/${id}`;
    await inside.occupy(scope, { owner, replaces: [], nowMs: startMs, expiresMs, forced: false, choices: [[claim]] });
    await inside.keepHold(scope, hold);
  });
  await store.keepWaiting(scope, { appointment: 'w', priority: 1, sinceMs: startMs });
  await store.keepOffer(scope, 'w', { slot: 's', expiresMs: startMs, added: ['Practitioner/1'] });
  await store.noteFreed(scope, [{ ...claim, actor: 'Practitioner/1' }], startMs);
}

/** Content that a resource holds, and an object that is to be removed. */
async function keepContents({ store, database, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const offer = { id: 'c', createdMs: startMs, expiresMs: startMs + 1, sizeMax: 1, announcedType: 'text/plain' };
  await store.offerUpload(scope, offer, 1);
  const hashes = { sha256: Buffer.alloc(32, 1), sha1: Buffer.alloc(20, 2) };
  await store.keepUpload(scope, 'c', { name: 'n', size: 1, mediaType: 'text/plain', ...hashes }, startMs);
  await store.holdContents(scope, ['c'], 'DocumentReference/d', 'Patient/p');
  await store.announceObject(scope, 'other', startMs);
}

/** A charge that came in, and a proposal that waits by a rule. */
async function keepIntake({ store, database, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const { application } = scope;
  await store.transaction(scope, (inside) =>
    inside.noteCharge(scope, { charge: 'c', transaction: 't', application, receivedMs: startMs }),
  );
  await store.addIntakeRule(scope, { type: 'Coverage', application: undefined });
  const draft = { task: 't', type: 'Coverage', target: undefined, base: 0, proposedAtMs: startMs };
  await store.addProposal(scope, { ...draft, proposed: '{"status":"active"}' });
}

/** An answer that is kept under a key, and the moment up to which searches are complete. */
async function keepAnswers({ database, store, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const claim = { key: Buffer.alloc(32, 1), request: Buffer.alloc(32, 2), policy: 'p', atMs: startMs };
  const keep = { status: 201, facts: { id: 'a' }, body: Buffer.from('sealed') };
  await store.once(scope, claim, async () => ({ answer: undefined, keep }));
  await completenessSteps(database, () => startMs, 1_000).run();
}

/** A row of a read that showed some elements, and seals over it and the rows of the writes. */
async function fillLedger({ database, secrets, clock }: Platform, firm: number): Promise<void> {
  const list = elementList(['Patient.name']);
  const row = { atMs: startMs, application: 1, interaction: 'read', outcome: 0 } as const;
  const pending = [{ row, times: 1, elements: list.fingerprint }];
  await database.forFirm(firm).query(addRows(firm, pending, [list], openProver(secrets)));
  const heads = openHeadFiles(path.join(files.path, 'audit-heads'));
  const options = { database, clock, log: testLog, key: openSealingKey(secrets), heads };
  // Other test files have transactions under way in the same cluster.
  while ((await sealNext(options, firm)) !== 'done') await delay(10);
}

/** A search parameter of the firm's own, taken up once and then changed again. */
async function registerParameter({ database, store, clock }: Platform, firm: number): Promise<void> {
  const scope = await openOperatorScope(database, clock, await getFirm(database, 'sandbox', 'maple'));
  const caller = { flow: 'client', tokenId: 't', subject: 'praxis', requestId: 'r' } as const;
  const context = { scope, clock, caller, baseUrl: 'http://localhost' };
  const parameter = { resourceType: 'SearchParameter', url: 'urn:x', status: 'active', code: 'nick', type: 'string' };
  const resource = { ...parameter, base: ['Patient'], expression: 'Patient.name.given' };
  await store.write(scope, resourceWrite(context, 'create', 'SearchParameter', 'nick', resource, 0));
  await database.transaction(firm, (tx) => reconcile(tx, firm));
}

/** An administrator of a firm, with a session. */
async function fillAdministration({ database, clock, secrets }: Platform): Promise<void> {
  const passwords = openPasswords(secrets);
  const draft = { username: 'desk', role: 'practice', environment: 'sandbox', firm: 'maple' } as const;
  const { password = '' } = await createAdministrator({ database, clock, passwords }, draft);
  const guessLimit = openGuessLimit(openSharedCounters(database, clock), secrets, clock);
  await signIn({ database, clock, secrets, passwords, guessLimit, address: '::1' }, 'desk', password);
}

/** The end of the legacy flow: announced, tried out, and a use of it counted. */
async function fillLegacyEnd(platform: Platform, firm: Firm, application: Application): Promise<void> {
  const { database, clock, log } = platform;
  const environment = await getEnvironment(database, firm.environment);
  const link = 'https://example.com/migrate';
  await setSunset(database, { environment }, { deprecatedAtMs: startMs, sunsetAtMs: startMs + 123_000, link });
  const times = { startsAtMs: startMs + 1_000, endsAtMs: startMs + 2_000 };
  await addBrownOut(database, clock, { environment, firm, application }, times);
  const legacyUse = openLegacyUse({ database, clock, log });
  legacyUse.count({ firm: firm.id, application: application.id, kind: 'call', userAgent: 'Reminder/1' });
  await legacyUse.close();
}

type Contents = Record<string, readonly string[]>;

/** Every row of every table, as text. */
async function contentsOf(platform: Platform): Promise<Contents> {
  return await platform.asOwner(async (owner) => {
    const contents: Contents = {};
    for (const { name } of await tablesOf(owner)) {
      const rows = await owner.query<{ text: string }>(
        sql`SELECT t::text AS text FROM ${sql.identifier(name)} AS t ORDER BY 1`,
      );
      contents[name] = rows.map(({ text }) => text);
    }
    return contents;
  });
}

const restore = (platform: Platform, ...line: readonly string[]) =>
  runCommand(platform, backupCommands, 'restore', ...line);

async function assertRefused(platform: Platform, line: readonly string[], message: RegExp): Promise<void> {
  const before = await contentsOf(platform);
  await assert.rejects(restore(platform, ...line), (error) => {
    assert.ok(error instanceof ConfigError, String(error));
    assert.match(error.message, message);
    return true;
  });
  assert.deepEqual(await contentsOf(platform), before);
}

/** The backup with its text changed, compressed again. */
function altered(name: string, change: (text: string) => string): string {
  return files.write(name, gzipSync(change(gunzipSync(readFileSync(backup)).toString())));
}

test('a file that is no whole backup is refused, and nothing is changed', async () => {
  const bytes = readFileSync(backup);
  const text = gunzipSync(bytes).toString();
  const lastLine = text.trimEnd().lastIndexOf('\n') + 1;
  const damaged = Buffer.from(bytes);
  damaged.writeUInt8((damaged.at(-6) ?? 0) ^ 1, damaged.length - 6);
  const refusals: readonly (readonly [file: string, message: RegExp])[] = [
    [path.join(files.path, 'missing'), /missing cannot be read: there is no such file$/],
    [files.path, /cannot be read: EISDIR$/],
    [files.write('empty', ''), /is not a backup of praxis|is cut off/],
    [files.write('text', 'hello'), /text is not a backup of praxis/],
    [files.write('gzip', gzipSync('hello\n')), /gzip is not a backup of praxis$/],
    [files.write('json', gzipSync('{"table":"firm"}\n')), /json is not a backup of praxis$/],
    [files.write('later', gzipSync('{"praxisBackup":2}\n')), /later has format 2 of backups, this praxis reads 1$/],
    [files.write('half', bytes.subarray(0, bytes.length >> 1)), /half is cut off, so nothing was restored$/],
    [files.write('last-byte', bytes.subarray(0, -1)), /last-byte is cut off, so nothing was restored$/],
    [files.write('damaged', damaged), /damaged is not a backup of praxis, or is damaged; nothing was restored$/],
    [altered('no-trailer', () => text.slice(0, lastLine)), /no-trailer is cut off: its last line is missing/],
    [altered('other-name', () => text.replace('Second', 'Secund')), /other-name was altered since it was made/],
    [
      altered('row-less', () => text.replace(/\n"[^\n]*Family 7\W[^\n]*/, '')),
      /row-less was altered since it was made/,
    ],
    [altered('more', () => `${text}"(1)"\n`), /more was altered since it was made/],
    [altered('count', () => text.replace(/"firm":2/, '"firm":3')), /count was altered since it was made/],
  ];
  for (const [file, message] of refusals) await assertRefused(empty, [file], message);
});

test('another secret key, and another schema, are refused with what to do', async () => {
  const other = { ...empty, secrets: openSecrets(newSecret()) };
  await assertRefused(
    other,
    [backup],
    /praxis\.backup was made under another secret key, .* put the key of that installation in PRAXIS_SECRET_KEY, then restore$/,
  );
  const schema = '"schema":{"version":99,"checksum":"00"';
  const file = altered('schema', (text) => text.replace(/"schema":\{"version":\d+,"checksum":"[0-9a-f]+"/, schema));
  await assertRefused(
    empty,
    [file],
    /schema holds schema 99 of praxis .*: restore it with that version of praxis, then start this one$/,
  );
});

test('a database that holds something is not overwritten unless that is asked for', async (t) => {
  const platform = await openTestPlatform(t, secretKey);
  await createApplication(platform.database, { environment: 'sandbox', name: 'Only one', acl: [] }, entryProblem);
  await assertRefused(
    platform,
    [backup],
    /^the database holds 0 firms and 1 applications: --replace gives them up for those of the backup$/,
  );
  await makeFirm(platform, 'birch');
  await assertRefused(platform, [backup], /^the database holds 1 firms and 1 applications: --replace /);
  await restore(platform, backup, '--replace');
  await assert.rejects(getFirm(platform.database, 'sandbox', 'birch'));
  assert.equal((await getFirm(platform.database, 'sandbox', 'maple')).name, 'Practice');
});

test('a database that another process uses is not restored', async () => {
  const { connections, log } = empty;
  // Another pool of the same role and name, as a running service has.
  const other = await openDatabase({ connection: connections.runtime, poolMax: 2, statementTimeoutMs: 1000, log });
  await assertRefused(empty, [backup], /^another praxis process uses the database: stop the service, then restore$/);
  await other.close();
});

test('a failure while rows are inserted leaves everything as it was', async (t) => {
  const platform = await openTestPlatform(t, secretKey);
  await makeFirm(platform, 'birch');
  await platform.asOwner((owner) =>
    owner.query(sql`ALTER TABLE legacy_account ADD CONSTRAINT nobody CHECK (firm < 0)`),
  );
  const before = await contentsOf(platform);
  await assert.rejects(restore(platform, backup, '--replace'), /SQLSTATE 23514/);
  assert.deepEqual(await contentsOf(platform), before);
  const next = await makeFirm(platform, 'elm');
  assert.equal(next.prefix, 'elm');
});

test('a backup is readable by its owner alone, and holds no secret', () => {
  assert.equal(statSync(backup).mode & 0o777, 0o600);
  assert.throws(() => statSync(`${backup}.partial`), /ENOENT/);
  const text = gunzipSync(readFileSync(backup)).toString();
  assert.ok(!text.includes(secretKey));
  assert.deepEqual(Object.keys(JSON.parse(text.slice(0, text.indexOf('\n')))), [
    'praxisBackup',
    'createdAt',
    'software',
    'schema',
    'secretKey',
  ]);
  assert.match(backupResult.output[0] ?? '', /^[\d,]+ rows in .*praxis\.backup \(\d+\.\d s, [\d,]+\/s\)$/);
  assert.equal(
    backupResult.progress,
    `The secret key is not in it, and nobody can restore it without: keep PRAXIS_SECRET_KEY elsewhere.\nThe content of documents is not in it either: afterwards copy ${source.content.place}, and after a restore let \`praxis content verify\` compare the two.\n`,
  );
});

/** Tables whose rows live inside a transaction only. */
const alwaysEmpty: ReadonlySet<string> = new Set(['write_lock']);

test('everything is restored as it was; only the epochs are raised', async () => {
  const result = await restore(empty, backup);
  assert.match(result.output[0] ?? '', /^[\d,]+ rows restored from .*praxis\.backup \(/);
  const { order_epoch: orderBefore, access_epoch: accessBefore, ...before } = await contentsOf(source);
  const { order_epoch: orderAfter, access_epoch: accessAfter, ...restored } = await contentsOf(empty);
  assert.deepEqual(restored, before);
  assert.deepEqual([orderBefore, orderAfter], [['(t,1)'], ['(t,2)']]);
  assert.deepEqual(accessAfter, accessBefore);
  const bare = Object.entries(before).filter(([table, rows]) => rows.length === 0 && !alwaysEmpty.has(table));
  assert.deepEqual(bare, [], 'a table without rows in `fill` shows nothing');
});

test('what comes after a restore gets new numbers, and rights that somebody remembers are old', async (t) => {
  const platform = await openTestPlatform(t, secretKey);
  const old = await openOperatorScope(platform.database, platform.clock, await makeFirm(platform, 'maple'));
  await restore(platform, backup, '--replace');
  await restore(platform, backup, '--replace');
  const maple = await getFirm(platform.database, 'sandbox', 'maple');
  await assert.rejects(platform.store.read({ ...old, firm: maple.id }, 'Patient', 'a'), { code: 'stale-access' });
  const elm = await makeFirm(platform, 'elm');
  const firms = await platform.database.query<{ id: number }>(sql`SELECT id FROM firm`);
  assert.equal(firms.length, 3);
  assert.equal(elm.id, Math.max(...firms.map(({ id }) => id)));
  const file = files.write(
    'after.ndjson',
    '{"resourceType":"Patient","id":"a"}\n{"resourceType":"Patient","id":"new"}\n',
  );
  assert.match(
    (await runCommand(platform, importCommands, 'import', file, '--firm', 'maple')).output[0] ?? '',
    /^2 resources stored at maple, 0 refused/,
  );
  const [order] = await platform.asOwner((owner) =>
    owner.query<{ distinct: boolean; epochs: number[] }>(sql`
      SELECT (SELECT count(*) = count(DISTINCT rid) FROM resource) AS distinct,
        (SELECT array_agg(DISTINCT epoch ORDER BY epoch) FROM resource_version) AS epochs`),
  );
  assert.deepEqual(order, { distinct: true, epochs: [1, 3] });
});

test('a backup made while others write holds one moment, whole', async (t) => {
  const platform = await openTestPlatform(t, secretKey);
  const firm = await makeFirm(platform, 'busy');
  const lines = (from: number): string =>
    Array.from(
      { length: 200 },
      (_, index) => `{"resourceType":"Patient","id":"p${from + index}","name":[{"family":"F"}]}\n`,
    ).join('');
  await runCommand(platform, importCommands, 'import', files.write('busy-0.ndjson', lines(0)), '--firm', firm.prefix);
  const file = path.join(files.path, 'busy.backup');
  let isDone = false;
  const writing = (async () => {
    for (let round = 1; !isDone; round += 1) {
      await runCommand(
        platform,
        importCommands,
        'import',
        files.write(`busy-${round}.ndjson`, lines(round * 200)),
        '--firm',
        firm.prefix,
      );
    }
  })();
  await writeBackup(platform, file, () => undefined);
  isDone = true;
  await writing;
  const target = await openTestPlatform(t, secretKey);
  await restore(target, file);
  const [count] = await target.asOwner((owner) =>
    owner.query<{ resources: number; versions: number; names: number; audits: number }>(sql`
      SELECT (SELECT count(*) FROM resource) AS resources, (SELECT count(*) FROM resource_version) AS versions,
        (SELECT count(DISTINCT rid) FROM index_string) AS names, (SELECT count(*) FROM audit_event) AS audits`),
  );
  assert.ok(count !== undefined && count.resources >= 200 && count.resources % 200 === 0);
  assert.deepEqual(count, {
    resources: count.resources,
    versions: count.resources,
    names: count.resources,
    audits: count.resources,
  });
});

test('an older backup is replaced only when the new one is complete', async () => {
  const file = files.write('kept.backup', 'the older one');
  writeFileSync(`${file}.partial`, 'left behind by one that was killed', { mode: 0o644 });
  const failing: Platform = { ...source, asOwner: () => Promise.reject(new Error('the database is gone')) };
  await assert.rejects(
    writeBackup(failing, file, () => undefined),
    /the database is gone/,
  );
  assert.equal(readFileSync(file, 'utf8'), 'the older one');
  await writeBackup(source, file, () => undefined);
  assert.equal(gunzipSync(readFileSync(file)).toString().slice(0, 16), '{"praxisBackup":');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});
