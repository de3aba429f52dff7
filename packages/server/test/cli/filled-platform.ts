/** A platform with rows in every table, and all that is in its tables, for tests of what a backup holds. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createAdministrator } from '../../src/admin/administrators.ts';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { openPasswords } from '../../src/admin/passwords.ts';
import { signIn } from '../../src/admin/sign-in.ts';
import type { Platform } from '../../src/app.ts';
import { signArchive, storeArchive } from '../../src/audit/archive-record.ts';
import { openDimensions } from '../../src/audit/dimensions.ts';
import { openHeadFiles } from '../../src/audit/head-files.ts';
import { addRows, buildElementList, proveRows } from '../../src/audit/ledger-statements.ts';
import { openProver } from '../../src/audit/proof.ts';
import { chainBeginning, openSealingKey } from '../../src/audit/seal.ts';
import { sealNext } from '../../src/audit/sealing.ts';
import { beginExport, findExport, keepPlanned, readMoment } from '../../src/bulk-export/store.ts';
import { listTables } from '../../src/cli/backup/tables.ts';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { describeProblem } from '../../src/cli/importing/problem.ts';
import { holdRun, noteRange } from '../../src/cli/importing/runs.ts';
import { sql } from '../../src/database/sql.ts';
import { buildWrite } from '../../src/engine/write/build-write.ts';
import { reconcile } from '../../src/indexing/reconcile.ts';
import { noteJobFailure } from '../../src/jobs/job-failures.ts';
import { openBruteForceLimit } from '../../src/limits/brute-force-limit.ts';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { openSharedCounters } from '../../src/limits/shared-counters.ts';
import { issueApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { issueClient } from '../../src/oauth/client-auth/clients.ts';
import { isFirstUse } from '../../src/oauth/client-auth/used-assertions.ts';
import { issueLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
import { addBrownOut, setSunset } from '../../src/oauth/legacy/sunset-administration.ts';
import { openLegacyUse } from '../../src/oauth/legacy/use.ts';
import { recordRevocation } from '../../src/oauth/revocation.ts';
import { openSigningKeys } from '../../src/oauth/signing/signing-keys.ts';
import { openTokenScopes } from '../../src/oauth/signing/token-scopes.ts';
import { occupy } from '../../src/practice/booking/occupancy.ts';
import { putCalendar, putHolidays } from '../../src/practice/calendars/store.ts';
import { noteCharge } from '../../src/practice/charges/store.ts';
import { announceObject, holdContents, keepUpload, offerUpload } from '../../src/practice/documents/store.ts';
import { addIntakeRule, addProposal } from '../../src/practice/intake/store.ts';
import { keepSubscription } from '../../src/practice/subscriptions/store.ts';
import { keepOffer, keepWaiting, noteFreed } from '../../src/practice/waiting-list/store.ts';
import { openCompletenessJob } from '../../src/storage/completeness.ts';
import { type Application, createApplication } from '../../src/tenancy/applications.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { getEnvironment } from '../../src/tenancy/environments.ts';
import { type Firm, getFirm } from '../../src/tenancy/firms.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { addWideRow } from '../audit/wide-rows.ts';
import { testLog } from '../support/cluster.ts';
import { makeFirm, runCommand, startMs } from './platform.ts';
import type { ScratchDirectory } from './scratch-directory.ts';

/** Firms, an application with every kind of credential, and resources that fill every index table. */
export async function fillPlatform(platform: Platform, files: ScratchDirectory): Promise<void> {
  const { database, secrets, clock } = platform;
  const maple = await makeFirm(platform, 'maple');
  const cedar = await makeFirm(platform, 'cedar');
  // Of a firm that goes on working.
  await database.query(sql`
    INSERT INTO firm_erasure (firm, requested_at, expires_at, environment, prefix, name, reason, requested_by, counts)
    VALUES (${cedar.id}, ${startMs}, ${startMs + 259_200_000}, 'sandbox', 'cedar', 'Cedar', 'Test', 'desk', '{}')`);
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
  await fillLedger(platform, maple.id, files);
  await keepAnswers(platform, maple);
  await keepCalendars(platform, maple);
  await keepIntake(platform, maple);
  await keepContents(platform, maple);
  await keepExport(platform, maple);
  await keepEvents(platform, maple);
  await keepImport(platform, maple);
  await noteJobFailure(database, 'waiting-list', maple.id, { reason: 'invariant-broken', nowMs: startMs });
}

