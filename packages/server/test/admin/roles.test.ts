/**
 * Who may do what where: every action of the list × every role, its own firm or application, another's, and what does not
 * exist. What a role may not see is answered like what does not exist, and refusals change nothing.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { Action } from '../../src/actions/action.ts';
import { roles } from '../../src/actions/schema.ts';
import { verifyActions } from '../../src/admin/access.ts';
import { actions } from '../../src/admin/actions/list.ts';
import {
  answerOf,
  callerOf,
  clientToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';
import { everyRow, type Rows } from '../support/tenant-rows.ts';
import { type AdminCaller, ask, openAdministrator } from './world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const trainingMaple = await makeFirm(service, 'maple', 'training');
const acl = ['acl/pat_r', 'acl/pat_s'];
const scheduler = await makeApplication(service, 'Scheduler', acl, [maple, cedar]);
await makeApplication(service, 'Billing', acl, [cedar]);
await makeApplication(service, 'Scheduler', acl, [trainingMaple]);

const callers: Readonly<Record<(typeof roles)[number], AdminCaller>> = {
  operator: await openAdministrator(service, 'operator', 'operator'),
  practice: await openAdministrator(service, 'practice', 'practice', { firm: 'maple' }),
  vendor: await openAdministrator(service, 'vendor', 'vendor', { application: 'Scheduler' }),
};

/** A path of the action; what `names` does not say is what the caller owns. */
function pathOf({ path }: Action, names: Readonly<Record<string, string>> = {}): string {
  const own: Readonly<Record<string, string>> = {
    environment: 'sandbox',
    firm: 'maple',
    application: 'Scheduler',
    realm: 'sandbox',
    ...names,
  };
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(own[name] ?? '1'));
}

/** Tables that every request writes to: when a session was last used, what was done, how often. */
const written: ReadonlySet<string> = new Set(['admin_session', 'rate_counter']);

async function rows(): Promise<Rows> {
  const all = await everyRow(service.database.owner);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !written.has(name) && !name.startsWith('audit_')));
}

test('an action that is open to a role is held to what is its own, or says so at start', () => {
  verifyActions(actions);
  const [action] = actions.filter(({ name }) => name === 'authorise');
  assert.ok(action !== undefined);
  const open: readonly Action[] = [
    { ...action, roles: ['vendor'] },
    { ...action, path: '/environments/{environment}/x/{application}', roles: ['practice'] },
  ];
  for (const each of open) assert.throws(() => verifyActions([each]), /its path does not name what is its own$/);
  assert.throws(() => verifyActions([action, { ...action, path: '/other' }]), /^TypeError: authorise is there twice$/);
  const renamed = { ...action, name: 'other', path: action.path.replace('{firm}', '{practice}'), roles: [] };
  assert.throws(() => verifyActions([action, renamed]), /is there twice$/);
});

test('an action of another role is refused, whatever its path names', async () => {
  const before = await rows();
  for (const role of roles) {
    for (const action of actions.filter((each) => !each.roles.includes(role))) {
      for (const names of [{}, { firm: 'nowhere', application: 'None', environment: 'none' }]) {
        const answer = await callers[role].ask(
          action.method,
          pathOf(action, names),
          action.method === 'GET' ? undefined : {},
        );
        assert.deepEqual(
          [answer.status, answer.json.detail],
          [403, `${action.name} is for the role ${action.roles.join(' or ')}, not ${role}`],
          `${role}: ${action.name}`,
        );
      }
    }
  }
  assert.deepEqual(await rows(), before);
});

