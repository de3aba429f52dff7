/**
 * Sessions: what is remembered, and that nothing remembered outlives the right it stands for (contract 1.2, 1.3;
 * docs/integrate/contract.md#credentials). Denials first.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../../src/base/errors.ts';
import { revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { revokeClient } from '../../../src/oauth/client-auth/clients.ts';
import { resetLegacyPassword, revokeLegacyAccount } from '../../../src/oauth/legacy/accounts.ts';
import type { ApiCredentials, Session } from '../../../src/oauth/session/session.ts';
import { openSessions } from '../../../src/oauth/session/sessions.ts';
import { settingNames } from '../../../src/tenancy/application-settings.ts';
import {
  resumeApplication,
  setApplicationAcl,
  setApplicationSettings,
  suspendApplication,
} from '../../../src/tenancy/applications.ts';
import { authorise, revokeAuthorisation } from '../../../src/tenancy/authorisations.ts';
import { resumeFirm, setFirmTimeZone, suspendFirm } from '../../../src/tenancy/firms.ts';
import { openTestDatabase } from '../../support/database.ts';
import {
  apiCall,
  counting,
  entryProblem,
  fieldOf,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
  requestLegacyToken,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);

/** A firm and an application with both tokens and the calls made with them. */
async function enter(acl: readonly string[] = ['acl/*']) {
  const firm = await makeFirm(world);
  const vendor = await makeVendor(world, acl);
  const account = await makeAccount(world, vendor, firm);
  const clientToken = fieldOf(await requestClientToken(world, vendor), 'access_token');
  const legacyToken = fieldOf(await requestLegacyToken(world, firm, [vendor.legacyKey], account), 'access_token');
  return {
    firm,
    vendor,
    account,
    clientToken,
    legacyToken,
    client: await apiCall(world, firm, clientToken, vendor.clientKey),
    legacy: await apiCall(world, firm, legacyToken, vendor.legacyKey),
  };
}

type Entered = Awaited<ReturnType<typeof enter>>;

async function refusalOf(attempt: Promise<Session>): Promise<readonly [code: string, ...problems: string[]]> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PraxisError, String(error));
  return [error.code, ...error.issues.map(({ diagnostics }) => diagnostics)];
}

const forbidden = ['firm-forbidden', 'Firm is not open to this application: no such firm has authorised it'] as const;

interface Change {
  readonly name: string;
  readonly flows: readonly ('client' | 'legacy')[];
  readonly change: (entered: Entered) => Promise<unknown>;
  readonly refusal: readonly string[];
}

const changes: readonly Change[] = [
  {
    name: 'the client key is revoked',
    flows: ['client'],
    change: ({ vendor }) => revokeApiKey(database, vendor.application, vendor.clientKeyId),
    refusal: ['credentials-invalid', 'x-api-key has been revoked'],
  },
  {
    name: 'the legacy key is revoked',
    flows: ['legacy'],
    change: ({ vendor }) => revokeApiKey(database, vendor.application, vendor.legacyKeyId),
    refusal: ['credentials-invalid', 'x-api-key has been revoked'],
  },
  {
    name: 'the client is revoked',
    flows: ['client'],
    change: ({ vendor }) => revokeClient(database, vendor.application, vendor.clientId),
    refusal: ['credentials-invalid', 'Bearer token belongs to a revoked client'],
  },
  {
    name: 'the account is revoked',
    flows: ['legacy'],
    change: ({ firm, account }) => revokeLegacyAccount(database, firm, account.username),
    refusal: ['credentials-invalid', 'Bearer token belongs to a revoked account'],
  },
  {
    name: 'the password is reset',
    flows: ['legacy'],
    change: ({ firm, account }) => resetLegacyPassword(database, world.secrets, firm, account.username),
    refusal: ['credentials-invalid', 'Bearer token ended with the password it was got with: log in again'],
  },
  {
    name: 'the application is suspended',
    flows: ['client', 'legacy'],
    change: ({ vendor }) => suspendApplication(database, vendor.application),
    refusal: ['credentials-invalid', 'Bearer token belongs to a suspended application'],
  },
  {
    name: 'the firm is suspended',
    flows: ['client', 'legacy'],
    change: ({ firm }) => suspendFirm(database, firm),
    refusal: forbidden,
  },
  {
    name: 'the authorisation is revoked',
    flows: ['client', 'legacy'],
    change: ({ firm, vendor }) => revokeAuthorisation(database, firm, vendor.application),
    refusal: forbidden,
  },
];

