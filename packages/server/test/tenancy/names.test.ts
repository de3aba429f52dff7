/** What may be created, and what is refused with the rule that it breaks. Denials first; a refusal changes nothing. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { settingNames } from '../../src/tenancy/application-settings.ts';
import {
  createApplication,
  listApplications,
  setApplicationAcl,
  setApplicationSettings,
} from '../../src/tenancy/applications.ts';
import { createEnvironment, createProduct, getEnvironment, listEnvironments } from '../../src/tenancy/environments.ts';
import { createFirm, getFirm, listFirms } from '../../src/tenancy/firms.ts';
import { entriesMax } from '../../src/tenancy/names.ts';
import { entryProblem, makeFirm, makeVendor, openWorld } from '../oauth/world.ts';
import { openTestDatabase } from '../support/database.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const firm = await makeFirm(world);
const { application } = await makeVendor(world);

async function assertRefused(attempt: Promise<unknown>, code: string, diagnostics: string): Promise<void> {
  await assert.rejects(attempt, (error) => {
    assert.ok(error instanceof PraxisError, String(error));
    assert.deepEqual({ code: error.code, diagnostics: error.details.diagnostics }, { code, diagnostics });
    return true;
  });
}

const segmentRule = 'must be 1 to 63 of a-z, 0-9 and hyphen, and neither begin nor end with a hyphen';
const badSegments = [
  '',
  'Maple',
  '-maple',
  'maple-',
  'maple_tree',
  'maple.tree',
  'maple/tree',
  '..',
  '%2e',
  'mäple',
  'maple ',
  'm'.repeat(64),
  'a\n',
];
for (const name of badSegments) {
  test(`contract 4.1: ${JSON.stringify(name.slice(0, 20))} is no name of a firm, environment, realm or product`, async () => {
    const environment = { name: 'fresh', realm: 'sandbox', kind: 'production', products: ['pm'] } as const;
    await assertRefused(
      createFirm(database, { environment: 'sandbox', prefix: name, name: 'x', timeZone: 'UTC' }),
      'rule-broken',
      `firm ${segmentRule}`,
    );
    await assertRefused(
      createEnvironment(database, { ...environment, name }),
      'rule-broken',
      `environment ${segmentRule}`,
    );
    await assertRefused(
      createEnvironment(database, { ...environment, realm: name }),
      'rule-broken',
      `realm ${segmentRule}`,
    );
    await assertRefused(
      createEnvironment(database, { ...environment, products: [name] }),
      'rule-broken',
      `product ${segmentRule}`,
    );
    await assertRefused(createProduct(database, 'sandbox', name), 'rule-broken', `product ${segmentRule}`);
  });
}

const titleRule = 'name must be 1 to 120 characters without control characters and without spaces at its ends';
for (const name of ['', ' x', 'x ', 'x\ny', 'x\0', 'x'.repeat(121)]) {
  test(`${JSON.stringify(name.slice(0, 20))} is no name of a practice or application`, async () => {
    await assertRefused(
      createFirm(database, { environment: 'sandbox', prefix: 'fresh', name, timeZone: 'UTC' }),
      'rule-broken',
      titleRule,
    );
    await assertRefused(
      createApplication(database, { environment: 'sandbox', name, acl: [] }, entryProblem),
      'rule-broken',
      titleRule,
    );
  });
}

test('a time zone must be an IANA name', async () => {
  for (const timeZone of ['', 'Nowhere/City', 'EDT+4']) {
    const attempt = createFirm(database, { environment: 'sandbox', prefix: 'fresh', name: 'x', timeZone });
    await assertRefused(attempt, 'rule-broken', 'time zone must be an IANA name such as America/New_York');
  }
});

test('an environment may not take the path of another route, nor be of an unknown kind', async () => {
  for (const name of ['auth', 'health', 'metrics', 'admin', 'docs', 'openapi']) {
    const attempt = createEnvironment(database, { name, realm: 'sandbox', kind: 'production', products: [] });
    await assertRefused(attempt, 'rule-broken', `environment may not be called ${name}: the path is taken`);
  }
  // What a program that is not type-checked could pass.
  const kind = JSON.parse('"staging"');
  const attempt = createEnvironment(database, { name: 'fresh', realm: 'sandbox', kind, products: [] });
  await assertRefused(attempt, 'rule-broken', 'kind must be one of generic-sandbox, practice-sandbox, production');
});

test('deny by default: an entry that the grammar does not know is refused by name', async () => {
  for (const [entry, problem] of [
    [
      'acl/unknown_r',
      '"acl/unknown_r" is not an access entry: no access code begins like this; docs/integrate/access-entries.md lists them',
    ],
    [
      'pat_r',
      '"pat_r" is not an access entry: an access entry begins with "acl/" or "system/": did you mean acl/pat_r?',
    ],
    [
      'acl/patt_r',
      '"acl/patt_r" is not an access entry: no access code begins like this; docs/integrate/access-entries.md lists them: did you mean acl/pat_r?',
    ],
    [
      'system/patient.rs',
      '"system/patient.rs" is not an access entry: after system/ comes a resource type of R4 that has an endpoint, or *: did you mean system/Patient?',
    ],
    ['acl/pat_x', '"acl/pat_x" is not an access entry: pat takes r, s, c, u'],
    ['acl/pat_r acl/pat_s', undefined],
  ] as const) {
    const diagnostics = problem ?? entryProblem(entry) ?? assert.fail();
    await assertRefused(
      createApplication(database, { environment: 'sandbox', name: 'fresh', acl: ['acl/pat_s', entry] }, entryProblem),
      'rule-broken',
      diagnostics,
    );
    await assertRefused(setApplicationAcl(database, application, [entry], entryProblem), 'rule-broken', diagnostics);
  }
  const many = Array.from({ length: entriesMax + 1 }, (_, index) => `system/Patient.r?_tag=${index}`);
  await assertRefused(
    setApplicationAcl(database, application, many, entryProblem),
    'rule-broken',
    `An acl has at most ${entriesMax} entries`,
  );
});

test('deny by default: an unknown setting, or a value other than true and false, is refused', async () => {
  const known = settingNames.join(', ');
  await assertRefused(
    setApplicationSettings(database, application, { total: true }),
    'rule-broken',
    `"total" is not an application setting; known are ${known}`,
  );
  await assertRefused(
    setApplicationSettings(database, application, { toString: true }),
    'rule-broken',
    `"toString" is not an application setting; known are ${known}`,
  );
  await assertRefused(
    setApplicationSettings(database, application, { totalOfPage: 'yes' }),
    'rule-broken',
    'setting totalOfPage must be true or false',
  );
});

test('what exists is not made again', async () => {
  await assertRefused(
    createEnvironment(database, { name: 'sandbox', realm: 'other', kind: 'production', products: [] }),
    'duplicate',
    'environment sandbox exists',
  );
  await assertRefused(createProduct(database, 'sandbox', 'pm'), 'duplicate', 'environment sandbox has product pm');
  await assertRefused(
    createFirm(database, { environment: 'sandbox', prefix: firm.prefix, name: 'x', timeZone: 'UTC' }),
    'duplicate',
    `environment sandbox has a firm ${firm.prefix}`,
  );
  const again = createApplication(database, { environment: 'sandbox', name: application.name, acl: [] }, entryProblem);
  await assertRefused(again, 'duplicate', `environment sandbox has an application ${application.name}`);
  assert.equal((await getEnvironment(database, 'sandbox')).realm, 'sandbox');
});

test('what does not exist is named', async () => {
  const nowhere = 'environment nowhere does not exist';
  await assertRefused(getEnvironment(database, 'nowhere'), 'resource-not-found', nowhere);
  await assertRefused(createProduct(database, 'nowhere', 'pm'), 'resource-not-found', nowhere);
  await assertRefused(
    createFirm(database, { environment: 'nowhere', prefix: 'x', name: 'x', timeZone: 'UTC' }),
    'resource-not-found',
    nowhere,
  );
  await assertRefused(
    createApplication(database, { environment: 'nowhere', name: 'x', acl: [] }, entryProblem),
    'resource-not-found',
    nowhere,
  );
  await assertRefused(listFirms(database, 'nowhere'), 'resource-not-found', nowhere);
  await assertRefused(
    getFirm(database, 'training', firm.prefix),
    'resource-not-found',
    `firm ${firm.prefix} does not exist in environment training`,
  );
});

test('refusals have changed nothing', async () => {
  assert.deepEqual(
    (await listEnvironments(database)).map(({ name }) => name),
    ['prod', 'sandbox', 'training'],
  );
  assert.deepEqual(await listFirms(database, 'sandbox'), [firm]);
  assert.deepEqual(await listApplications(database, 'sandbox'), [application]);
});

test('contract 4.1: names of 1 and 63 characters, and one prefix in each environment', async () => {
  for (const prefix of ['m', '1', 'm'.repeat(63), 'maple-tree-2']) {
    const made = await createFirm(database, {
      environment: 'sandbox',
      prefix,
      name: 'Praxis Müller & Söhne',
      timeZone: 'Europe/Berlin',
    });
    const { id, ...rest } = made;
    assert.deepEqual(rest, {
      environment: 'sandbox',
      prefix,
      name: 'Praxis Müller & Söhne',
      timeZone: 'Europe/Berlin',
      state: 'active',
      requiresReferences: false,
    });
    assert.deepEqual(await getFirm(database, 'sandbox', prefix), made);
    const twin = await createFirm(database, { environment: 'training', prefix, name: 'Twin', timeZone: 'UTC' });
    assert.notEqual(twin.id, id);
  }
});

test('an acl is stored sorted, each entry once', async () => {
  await setApplicationAcl(database, application, ['acl/pat_s', 'acl/enc_s', 'acl/pat_s'], entryProblem);
  assert.deepEqual((await listApplications(database, 'sandbox'))[0]?.acl, ['acl/enc_s', 'acl/pat_s']);
});