test('what is another firm’s or application’s is answered like what does not exist', async () => {
  const before = await rows();
  const others: Readonly<Record<'practice' | 'vendor', readonly (readonly [string, Record<string, string>])[]>> = {
    practice: [
      ['firm', { firm: 'cedar' }],
      ['firm', { environment: 'training' }],
      ['firm', { firm: 'nowhere' }],
      ['firm', { environment: 'none' }],
    ],
    vendor: [
      ['application', { application: 'Billing' }],
      ['application', { environment: 'training' }],
      ['application', { application: 'None' }],
      ['application', { environment: 'none' }],
    ],
  };
  for (const role of ['practice', 'vendor'] as const) {
    const limited = actions.filter((each) => each.roles.includes(role) && each.path.includes('{environment}'));
    assert.ok(limited.length > 5);
    for (const action of limited) {
      for (const [what, names] of others[role]) {
        const { environment = 'sandbox', ...rest } = names;
        const name = rest[what] ?? (what === 'firm' ? 'maple' : 'Scheduler');
        // Even where the body is wrong: nothing is looked at before the place.
        const answer = await callers[role].ask(
          action.method,
          pathOf(action, names),
          action.method === 'GET' ? undefined : { x: 1 },
        );
        const detail = `${what} ${name} does not exist in environment ${environment}`;
        assert.deepEqual(
          [answer.status, answer.json],
          [
            404,
            {
              type: 'about:blank',
              title: 'Not Found',
              status: 404,
              detail,
              code: 'resource-not-found',
              errors: [{ field: what, detail }],
            },
          ],
          `${role}: ${action.name}`,
        );
      }
    }
  }
  assert.deepEqual(await rows(), before);
});

test('an operator is told the same of what does not exist', async () => {
  const { ask } = callers.operator;
  const firm = await ask('GET', '/environments/sandbox/firms/nowhere');
  assert.deepEqual(firm.json.detail, 'firm nowhere does not exist in environment sandbox');
  const application = await ask('GET', '/environments/sandbox/applications/None');
  assert.deepEqual(application.json.detail, 'application None does not exist in environment sandbox');
});

test('an application that a firm has never authorised is answered like one that does not exist', async () => {
  const { ask } = callers.practice;
  const base = '/environments/sandbox/firms/maple/authorisations';
  for (const [method, suffix] of [
    ['GET', ''],
    ['GET', '/versions'],
    ['POST', '/suspend'],
    ['POST', '/resume'],
    ['POST', '/revoke'],
  ] as const) {
    for (const name of ['Billing', 'None']) {
      const answer = await ask(method, `${base}/${name}${suffix}`);
      assert.deepEqual([answer.status, answer.json.detail], [404, `firm maple has not authorised ${name}`]);
    }
  }
});

test('a practice sees its own authorisations and accounts, a vendor its own keys, and no more of them than is theirs', async () => {
  const { practice, vendor } = callers;
  const authorisations = await practice.ask('GET', '/environments/sandbox/firms/maple/authorisations');
  const terms = { state: 'active', version: 1, acl, purpose: 'Test', expiresAt: null, rows: [] };
  assert.deepEqual(authorisations.json, { items: [{ application: 'Scheduler', ...terms }], more: false });
  const accounts = await practice.ask('GET', '/environments/sandbox/firms/maple/accounts');
  const username = scheduler.accounts.get('maple')?.username;
  assert.deepEqual(
    accounts.json.items.map(({ createdAt: _, ...account }: Record<string, unknown>) => account),
    [{ username, application: 'Scheduler', state: 'active' }],
  );
  const firms = await vendor.ask('GET', '/environments/sandbox/applications/Scheduler/firms');
  assert.deepEqual(firms.json, {
    items: [
      { prefix: 'cedar', name: 'Firm cedar' },
      { prefix: 'maple', name: 'Firm maple' },
    ],
    more: false,
  });
  const keys = await vendor.ask('GET', '/environments/sandbox/applications/Scheduler/keys');
  assert.deepEqual(
    keys.json.items.map(({ id }: { id: number }) => id),
    [scheduler.legacyKeyId, scheduler.clientKeyId],
  );
  for (const answer of [authorisations, accounts, firms, keys]) {
    for (const secret of [scheduler.clientKey, scheduler.legacyKey, scheduler.clientSecret])
      assert.ok(!answer.text.includes(secret));
  }
});