for (const { name, flows, change, refusal } of changes) {
  for (const flow of flows) {
    test(`settled revocation: once ${name}, a remembered ${flow} session is no longer current and the call is refused`, async () => {
      const [entered, bystander] = [await enter(), await enter()];
      const session = await world.sessions.authenticate(entered[flow]);
      const other = await world.sessions.authenticate(bystander[flow]);
      assert.deepEqual([await world.sessions.current(session), await world.sessions.current(other)], [true, true]);
      await change(entered);
      assert.deepEqual([await world.sessions.current(session), await world.sessions.current(other)], [false, true]);
      assert.deepEqual(await refusalOf(world.sessions.recheck(entered[flow])), refusal);
      assert.deepEqual(await refusalOf(world.sessions.authenticate(entered[flow])), refusal, 'and is not remembered');
    });
  }
}

test('contract 8.1: a remembered session ends with its token, to the second', async () => {
  const own = await openWorld(database, { secrets: world.secrets });
  const entered = await enter();
  for (const [flow, seconds] of [
    ['client', 900],
    ['legacy', 3600],
  ] as const) {
    const start = own.clock.now();
    const session = await own.sessions.authenticate(entered[flow]);
    assert.equal(session.expiresAtMs, start + seconds * 1000);
    own.clock.advance(seconds * 1000 - 1);
    assert.equal(await own.sessions.authenticate(entered[flow]), session);
    own.clock.advance(1);
    assert.deepEqual(await refusalOf(own.sessions.authenticate(entered[flow])), [
      'credentials-expired',
      'Bearer token has expired: request a new one',
    ]);
    own.clock.advance(-seconds * 1000);
  }
});

test('contract 1.3: a remembered session ends with the firm’s authorisation, although no epoch is raised then', async () => {
  const own = await openWorld(database, { secrets: world.secrets });
  const { firm, vendor, client } = await enter();
  await authorise(
    database,
    own.clock,
    firm,
    vendor.application,
    { purpose: 'test', expiresAtMs: own.clock.now() + 60_000 },
    entryProblem,
  );
  const session = await own.sessions.authenticate(client);
  own.clock.advance(59_999);
  assert.equal(await own.sessions.authenticate(client), session);
  own.clock.advance(1);
  assert.deepEqual(await refusalOf(own.sessions.authenticate(client)), forbidden);
  assert.equal(await own.sessions.current(session), true);
});

test('contract 1.3: a session at one firm, environment or product is none at another', async () => {
  const entered = await enter();
  const bystander = await enter();
  await world.sessions.authenticate(entered.client);
  await world.sessions.authenticate(entered.legacy);
  const at = (credentials: ApiCredentials, change: Partial<ApiCredentials>) =>
    world.sessions.authenticate({ ...credentials, ...change });
  for (const flow of ['client', 'legacy'] as const) {
    for (const firmPrefix of [bystander.firm.prefix, 'no-such-firm'])
      assert.deepEqual(await refusalOf(at(entered[flow], { firmPrefix })), forbidden);
    const training = await world.environment('training');
    assert.equal(
      (await refusalOf(at(entered[flow], { environment: training })))[1],
      'Bearer token belongs to another environment',
    );
    assert.equal(
      (await refusalOf(at(entered[flow], { apiKey: bystander[flow].apiKey })))[1],
      'x-api-key belongs to another application than the Bearer token',
    );
    assert.equal((await at(entered[flow], { product: 'other' })).scope.product, 'other');
  }
});

test('contract 1.3: an application that several firms authorised works in each with one client token, and a legacy token in its own only', async () => {
  const { vendor, firm, client, legacy } = await enter();
  const second = await makeFirm(world);
  await makeAccount(world, vendor, second);
  const [here, there] = [
    await world.sessions.authenticate(client),
    await world.sessions.authenticate({ ...client, firmPrefix: second.prefix }),
  ];
  assert.deepEqual([here.scope.firm, there.scope.firm], [firm.id, second.id]);
  assert.deepEqual(await refusalOf(world.sessions.authenticate({ ...legacy, firmPrefix: second.prefix })), forbidden);
});

