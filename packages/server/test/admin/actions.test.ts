/** Every action does what it says, once, by the roles that may; the document describes it; the command line has it, too. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { actions } from '../../src/admin/actions/list.ts';
import { commands } from '../../src/cli/commands.ts';
import { administrationDocument } from '../../src/http/openapi/administration.ts';
import { applicationSettings, readSettings, settingNames } from '../../src/tenancy/application-settings.ts';
import { plainCalendar, putPlaces } from '../scheduling/world.ts';
import { patient } from '../support/records.ts';
import { type Answer, answerOf, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { type AdminCaller, ask, openAdministrator, password } from './world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
await makeApplication(service, 'Scheduler', ['acl/pat_r', 'acl/pat_s'], [maple]);
const operator = await openAdministrator(service, 'operator', 'operator');
const practice = await openAdministrator(service, 'practice', 'practice', { firm: 'maple' });
const vendor = await openAdministrator(service, 'vendor', 'vendor', { application: 'Scheduler' });
const done = new Set<string>();
const now = new Date(service.clock.now()).toISOString();
const later = new Date(service.clock.now() + 86_400_000).toISOString();

/** Asks for an action by its name; `path` fills the names of its path, in order. */
async function act(caller: AdminCaller, name: string, path: readonly string[] = [], body?: object): Promise<Answer> {
  const action = actions.find((each) => each.name === name);
  if (action === undefined) throw new Error(`no action ${name}`);
  const names = [...path];
  const target = action.path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(names.shift() ?? ''));
  const answer = await caller.ask(action.method, target, body);
  const status = action.output.kind === 'nothing' ? 204 : action.creates === true ? 201 : 200;
  assert.equal(answer.status, status, `${name}: ${answer.text}`);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  done.add(name);
  return answer;
}

const place = ['sandbox', 'maple', 'Scheduler'] as const;
const terms = { application: 'Scheduler', acl: ['acl/pat_r'], purpose: 'Recall', expiresAt: later, rows: [] };