test('a key, client or secret of another application is not found below one’s own', async () => {
  const stranger = await makeApplication(service, 'Stranger', acl, []);
  const own = '/environments/sandbox/applications/Scheduler';
  const before = await rows();
  for (const [method, path] of [
    ['POST', `${own}/keys/${stranger.clientKeyId}/revoke`],
    ['POST', `${own}/keys/1e0/revoke`],
    ['POST', `${own}/keys/99999999999999999999/revoke`],
    ['POST', `${own}/clients/${stranger.clientId}/revoke`],
    ['POST', `${own}/clients/${stranger.clientId}/secrets`],
    ['POST', `${own}/clients/${stranger.clientId}/secrets/1/retire`],
    ['GET', `${own}/clients/${stranger.clientId}/secrets`],
  ] as const) {
    assert.equal((await callers.vendor.ask(method, path)).status, 404, path);
  }
  assert.deepEqual(await rows(), before);
});

test('paths that are none, and methods that a path does not take', async () => {
  const { ask } = callers.operator;
  for (const path of [
    '/',
    '/me/',
    '//me',
    '/ME',
    '/environments/%00/firms',
    '/environments/%ff/firms',
    '/environments//firms',
  ]) {
    const answer = await ask('GET', path);
    assert.deepEqual([answer.status, answer.json.code], [404, 'path-unknown'], path);
  }
  for (const path of [
    '/admin',
    '/admin/',
    '/admin/api',
    '/admin/api/',
    '/admin/apis',
    '/admin/Patient',
    '/admin//api/me',
  ]) {
    const answer = await answerOf(await fetch(service.origin + path));
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, path);
    assert.deepEqual([answer.status, answer.json.code, answer.json.detail], [404, 'path-unknown', noSuchPath], path);
  }
  const put = await ask('PUT', '/environments');
  assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, POST']);
  const withQuery = await ask('GET', '/environments?x=1');
  assert.deepEqual([withQuery.status, withQuery.json.code], [400, 'input-invalid']);
  const withBody = await ask('POST', '/environments/sandbox/firms/maple/resume', { x: 1 });
  assert.deepEqual([withBody.status, withBody.json.detail], [400, 'This action takes no body']);
  const head = await ask('HEAD', '/environments');
  assert.deepEqual([head.status, head.text], [200, '']);
});

const noSuchPath = 'No such path: GET /admin/openapi.json lists the paths';

test('secrets are listed of clients that the application has, revoked ones too, and of no others', async () => {
  const { ask } = callers.vendor;
  const path = '/environments/sandbox/applications/Scheduler/clients';
  const { clientId } = (await ask('POST', path)).json;
  assert.equal((await ask('POST', `${path}/${clientId}/revoke`)).status, 204);
  const revoked = await ask('GET', `${path}/${clientId}/secrets`);
  assert.deepEqual([revoked.status, revoked.json.items.length], [200, 1]);
  const keyed = (await ask('POST', path, { withoutSecret: true })).json.clientId;
  assert.deepEqual((await ask('GET', `${path}/${keyed}/secrets`)).json, { items: [], more: false });
  const other = await makeApplication(service, 'Neighbour', ['acl/pat_r'], [maple]);
  for (const client of ['unknown', other.clientId]) {
    const answer = await ask('GET', `${path}/${client}/secrets`);
    assert.deepEqual(
      [answer.status, answer.json.code, answer.json.detail],
      [404, 'resource-not-found', `application Scheduler has no client ${client}`],
    );
  }
});

test('a token of administration opens nothing of the data API, and the other way round', async () => {
  const data = await openCaller(service, scheduler, maple);
  assert.equal((await data.get('Patient')).status, 200);
  const own = { 'x-api-key': scheduler.clientKey };
  for (const { token } of Object.values(callers)) {
    const answer = await callerOf(maple, token, scheduler.clientKey).get('Patient');
    assert.deepEqual([answer.status, answer.json.issue[0].details.coding[0].code], [401, 'credentials-invalid']);
  }
  const token = await clientToken(service, scheduler);
  for (const path of ['/me', '/environments/sandbox/firms/maple', '/environments/sandbox/applications/Scheduler']) {
    const answer = await ask(service, token, 'GET', path, undefined, own);
    assert.deepEqual([answer.status, answer.json.code], [401, 'credentials-invalid']);
  }
});