test('settled revocation: a new grant acts at once: refusals are not remembered', async () => {
  const { vendor, client } = await enter();
  const second = await makeFirm(world);
  const there = { ...client, firmPrefix: second.prefix };
  assert.deepEqual(await refusalOf(world.sessions.authenticate(there)), forbidden);
  await authorise(database, world.clock, second, vendor.application, { purpose: 'test' }, entryProblem);
  assert.equal((await world.sessions.authenticate(there)).scope.firm, second.id);
  await suspendFirm(database, second);
  assert.deepEqual(await refusalOf(world.sessions.recheck(there)), forbidden);
  await resumeFirm(database, second, { by: 'operator', nowMs: 0 });
  await suspendApplication(database, vendor.application);
  await resumeApplication(database, vendor.application);
  assert.equal((await world.sessions.authenticate(there)).scope.firm, second.id);
});

test('a warm call asks the database nothing, a cold or rechecked one once', async () => {
  const counted = counting(database);
  const { secrets, clock, keys, uses } = world;
  const sessions = openSessions({ database: counted.database, secrets, clock, keys, uses, sessionsMax: 10 });
  const entered = await enter();
  for (const flow of ['client', 'legacy'] as const) {
    const steps: readonly (readonly [expected: number, step: () => unknown])[] = [
      [1, () => sessions.authenticate(entered[flow])],
      [0, () => sessions.authenticate(entered[flow])],
      [1, () => sessions.recheck(entered[flow])],
      [0, () => sessions.authenticate(entered[flow])],
      [0, async () => sessions.forget(await sessions.authenticate(entered[flow]))],
      [1, () => sessions.authenticate(entered[flow])],
    ];
    for (const [expected, step] of steps) {
      counted.statements = 0;
      await step();
      assert.equal(counted.statements, expected);
    }
  }
});

test('more callers than are remembered are all served rightly', async () => {
  const { database: own, secrets, clock, keys, uses } = world;
  const sessions = openSessions({ database: own, secrets, clock, keys, uses, sessionsMax: 3 });
  const all = [await enter(), await enter(), await enter(), await enter()];
  for (let round = 0; round < 3; round++) {
    for (const { client, legacy, firm } of all) {
      assert.equal((await sessions.authenticate(client)).scope.firm, firm.id);
      assert.equal((await sessions.authenticate(legacy)).scope.firm, firm.id);
    }
  }
});

test('contract 1.2: a session tells who calls, where, and with which settings', async () => {
  const { firm, vendor, account, client, legacy } = await enter();
  await setApplicationSettings(database, vendor.application, { totalOfPage: true });
  await setFirmTimeZone(database, firm, 'Europe/Berlin');
  const sessions = [await world.sessions.authenticate(client), await world.sessions.authenticate(legacy)];
  const scope = {
    firm: firm.id,
    application: vendor.application.id,
    epoch: 3,
    environment: 'sandbox',
    firmPrefix: firm.prefix,
    product: 'pm',
    timeZone: 'Europe/Berlin',
    searchParameters: [],
    endsAtMs: 0,
    rightsEndAtMs: Number.POSITIVE_INFINITY,
    requiresReferences: false,
  };
  const settings = { ...Object.fromEntries(settingNames.map((name) => [name, false])), totalOfPage: true };
  const caller = {
    application: vendor.application.id,
    applicationName: vendor.application.name,
    environment: 'sandbox',
  };
  assert.deepEqual(
    sessions.map((session) => ({
      ...session,
      principal: { ...session.principal, tokenId: '', subject: '' },
      policy: session.policy.entries,
      scope: { ...session.scope, endsAtMs: (session.scope.endsAtMs ?? 0) - session.expiresAtMs },
      expiresAtMs: 0,
    })),
    [
      {
        principal: {
          ...caller,
          flow: 'client',
          tokenId: '',
          subject: '',
          apiKeyId: vendor.clientKeyId,
          clientId: vendor.clientId,
        },
        scope,
        settings,
        policy: ['acl/*'],
        expiresAtMs: 0,
      },
      {
        principal: {
          ...caller,
          flow: 'legacy',
          tokenId: '',
          subject: '',
          apiKeyId: vendor.legacyKeyId,
          legacyUser: `${account.username}@${firm.prefix}`,
        },
        scope,
        settings,
        policy: ['acl/*'],
        expiresAtMs: 0,
      },
    ],
  );
});