test('a practice authorises with a subset, purpose and end, changes, suspends, resumes and revokes; each is a version', async () => {
  const { ask: asPractice } = practice;
  const path = '/environments/sandbox/firms/maple/authorisations/Scheduler';
  for (const [body, status, detail] of [
    [{ purpose: 'Recall', acl: ['acl/pat_u'] }, 422, 'acl/pat_u is not held by application Scheduler'],
    [{ purpose: 'Recall', acl: ['acl/*'] }, 422, 'acl/* is not held by application Scheduler'],
    [{ purpose: 'Recall', expiresAt: now }, 422, 'expiresAt has passed'],
    [{ acl: ['acl/pat_r'] }, 400, 'purpose is missing'],
    [{ purpose: 'Recall', rows: ['obsv_ef?category=exam'] }, 403, 'rows is for the role operator, not practice'],
  ] as const) {
    const refused = await asPractice('PUT', path, body);
    assert.deepEqual([refused.status, refused.json.detail], [status, detail]);
  }
  const made = await act(practice, 'authorize', place, { acl: ['acl/pat_r'], purpose: 'Recall', expiresAt: later });
  assert.deepEqual(made.json, { ...terms, state: 'active', version: 2 });
  await act(practice, 'authorization suspend', place);
  assert.equal((await asPractice('POST', `${path}/suspend`)).status, 404);
  assert.deepEqual((await act(practice, 'authorization show', place)).json, {
    ...terms,
    state: 'suspended',
    version: 3,
  });
  await act(practice, 'authorization resume', place);
  assert.equal((await asPractice('POST', `${path}/resume`)).status, 404);
  const limited = await operator.ask('PUT', `${path}/rows`, { rows: ['nonsense'] });
  assert.equal(limited.status, 422);
  const withRows = await act(operator, 'authorization rows', place, { rows: [] });
  assert.deepEqual(withRows.json, { ...terms, state: 'active', version: 5 });
  await act(practice, 'authorization revoke', place);
  const again = await act(operator, 'authorize', place, { purpose: 'All again' });
  const all = { ...terms, acl: ['acl/pat_r', 'acl/pat_s'], purpose: 'All again', expiresAt: null };
  assert.deepEqual(again.json, { ...all, state: 'active', version: 7 });
  const { application: _, ...first } = { ...all, purpose: 'Test', state: 'active' };
  const { application: __, ...second } = terms;
  const { application: ___, ...last } = all;
  const history = (await act(practice, 'authorization history', place)).json.items;
  assert.deepEqual(
    history.map(({ changedAt, ...version }: { changedAt: string }) => {
      assert.match(changedAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      return version;
    }),
    [
      { ...last, state: 'active', version: 7, changedBy: 'operator' },
      { ...second, state: 'revoked', version: 6, changedBy: 'practice' },
      { ...second, state: 'active', version: 5, changedBy: 'operator' },
      { ...second, state: 'active', version: 4, changedBy: 'practice' },
      { ...second, state: 'suspended', version: 3, changedBy: 'practice' },
      { ...second, state: 'active', version: 2, changedBy: 'practice' },
      { ...first, version: 1, changedBy: 'command line' },
    ],
  );
  assert.deepEqual((await act(practice, 'authorization list', ['sandbox', 'maple'])).json.items.length, 1);
});

test('an operator gives rows with an authorisation; they stay when it is renewed, and are replaced and taken away', async () => {
  const { application } = await makeApplication(service, 'Examiner', ['acl/obsv_ef_r', 'system/Patient.rs'], [maple]);
  const at = ['sandbox', 'maple', application.name];
  const path = '/environments/sandbox/firms/maple/authorisations/Examiner';
  const acl = ['acl/obsv_ef_r', 'acl/pat_s', 'system/Patient.r'];
  const exam = ['obsv_ef?category=exam&_elements=code,value'];
  const wrong = await operator.ask('PUT', path, { purpose: 'Exams', rows: ['obsv_ef?category=exam', 'pat?x=1'] });
  assert.deepEqual([wrong.status, wrong.json.errors[0].field], [422, 'rows']);
  const rowsOf = ({ json }: Answer): unknown => json.rows;
  assert.deepEqual(rowsOf(await act(operator, 'authorize', at, { purpose: 'Exams', acl, rows: exam })), exam);
  const explained = (await act(operator, 'access explain', at, { type: 'Observation' })).json;
  assert.deepEqual(explained.types[0].grants, [
    {
      letter: 'r',
      elements: ['Observation.code', 'Observation.value'],
      rows: 'category=exam',
      entries: ['acl/obsv_ef_r'],
    },
  ]);
  assert.deepEqual((await act(practice, 'authorize', at, { purpose: 'Again', acl })).json, {
    application: 'Examiner',
    state: 'active',
    version: 3,
    acl,
    purpose: 'Again',
    expiresAt: null,
    rows: exam,
  });
  assert.deepEqual(rowsOf(await act(operator, 'authorization rows', at, { rows: [] })), []);
  for (const entry of ['system/Patient.u', 'system/*.r', 'acl/obsv_ef_s', 'acl/pat_c']) {
    const refused = await practice.ask('PUT', path, { purpose: 'More', acl: [entry] });
    assert.deepEqual([refused.status, refused.json.detail], [422, `${entry} is not held by application Examiner`]);
  }
});

test('environments, firms and their search parameters', async () => {
  const environment = { name: 'lab', realm: 'sandbox', kind: 'generic-sandbox', products: ['pm'] };
  assert.deepEqual(
    (await act(operator, 'environment create', [], { name: 'lab', realm: 'sandbox' })).json,
    environment,
  );
  const taken = await operator.ask('POST', '/environments', { name: 'lab', realm: 'sandbox' });
  assert.deepEqual([taken.status, taken.json.code], [409, 'duplicate']);
  await act(operator, 'product create', ['lab'], { product: 'lite' });
  const { items } = (await act(operator, 'environment list')).json;
  assert.deepEqual(items[0], { ...environment, products: ['lite', 'pm'] });
  const firm = { prefix: 'elm', name: 'Elm', timeZone: 'America/Chicago', state: 'active' };
  const { state: _, ...draft } = firm;
  assert.deepEqual((await act(operator, 'firm create', ['lab'], draft)).json, firm);
  await act(operator, 'firm suspend', ['lab', 'elm']);
  assert.deepEqual((await act(operator, 'firm show', ['lab', 'elm'])).json, { ...firm, state: 'suspended' });
  await act(operator, 'firm resume', ['lab', 'elm']);
  assert.deepEqual((await act(operator, 'firm list', ['lab'])).json, { items: [firm], more: false });
  assert.deepEqual((await act(practice, 'firm search-parameters', ['sandbox', 'maple'])).json, {
    items: [],
    more: false,
  });
});

test('applications and their settings', async () => {
  const settings = { ...readSettings({}), lenientSearch: true };
  const name = 'A/B "quoted" é';
  const made = await act(operator, 'app create', ['sandbox'], {
    name,
    acl: ['acl/pat_s'],
    settings: { lenientSearch: true },
  });
  assert.deepEqual(made.json, { name, state: 'active', acl: ['acl/pat_s'], settings });
  await act(operator, 'app acl', ['sandbox', name], { acl: ['acl/pat_r'] });
  const wrong = await operator.ask('PUT', `/environments/sandbox/applications/${encodeURIComponent(name)}/acl`, {
    acl: ['acl/x_r'],
  });
  assert.equal(wrong.status, 422);
  await act(operator, 'app suspend', ['sandbox', name]);
  const shown = (await act(operator, 'app show', ['sandbox', name])).json;
  assert.deepEqual(shown, { name, state: 'suspended', acl: ['acl/pat_r'], settings });
  await act(operator, 'app resume', ['sandbox', name]);
  assert.equal((await act(operator, 'app list', ['sandbox'])).json.items[0].name, name);
  await act(vendor, 'app set', ['sandbox', 'Scheduler'], { settings: { totalOfPage: true } });
  assert.equal((await act(vendor, 'app show', ['sandbox', 'Scheduler'])).json.settings.totalOfPage, true);
  const { items } = (await act(vendor, 'app settings', ['sandbox', 'Scheduler'])).json;
  assert.deepEqual(
    items.map(({ name: each, on }: { name: string; on: boolean }) => [each, on]),
    settingNames.map((each) => [each, each === 'totalOfPage']),
  );
  assert.deepEqual(items[0], { name: 'totalOfPage', on: true, ...applicationSettings.totalOfPage });
  await act(vendor, 'app firms', ['sandbox', 'Scheduler']);
});

test('keys, clients, secrets and public keys of a vendor', async () => {
  const own = ['sandbox', 'Scheduler'];
  const key = (await act(vendor, 'key issue', own, { flow: 'client', label: 'second' })).json;
  assert.match(key.apiKey, /^[A-Za-z0-9_-]{43}$/);
  const third = await vendor.ask('POST', '/environments/sandbox/applications/Scheduler/keys', { flow: 'client' });
  assert.deepEqual([third.status, third.json.code], [422, 'rule-broken']);
  await act(vendor, 'key revoke', [...own, String(key.id)]);
  const { items } = (await act(vendor, 'key list', own)).json;
  assert.deepEqual([items[0].label, items[0].state, items[0].lastUsedAt], ['second', 'revoked', null]);

  const client = (await act(vendor, 'client issue', own, {})).json;
  assert.match(client.clientSecret, /^[A-Za-z0-9_-]{43}$/);
  const secret = (await act(vendor, 'client add-secret', [...own, client.clientId])).json;
  await act(vendor, 'client retire-secret', [...own, client.clientId, String(secret.id)], { revoke: true });
  const secrets = (await act(vendor, 'client secrets', [...own, client.clientId])).json.items;
  assert.deepEqual(
    secrets.map(({ state }: { state: string }) => state),
    ['revoked', 'active'],
  );
  const keyed = (await act(vendor, 'client issue', own, { withoutSecret: true })).json;
  assert.deepEqual(Object.keys(keyed), ['clientId']);
  await act(vendor, 'client jwks', [...own, keyed.clientId], {});
  const jwks = `/environments/sandbox/applications/Scheduler/clients/${keyed.clientId}/jwks`;
  for (const [body, field] of [
    [{ jwks: { keys: 'none' } }, 'jwks'],
    [{ jwksUri: 'http://127.0.0.1/jwks' }, 'jwksUri'],
    [{ jwksUri: 'https://example.com/jwks', jwks: {} }, 'jwksUri'],
  ] as const) {
    const refused = await vendor.ask('PUT', jwks, body);
    assert.deepEqual([refused.status, refused.json.errors?.[0]?.field], [422, field], refused.text);
  }
  await act(vendor, 'client revoke', [...own, keyed.clientId]);
  const listed = (await act(vendor, 'client list', own)).json.items;
  assert.equal(listed.find((each: { clientId: string }) => each.clientId === keyed.clientId).state, 'revoked');
});

test('legacy accounts, and the end of the legacy flow', async () => {
  const at = ['sandbox', 'maple'];
  const issued = (await act(operator, 'account issue', at, { application: 'Scheduler', username: 'desk 1' })).json;
  assert.equal(issued.username, 'desk 1');
  assert.notEqual((await act(operator, 'account reset', [...at, 'desk 1'])).json.password, issued.password);
  await act(operator, 'account revoke', [...at, 'desk 1']);
  const accounts = (await act(practice, 'account list', at)).json.items;
  assert.equal(accounts.find((each: { username: string }) => each.username === 'desk 1').state, 'revoked');

  const report = (await act(operator, 'legacy report', ['sandbox'])).json;
  assert.deepEqual(report.firmsWithoutUse, ['maple']);
  const link = 'https://example.com/migrate';
  await act(operator, 'legacy sunset set', ['sandbox'], { firm: 'maple', link, sunsetAt: later });
  assert.deepEqual((await act(operator, 'legacy sunset show', ['sandbox'])).json.items, [
    { firm: 'maple', application: null, deprecatedAt: now, sunsetAt: later, link },
  ]);
  await act(operator, 'legacy sunset clear', ['sandbox'], { firm: 'maple' });
  const { id } = (await act(operator, 'legacy brown-out add', ['sandbox'], { from: now, until: later })).json;
  const brownOut = { id, firm: null, application: null, startsAt: now, endsAt: later };
  assert.deepEqual((await act(operator, 'legacy brown-out list', ['sandbox'])).json.items, [brownOut]);
  await act(operator, 'legacy brown-out remove', ['sandbox', String(id)]);

  await makeFirm(service, 'old', 'training');
  await operator.ask('POST', '/environments/training/applications', { name: 'Old', acl: [] });
  const migrated = (await act(operator, 'legacy migrate', ['training', 'Old'])).json;
  assert.deepEqual(Object.keys(migrated), ['tokenUrl', 'firms', 'clientId', 'clientSecret', 'apiKey']);
  assert.equal(migrated.tokenUrl, `${service.origin}/auth/realms/sandbox/protocol/openid-connect/token`);
});

test('signing keys, entries, administrators and what is one’s own', async () => {
  const { kid } = (await act(operator, 'signing-key publish', ['sandbox'])).json;
  assert.equal((await operator.ask('GET', '/realms/none/signing-keys')).status, 404);
  assert.equal((await operator.ask('POST', '/realms/none/signing-keys')).status, 404);
  assert.equal((await act(operator, 'signing-key activate', ['sandbox'], { force: true })).json.kid, kid);
  const next = (await act(operator, 'signing-key publish', ['sandbox'])).json.kid;
  await act(operator, 'signing-key retire', ['sandbox', next], { force: true });
  const keys = (await act(operator, 'signing-key list', ['sandbox'])).json.items;
  assert.equal(keys.find((each: { kid: string }) => each.kid === next).state, 'retired');

  const entries = (await act(vendor, 'entries')).json.items;
  assert.ok(entries.some(({ entry }: { entry: string }) => entry === 'acl/pat_r'));

  for (const [body, field] of [
    [{ username: 'Ada', role: 'operator' }, 'username'],
    [{ username: 'ada', role: 'practice' }, 'firm'],
    [{ username: 'ada', role: 'operator', firm: 'maple' }, 'firm'],
    [{ username: 'ada', role: 'vendor', firm: 'maple', application: 'Scheduler' }, 'firm'],
    [{ username: 'ada', role: 'operator', password: 'short' }, 'password'],
  ] as const) {
    const refused = await operator.ask('POST', '/administrators', body);
    assert.deepEqual([refused.status, refused.json.errors?.[0]?.field], [422, field], refused.text);
  }
  const ada = (await act(operator, 'admin create', [], { username: 'ada@example.com', role: 'operator' })).json;
  assert.deepEqual(Object.keys(ada), ['username', 'password']);
  const given = (await act(operator, 'admin password', ['ada@example.com'], { password })).json;
  assert.deepEqual(given, { username: 'ada@example.com' });
  await act(operator, 'admin revoke', ['ada@example.com']);
  const [first] = (await act(operator, 'admin list')).json.items;
  const nowhere = { environment: null, firm: null, application: null };
  assert.deepEqual(first, {
    username: 'ada@example.com',
    role: 'operator',
    ...nowhere,
    state: 'revoked',
    createdAt: now,
  });

  await act(vendor, 'me show');
  const { id } = (await act(vendor, 'me issue-token', [], { label: 'robot', expiresAt: later })).json;
  await act(vendor, 'me tokens');
  await act(vendor, 'me revoke-token', [String(id)]);
  await act(vendor, 'me password', [], { current: password, password: 'copper lantern over 9 hills' });
  await act(practice, 'me sign-out');
});

test('what an application may do, and what it saw of a patient', async () => {
  const explained = (await act(operator, 'access explain', place, { scope: 'acl/pat_r', type: 'Patient' })).json;
  assert.deepEqual(explained.closed, []);
  assert.deepEqual(explained.types[0].interactions, ['read', 'vread', 'history-instance']);
  assert.deepEqual(explained.types[0].grants, [{ letter: 'r', elements: ['all'], rows: '', entries: ['acl/pat_r'] }]);
  const path = '/environments/sandbox/firms/maple/authorisations/Scheduler/explain';
  const wrong = await operator.ask('POST', path, { scope: 'acl/pat_r "' });
  assert.deepEqual([wrong.status, wrong.json.errors[0].field], [422, 'scope']);
  const notHeld = await operator.ask('POST', path, { scope: 'acl/enc_r' });
  assert.deepEqual([notHeld.status, notHeld.json.errors?.[0].field], [422, 'scope']);
  await operator.ask('POST', '/environments/sandbox/firms/maple/authorisations/Scheduler/suspend');
  const closed = (await act(operator, 'access explain', place, {})).json.closed;
  assert.deepEqual(closed, ['maple has suspended what it authorised']);
  await operator.ask('POST', '/environments/sandbox/firms/maple/authorisations/Scheduler/resume');

  const reader = await makeApplication(service, 'Reader', ['acl/*'], [maple]);
  const caller = await openCaller(service, reader, maple);
  assert.equal((await caller.send('PUT', 'Patient/ada', { ...patient('Stone'), id: 'ada' })).status, 201);
  assert.equal((await caller.get('Patient/ada')).status, 200);
  await service.service.parts.ledger.flush();
  const desk = await openAdministrator(service, 'desk', 'practice', { firm: 'maple' });
  const refused = await desk.ask('POST', '/environments/sandbox/firms/maple/disclosures', { patient: 'Group/x' });
  assert.deepEqual([refused.status, refused.json.errors[0].field], [422, 'patient']);
  const { items } = (await act(desk, 'audit disclosures', ['sandbox', 'maple'], { patient: 'Patient/ada' })).json;
  assert.deepEqual(
    items.map(({ subject: _, requestId: __, ...row }: Record<string, unknown>) => row),
    [
      {
        at: now,
        application: 'Reader',
        interaction: 'read',
        resource: 'Patient/ada',
        shown: 1,
        elements: 'all',
        entries: 'acl/*',
      },
    ],
  );
  const none = await desk.ask('POST', '/environments/sandbox/firms/maple/disclosures', { patient: 'nobody' });
  assert.deepEqual(none.json, { items: [], more: false });
});

test('calendars and holidays: made, shown, changed by whoever has seen the version before, ended; each is a version', async () => {
  const writer = await makeApplication(service, 'Writer', ['acl/*'], [maple]);
  await putPlaces(await openCaller(service, writer, maple), ['12'], ['3']);
  const reception = await openAdministrator(service, 'reception', 'practice', { firm: 'maple' });
  const firm = ['sandbox', 'maple'];
  const one = {
    ...{ number: 1, version: 1, active: true, practitioner: '12', location: '3', timeZone: 'America/New_York' },
    document: plainCalendar,
  };
  assert.deepEqual((await act(reception, 'calendar set', firm, { calendar: plainCalendar })).json, one);
  const path = '/environments/sandbox/firms/maple/calendars';
  const unseen = await reception.ask('PUT', path, { calendar: plainCalendar });
  assert.deepEqual(
    [unseen.status, unseen.json.code, unseen.json.detail],
    [
      412,
      'precondition-failed',
      'version is missing: there is a calendar already, and it is at version 1: read it and give that version',
    ],
  );
  const longer = { ...plainCalendar, weekly: [{ days: ['sat'], from: '09:00', to: '10:00' }] };
  const second = (await act(operator, 'calendar set', firm, { calendar: longer, version: 1 })).json;
  assert.deepEqual(second, { ...one, version: 2, document: longer });
  assert.deepEqual((await act(reception, 'calendar show', [...firm, '1'])).json, second);
  await act(reception, 'calendar remove', [...firm, '1']);
  const { document: _, ...listed } = second;
  const items = [{ ...listed, version: 3, active: false }];
  assert.deepEqual((await act(reception, 'calendar list', firm)).json, { items, more: false });
  assert.deepEqual((await act(reception, 'calendar history', [...firm, '1'])).json.items, [
    { version: 3, active: false, changedAt: now, changedBy: 'reception', document: longer },
    { version: 2, active: true, changedAt: now, changedBy: 'operator', document: longer },
    { version: 1, active: true, changedAt: now, changedBy: 'reception', document: plainCalendar },
  ]);

  const holidays = { holidays: [{ yearly: '12-25' }] };
  const everywhere = { location: '*', version: 1, document: holidays };
  assert.deepEqual((await act(reception, 'holidays set', [...firm, '*'], { holidays })).json, everywhere);
  assert.deepEqual((await act(reception, 'holidays show', [...firm, '*'])).json, everywhere);
  await act(reception, 'holidays set', [...firm, '3'], { holidays: { holidays: [] } });
  assert.deepEqual((await act(reception, 'holidays list', firm)).json.items, [
    { location: '*', version: 1 },
    { location: '3', version: 1 },
  ]);
  assert.deepEqual((await act(reception, 'holidays history', [...firm, '*'])).json.items, [
    { version: 1, changedAt: now, changedBy: 'reception', document: holidays },
  ]);
});

test('value sets: set, shown, a code retired (value-sets.test.ts has the rest)', async () => {
  const firm = ['sandbox', 'maple'];
  const reception = await openAdministrator(service, 'codes', 'practice', { firm: 'maple' });
  const codes = ['A', 'B'].map((code) => ({ code, display: code }));
  const made = await act(reception, 'value-set set', [...firm, 'recall-type'], { valueSet: { codes } });
  assert.equal(made.json.version, 1);
  const retired = await act(reception, 'value-set retire', [...firm, 'recall-type'], { code: 'A' });
  assert.deepEqual((await act(reception, 'value-set show', [...firm, 'recall-type'])).json, retired.json);
  const { items } = (await act(operator, 'value-set list', firm)).json;
  const { codes: inUse, retired: _, ...listed } = retired.json;
  assert.deepEqual(
    items.find(({ valueSet }: { valueSet: string }) => valueSet === 'recall-type'),
    { ...listed, inUse: inUse.length },
  );
});

test('charges and intake: listed, shown, decided (charges.test.ts and intake.test.ts have the rest)', async () => {
  const firm = ['sandbox', 'maple'];
  const rule = [...firm, 'Condition', 'Scheduler'];
  const reception = await openAdministrator(service, 'billing', 'practice', { firm: 'maple' });
  assert.deepEqual((await act(reception, 'charges list', firm, {})).json, { items: [], more: false });
  await act(reception, 'intake require', rule);
  const { items } = (await act(reception, 'intake rules', firm)).json;
  assert.deepEqual(items, [{ type: 'Condition', application: 'Scheduler' }]);
  await act(reception, 'intake release', rule);
  await act(reception, 'intake require', [...firm, 'Condition', '*']);
  const writer = await openCaller(service, await makeApplication(service, 'Portal', ['acl/*'], [maple]), maple);
  const condition = { resourceType: 'Condition', subject: { reference: 'Patient/ada' } };
  assert.equal((await writer.send('POST', 'Condition', condition)).status, 202);
  const [{ task, fields }] = (await act(reception, 'intake list', firm)).json.items;
  assert.deepEqual(fields, ['subject']);
  assert.equal((await act(operator, 'intake show', [...firm, task])).json.status, 'requested');
  assert.equal((await act(reception, 'intake decide', [...firm, task], { rest: 'reject' })).json.status, 'rejected');
});

test('operators read what was asked of the service itself', async () => {
  const wrong = await operator.ask('POST', '/sessions', { username: 'nobody', password });
  assert.equal(wrong.status, 401);
  await service.service.parts.ledger.flush();
  const { items, more } = (await act(operator, 'audit service', [], { refused: true })).json;
  assert.equal(more, false);
  const signIn = items.find(({ about }: { about: string | null }) => about === 'sign-in');
  assert.deepEqual(Object.keys(signIn), [
    'at',
    'action',
    'about',
    'application',
    'subject',
    'outcome',
    'reason',
    'flow',
    'tokenId',
    'times',
    'requestId',
  ]);
  assert.deepEqual([signIn.action, signIn.outcome, signIn.reason], ['administer', 4, 'credentials-invalid']);
  const none = await operator.ask('POST', '/ledger', { to: now, from: now });
  assert.deepEqual(none.json, { items: [], more: false });
  const clerk = await openAdministrator(service, 'clerk', 'practice', { firm: 'maple' });
  const refused = await clerk.ask('POST', '/ledger', {});
  assert.deepEqual([refused.status, refused.json.code], [403, 'role-missing']);
});

test('every action was asked for', () => {
  assert.deepEqual(
    actions.map(({ name }) => name).filter((name) => !done.has(name)),
    [],
  );
});

/** What only makes sense on the machine itself: its files and processes, the database as its owner, the heads that it keeps. */
const machineCommands: ReadonlySet<string> = new Set([
  'serve',
  'migrate',
  'import',
  'export',
  'synthetic',
  'sandbox reset',
  'backup',
  'restore',
  'audit verify',
  'content verify',
]);

test('everything else that the command line does is an action of the same name', () => {
  const names = new Set(actions.map(({ name }) => name));
  const missing = commands.map(({ name }) => name).filter((name) => !machineCommands.has(name) && !names.has(name));
  assert.deepEqual(missing, []);
});

test('the document is valid, open to all, and describes every action', async () => {
  const answer = await answerOf(await fetch(`${service.origin}/admin/openapi.json`));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  const result = await new Validator().validate(answer.json);
  assert.deepEqual(result, { valid: true });
  const { paths } = administrationDocument('1');
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => key !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(
    described.sort(),
    ['POST /sessions', ...actions.map(({ method, path }) => `${method} ${path}`)].sort(),
  );
  assert.equal((await ask(service, undefined, 'GET', '/../openapi.json')).status, 200);
  const post = await answerOf(await fetch(`${service.origin}/admin/openapi.json`, { method: 'POST' }));
  assert.deepEqual([post.status, post.json.code], [405, 'method-not-allowed']);
});
