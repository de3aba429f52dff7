/** Contract 1.3: a firm authorises an application explicitly. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { createApplication } from '../../src/tenancy/applications.ts';
import {
  authorise,
  findAuthorisation,
  listAuthorisations,
  listAuthorisationVersions,
  resumeAuthorisation,
  revokeAuthorisation,
  setOperatorRows,
  suspendAuthorisation,
} from '../../src/tenancy/authorisations.ts';
import { entryProblem, makeFirm, openWorld } from '../oauth/world.ts';
import { openTestDatabase } from '../support/database.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const { clock } = world;
const firm = await makeFirm(world);
const trainingFirm = await makeFirm(world, 'training');
const application = await createApplication(
  database,
  { environment: 'sandbox', name: 'Scheduler', acl: ['acl/pat_r', 'acl/pat_s'] },
  entryProblem,
);
const everything = await createApplication(
  database,
  { environment: 'sandbox', name: 'Operator', acl: ['acl/*'] },
  entryProblem,
);
const purpose = 'Scheduling';

async function assertRefused(attempt: Promise<unknown>, code: string, diagnostics: string): Promise<void> {
  await assert.rejects(attempt, (error) => {
    assert.ok(error instanceof PraxisError, String(error));
    assert.deepEqual({ code: error.code, diagnostics: error.details.diagnostics }, { code, diagnostics });
    return true;
  });
}

test('a firm and an application of different environments cannot meet', async () => {
  const attempt = authorise(database, clock, trainingFirm, application, { purpose }, entryProblem);
  await assertRefused(
    attempt,
    'rule-broken',
    `firm ${trainingFirm.prefix} is in training, application Scheduler in sandbox: they cannot meet`,
  );
});

test('a firm authorises a subset of what the application holds', async () => {
  for (const entry of ['acl/pat_u', 'acl/*']) {
    const attempt = authorise(database, clock, firm, application, { acl: ['acl/pat_r', entry], purpose }, entryProblem);
    await assertRefused(attempt, 'rule-broken', `${entry} is not held by application Scheduler`);
  }
  const unknown = authorise(database, clock, firm, everything, { acl: ['acl/unknown_r'], purpose }, entryProblem);
  await assertRefused(unknown, 'rule-broken', entryProblem('acl/unknown_r') ?? '');
});

test('an end in the past and an empty purpose are refused', async () => {
  const past = authorise(database, clock, firm, application, { purpose, expiresAtMs: clock.now() }, entryProblem);
  await assertRefused(past, 'rule-broken', 'expiresAt has passed');
  const nameless = authorise(database, clock, firm, application, { purpose: '' }, entryProblem);
  await assertRefused(
    nameless,
    'rule-broken',
    'purpose must be 1 to 120 characters without control characters and without spaces at its ends',
  );
});

test('what was never authorised cannot be revoked, and refusals have stored nothing', async () => {
  await assertRefused(
    revokeAuthorisation(database, firm, application),
    'resource-not-found',
    `firm ${firm.prefix} has not authorised Scheduler`,
  );
  assert.deepEqual(await listAuthorisations(database, firm), []);
  assert.equal(await findAuthorisation(database, firm, application), undefined);
});

test('contract 1.3: an authorisation has terms and a version that grows with each change', async () => {
  const terms = { firm: firm.prefix, application: 'Scheduler', purpose, operatorRows: {} };
  await authorise(database, clock, firm, application, { purpose }, entryProblem);
  assert.deepEqual(await findAuthorisation(database, firm, application), {
    ...terms,
    acl: ['acl/pat_r', 'acl/pat_s'],
    state: 'active',
    version: 1,
    expiresAtMs: null,
  });
  const expiresAtMs = clock.now() + 86_400_123;
  await authorise(
    database,
    clock,
    firm,
    application,
    { acl: ['acl/pat_s', 'acl/pat_s'], purpose, expiresAtMs },
    entryProblem,
  );
  assert.deepEqual(await findAuthorisation(database, firm, application), {
    ...terms,
    acl: ['acl/pat_s'],
    state: 'active',
    version: 2,
    expiresAtMs,
  });
  await revokeAuthorisation(database, firm, application);
  assert.deepEqual(await findAuthorisation(database, firm, application), {
    ...terms,
    acl: ['acl/pat_s'],
    state: 'revoked',
    version: 3,
    expiresAtMs,
  });
  await assertRefused(
    revokeAuthorisation(database, firm, application),
    'resource-not-found',
    `firm ${firm.prefix} has not authorised Scheduler`,
  );
  await authorise(database, clock, firm, application, { acl: [], purpose }, entryProblem);
  assert.deepEqual(await listAuthorisations(database, firm), [
    { ...terms, acl: [], state: 'active', version: 4, expiresAtMs: null },
  ]);
});

test('changes at once of one authorisation all count', async () => {
  await Promise.all(
    Array.from({ length: 8 }, () => authorise(database, clock, firm, everything, { purpose }, entryProblem)),
  );
  assert.equal((await findAuthorisation(database, firm, everything))?.version, 8);
});

test('a suspended authorisation is resumed on its terms; what is not suspended is not, and a revoked one stays so', async () => {
  const none = `firm ${firm.prefix} has no suspended authorisation of Scheduler`;
  await authorise(database, clock, firm, application, { acl: ['acl/pat_r'], purpose }, entryProblem);
  await assertRefused(resumeAuthorisation(database, firm, application), 'resource-not-found', none);
  await suspendAuthorisation(database, firm, application, 'ada');
  const active = `firm ${firm.prefix} has no active authorisation of Scheduler`;
  await assertRefused(suspendAuthorisation(database, firm, application), 'resource-not-found', active);
  assert.equal((await findAuthorisation(database, firm, application))?.state, 'suspended');
  await resumeAuthorisation(database, firm, application, 'ada');
  const resumed = await findAuthorisation(database, firm, application);
  assert.deepEqual([resumed?.state, resumed?.acl], ['active', ['acl/pat_r']]);
  await suspendAuthorisation(database, firm, application);
  await revokeAuthorisation(database, firm, application);
  await assertRefused(resumeAuthorisation(database, firm, application), 'resource-not-found', none);
});

test('every version is kept as it was, with who made it, whatever was changed at once', async () => {
  const other = await createApplication(
    database,
    { environment: 'sandbox', name: 'Versioned', acl: ['acl/pat_r', 'acl/pat_s'] },
    entryProblem,
  );
  assert.deepEqual(await listAuthorisationVersions(database, firm, other), []);
  const expiresAtMs = clock.now() + 1_000;
  await authorise(database, clock, firm, other, { acl: ['acl/pat_r'], purpose, expiresAtMs, by: 'ada' }, entryProblem);
  await assert.rejects(authorise(database, clock, firm, other, { acl: ['acl/*'], purpose }, entryProblem));
  await suspendAuthorisation(database, firm, other, 'grace');
  await setOperatorRows(database, firm, other, {}, 'grace');
  await authorise(database, clock, firm, other, { purpose: 'Other' }, entryProblem);
  await revokeAuthorisation(database, firm, other, 'ada');
  const first = { acl: ['acl/pat_r'], purpose, expiresAtMs, operatorRows: {} };
  const last = { acl: ['acl/pat_r', 'acl/pat_s'], purpose: 'Other', expiresAtMs: null, operatorRows: {} };
  const versions = await listAuthorisationVersions(database, firm, other);
  assert.deepEqual(
    versions.map(({ changedAtMs: _, ...version }) => version),
    [
      { ...last, version: 5, state: 'revoked', changedBy: 'ada' },
      { ...last, version: 4, state: 'active', changedBy: 'command line' },
      { ...first, version: 3, state: 'suspended', changedBy: 'grace' },
      { ...first, version: 2, state: 'suspended', changedBy: 'grace' },
      { ...first, version: 1, state: 'active', changedBy: 'ada' },
    ],
  );
  const atOnce = Array.from({ length: 8 }, () =>
    authorise(database, clock, firm, other, { purpose, by: 'ada' }, entryProblem),
  );
  await Promise.all(atOnce);
  assert.deepEqual(
    (await listAuthorisationVersions(database, firm, other)).map(({ version }) => version),
    [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
  );
});