/** A subscription with an event. */
async function keepEvents({ store, database, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const channel = {
    endpoint: 'https://example.com',
    content: 'empty',
    headers: [],
    maxCount: 1,
    timeoutSeconds: 1,
  } as const;
  const definition = { type: 'Patient', criteria: [], filters: [], ...channel };
  const asked = {
    id: 's',
    status: 'requested',
    definition,
    entries: ['acl/*'],
    beginsAnew: true,
    nowMs: startMs,
  } as const;
  await store.change(scope, [
    ...keepSubscription(scope, asked),
    sql`UPDATE subscription SET events = 1, lane_places = '{0,1}' WHERE firm = ${firm.id} AND id = 's'`,
    sql`
      INSERT INTO subscription_attempt (number, at, firm, took, place, subscription, kind, reason)
      VALUES (1, ${startMs}, ${firm.id}, 1, 1, 's', 'handshake', 'cannot be reached')`,
    sql`
      INSERT INTO subscription_event (firm, subscription, number, at, rtype, id, vid, kind)
      VALUES (${firm.id}, 's', 1, ${startMs}, 1, 'p', 1, 'create')`,
    sql`INSERT INTO subscription_binding (firm, id, holder, held) VALUES (${firm.id}, 's', 'h', ${startMs})`,
    sql`
      INSERT INTO websocket_token (firm, application, api_key, hash, access_token, subscriptions, expires)
      VALUES (${firm.id}, 1, 1, ${Buffer.alloc(32, 1)}, 't', '{s}', ${startMs})`,
  ]);
}

/** An export with a file that is complete and another that is not. */
async function keepExport({ store, database, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const id = '0193f2f0-0000-7000-8000-000000000001';
  const moment = await readMoment(store, scope);
  const asked = { url: 'http://127.0.0.1/$export', level: 'system', types: ['Patient'] } as const;
  await beginExport(store, scope, { id, createdMs: startMs, transactionTimeMs: startMs, policy: 'a', asked, moment });
  const begun = (await findExport(store, scope, id, startMs)) ?? assert.fail('no export');
  const keys = [{ id: 'a', versionId: 2 }];
  const file = { number: 1, type: 'Patient', asDocuments: false, content: { keys } };
  const after = { lastUpdatedMs: startMs, seq: 1 };
  const planned = { files: 1, typeIndex: 0, after, open: { keys, bytes: 100 }, gone: ['b'] };
  assert.ok(await keepPlanned(store, scope, begun, [file], planned));
}

/** An import that was interrupted. */
async function keepImport(platform: Platform, firm: Firm): Promise<void> {
  const { store, database, clock } = platform;
  const scope = await openOperatorScope(database, clock, firm);
  const run = await holdRun(platform, scope, { fingerprint: Buffer.alloc(32, 3), files: 1, bytes: 10 }, false);
  const range = { file: 0, from: { byte: 0, entry: 0 }, to: { byte: 5, entry: 1 }, toLine: 2 };
  const counts = { stored: 1, skipped: 0, refused: 1 };
  const told = { problems: [describeProblem('a.ndjson:1', 'duplicate', 'is there')], notes: { words: 1 } };
  await store.change(scope, [sql`SELECT ${noteRange(scope, run, range, { ...counts, ...told })}`]);
}

/** A calendar, holidays, and a hold. */
async function keepCalendars({ store, database, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const change = { version: 1, changedAtMs: startMs, changedBy: 'test' };
  const place = { number: 1, active: true, practitioner: '1', location: '3' };
  await store.exclusively(scope, 'calendars', async (inside) => {
    await putCalendar(inside, scope, { ...place, ...change, content: '{}' }, ['Practitioner/1']);
    await putHolidays(inside, scope, { location: '', ...change, content: '{}' }, []);
  });
  const hold = { id: 'h', slot: 's', expiresMs: startMs + 60_000, renewals: 1 };
  const claim = { actor: 'Practitioner/1', version: 1, capacity: 2, startMs, endMs: startMs + 60_000 };
  await store.transaction(scope, async (inside) => {
    const taking = { nowMs: startMs, expiresMs: hold.expiresMs, forced: false, choices: [[claim]] };
    await occupy(inside, scope, { ...taking, owner: `hold/${hold.id}`, replaces: [], hold });
  });
  await keepWaiting(store, scope, { appointment: 'w', priority: 1, sinceMs: startMs });
  await keepOffer(store, scope, 'w', { slot: 's', expiresMs: startMs, added: ['Practitioner/1'] });
  await noteFreed(store, scope, [{ ...claim, actor: 'Practitioner/1' }], startMs);
}

/** A name in the content store, as the server makes them. */
function nameContent(digit: string): string {
  return `${digit.repeat(16)}/${digit.repeat(2)}/${digit.repeat(40)}`;
}

/** Content that a resource holds, and an object that is to be removed. */
async function keepContents({ store, database, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const offer = { id: 'c', createdMs: startMs, expiresMs: startMs + 1, sizeMax: 1, announcedType: 'text/plain' };
  await offerUpload(store, scope, offer, 1);
  const hashes = { sha256: Buffer.alloc(32, 1), sha1: Buffer.alloc(20, 2) };
  await keepUpload(store, scope, 'c', { name: nameContent('a'), size: 1, mediaType: 'text/plain', ...hashes }, startMs);
  await holdContents(store, scope, ['c'], 'DocumentReference/d', 'Patient/p');
  await announceObject(store, scope, nameContent('b'), startMs);
}

/** A charge that came in, and a proposal that waits by a rule. */
async function keepIntake({ store, database, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const { application } = scope;
  await store.transaction(scope, (inside) =>
    noteCharge(inside, scope, { charge: 'c', transaction: 't', application, receivedMs: startMs }),
  );
  await addIntakeRule(store, scope, { type: 'Coverage', application: undefined });
  const draft = { task: 't', type: 'Coverage', target: undefined, base: 0, proposedAtMs: startMs };
  await addProposal(store, scope, { ...draft, proposed: '{"status":"active"}' });
}

/** An answer that is kept under a key, and the moment up to which searches are complete. */
async function keepAnswers({ database, store, clock }: Platform, firm: Firm): Promise<void> {
  const scope = await openOperatorScope(database, clock, firm);
  const claim = { key: Buffer.alloc(32, 1), request: Buffer.alloc(32, 2), policy: 'p', atMs: startMs };
  const keep = { status: 201, facts: { id: 'a' }, body: Buffer.from('sealed') };
  await store.once(scope, claim, async () => ({ answer: undefined, keep }));
  await openCompletenessJob(database, { now: () => startMs, isSteady: () => true }, 1_000).run();
}

/** Rows of reads, of today and of the release before, one of some elements, seals over it and the rows of the writes, and the record of an archive. */
async function fillLedger(
  { database, secrets, clock, asOwner }: Platform,
  firm: number,
  files: ScratchDirectory,
): Promise<void> {
  const list = buildElementList(['Patient.name']);
  const row = { atMs: startMs, application: 1, interaction: 'read', outcome: 0 } as const;
  const several = { ...row, patients: { ids: ['ada', 'bob'], more: false } };
  const pending = [
    { row, times: 1, elements: list.fingerprint },
    { row: several, times: 1, elements: null },
  ];
  await addWideRow(database, firm, { ...several, shown: 1 }, openProver(secrets));
  await database
    .forFirm(firm)
    .query(addRows(firm, proveRows(firm, pending, openProver(secrets)), [list], openDimensions().begin(firm)));
  const heads = openHeadFiles(path.join(files.path, 'audit-heads'));
  const options = { database, clock, log: testLog, key: openSealingKey(secrets), heads };
  // Other test files have transactions under way in the same cluster.
  while ((await sealNext(options, firm)) !== 'done') await delay(10);
  const facts = {
    number: 1,
    atMs: startMs,
    file: 'a.ndjson.gz',
    digest: Buffer.alloc(32, 1),
    firstSeal: 1,
    lastSeal: 1,
  };
  const moved = { end: chainBeginning, rows: 0, fromMs: startMs, untilMs: startMs, late: 0 };
  const record = signArchive(openSealingKey(secrets), firm, undefined, { ...facts, ...moved });
  await asOwner((owner) => owner.query(storeArchive(firm, record)));
}

/** A search parameter of the firm's own, taken up once and then changed again. */
async function registerParameter({ database, store, clock }: Platform, firm: number): Promise<void> {
  const scope = await openOperatorScope(database, clock, await getFirm(database, 'sandbox', 'maple'));
  const caller = { flow: 'client', tokenId: 't', subject: 'praxis', requestId: 'r' } as const;
  const context = { scope, clock, caller, baseUrl: 'http://localhost', budget: openOperatorBudget() };
  const parameter = { resourceType: 'SearchParameter', url: 'urn:x', status: 'active', code: 'nick', type: 'string' };
  const resource = { ...parameter, base: ['Patient'], expression: 'Patient.name.given' };
  await store.write(scope, await buildWrite(context, 'create', 'SearchParameter', 'nick', resource, 0));
  await database.transaction(firm, (tx) => reconcile(tx, firm, context.budget));
}

/** An administrator of a firm, with a session. */
async function fillAdministration({ database, clock, secrets }: Platform): Promise<void> {
  const passwords = openPasswords(secrets);
  const draft = { username: 'desk', role: 'practice', environment: 'sandbox', firm: 'maple' } as const;
  const { password = '' } = await createAdministrator({ database, clock, passwords }, draft);
  const guessLimit = openBruteForceLimit(openSharedCounters(database, clock), secrets, clock);
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

/** The rows of each table, by its name. */
export type Contents = Record<string, readonly string[]>;

/** Every row of every table, as text; in one statement, as tests ask often. */
export async function contentsOf(platform: Platform): Promise<Contents> {
  return await platform.asOwner(async (owner) => {
    const tables = (await listTables(owner)).map(
      ({ name }) => sql`
        SELECT ${name}::text AS name, COALESCE(array_agg(t::text ORDER BY t::text), '{}') AS rows
        FROM ${sql.identifier(name)} AS t`,
    );
    const found = await owner.query<{ name: string; rows: string[] }>(sql.join(tables, sql` UNION ALL `));
    return Object.fromEntries(found.map(({ name, rows }) => [name, rows]));
  });
}