interface Rights {
  readonly name: string;
  /** Entries of the application when the token was issued, of its token request, of the application now, of the firm now. */
  readonly at: readonly string[];
  readonly scope?: string;
  readonly now?: readonly string[];
  readonly firm: readonly string[];
  readonly client: readonly string[];
  readonly legacy: readonly string[];
}

const rights: readonly Rights[] = [
  { name: 'the firm authorises nothing', at: ['acl/pat_r', 'acl/pat_s'], firm: [], client: [], legacy: [] },
  {
    name: 'the firm authorises less',
    at: ['acl/pat_r', 'acl/pat_s'],
    firm: ['acl/pat_s'],
    client: ['acl/pat_s'],
    legacy: ['acl/pat_s'],
  },
  {
    name: 'the token was asked to hold less',
    at: ['acl/pat_r', 'acl/pat_s'],
    scope: 'acl/pat_r',
    firm: ['acl/pat_r', 'acl/pat_s'],
    client: ['acl/pat_r'],
    legacy: ['acl/pat_r', 'acl/pat_s'],
  },
  {
    name: 'the application lost an entry',
    at: ['acl/pat_r', 'acl/pat_s'],
    now: ['acl/pat_s'],
    firm: ['acl/pat_r', 'acl/pat_s'],
    client: ['acl/pat_s'],
    legacy: ['acl/pat_s'],
  },
  {
    name: 'the application gained an entry: a client token must be renewed',
    at: ['acl/pat_r'],
    now: ['acl/pat_r', 'acl/pat_s'],
    firm: ['acl/pat_r', 'acl/pat_s'],
    client: ['acl/pat_r'],
    legacy: ['acl/pat_r', 'acl/pat_s'],
  },
  {
    name: 'everything is narrowed by the firm',
    at: ['acl/*'],
    firm: ['acl/enc_s'],
    client: ['acl/enc_s'],
    legacy: ['acl/enc_s'],
  },
  {
    name: 'everything is narrowed by the application',
    at: ['acl/*'],
    now: ['acl/enc_s'],
    firm: ['acl/*'],
    client: ['acl/enc_s'],
    legacy: ['acl/enc_s'],
  },
  {
    name: 'a filter of the firm narrows',
    at: ['acl/*'],
    firm: ['acl/lab_type_path', 'acl/serv_req_s'],
    client: ['acl/lab_type_path', 'acl/serv_req_s'],
    legacy: ['acl/lab_type_path', 'acl/serv_req_s'],
  },
  {
    name: 'a filter of the application narrows a token from before',
    at: ['acl/serv_req_s'],
    now: ['acl/lab_type_path', 'acl/serv_req_s'],
    firm: ['acl/serv_req_s'],
    client: ['acl/lab_type_path', 'acl/serv_req_s'],
    legacy: ['acl/lab_type_path', 'acl/serv_req_s'],
  },
];
for (const { name, at, scope, now, firm: authorised, client, legacy } of rights) {
  test(`contract 5.9: effective entries are those of token, application and firm together: ${name}`, async () => {
    const entered = await enter(at);
    const { vendor, firm } = entered;
    const token = fieldOf(
      await requestClientToken(world, vendor, undefined, scope === undefined ? {} : { scope }),
      'access_token',
    );
    const calls = { client: await apiCall(world, firm, token, vendor.clientKey), legacy: entered.legacy };
    await authorise(
      database,
      world.clock,
      firm,
      { ...vendor.application, acl: ['acl/*'] },
      { acl: authorised, purpose: 'test' },
      entryProblem,
    );
    if (now) await setApplicationAcl(database, vendor.application, now, entryProblem);
    assert.deepEqual((await world.sessions.authenticate(calls.client)).policy.entries, client);
    assert.deepEqual((await world.sessions.authenticate(calls.legacy)).policy.entries, legacy);
  });
}

test('deny by default: a filter of the application that is not understood closes what it may have narrowed', async () => {
  const { vendor, client, legacy } = await enter(['acl/pat_s', 'acl/serv_req_s']);
  const ofLaterVersion = Object.assign(() => undefined, { firstNotHeld: () => undefined });
  const entries = ['acl/lab_type_later', 'acl/pat_s', 'acl/serv_req_s'];
  await setApplicationAcl(database, vendor.application, entries, ofLaterVersion);
  for (const credentials of [client, legacy]) {
    const { policy } = await world.sessions.authenticate(credentials);
    assert.deepEqual([policy.allows('ServiceRequest', 's'), policy.allows('Patient', 's')], [false, true]);
  }
});
