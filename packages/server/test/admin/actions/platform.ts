/** What operators and vendors keep: environments, firms, applications, credentials, the legacy flow, keys, administrators. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { applicationSettings, readSettings, settingNames } from '../../../src/tenancy/application-settings.ts';
import { makeFirm } from '../../support/service.ts';
import { password } from '../world.ts';
import type { Asking } from './asking.ts';

/** After the last of them `practice` is signed out, and the password of `vendor` is another one. */
export function testPlatform({ act, later, now, operator, practice, service, vendor }: Asking): void {
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
    const firm = {
      prefix: 'elm',
      name: 'Elm',
      timeZone: 'America/Chicago',
      state: 'active',
      requiresReferences: false,
    };
    const { state: _, requiresReferences: __, ...draft } = firm;
    assert.deepEqual((await act(operator, 'firm create', ['lab'], draft)).json, firm);
    await act(operator, 'firm suspend', ['lab', 'elm']);
    assert.deepEqual((await act(operator, 'firm show', ['lab', 'elm'])).json, { ...firm, state: 'suspended' });
    await act(operator, 'firm resume', ['lab', 'elm']);
    await act(operator, 'firm references', ['lab', 'elm'], { required: true });
    assert.equal((await act(operator, 'firm show', ['lab', 'elm'])).json.requiresReferences, true);
    await act(operator, 'firm references', ['lab', 'elm'], { required: false });
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
}
