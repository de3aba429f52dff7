/** Signing in, sessions, API tokens and passwords. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { revokeAdministrator } from '../../src/admin/administrators.ts';
import { sql } from '../../src/database/sql.ts';
import { chosenPasswordLimits } from '../../src/limits/brute-force-limit.ts';
import { makeFirm, openTestService } from '../support/service.ts';
import { ask, callerBy, makeAdministrator, openAdministrator, password, signedIn } from './world.ts';

const service = await openTestService({ after });
const { clock, platform } = service;
await makeFirm(service, 'maple');
let made = 0;

/** A username that nobody has used, so that wrong passwords of one test do not slow another. */
function unused(): string {
  made += 1;
  return `person-${made}`;
}

/** To the next minute: what was counted in this one is forgotten. */
function nextMinute(): void {
  clock.advance(60_000 - (clock.now() % 60_000));
}

function problem(status: number, title: string, code: string, detail: string, errors: readonly object[] = []): object {
  return { type: 'about:blank', title, status, detail, code, errors };
}

const wrong = problem(401, 'Unauthorized', 'credentials-invalid', 'username or password is wrong');
const dead = problem(
  401,
  'Unauthorized',
  'credentials-invalid',
  'Bearer token is not that of a live session or API token of an administrator: sign in',
);

test('without a token, or with one that is none, nothing is answered', async () => {
  const missing = await ask(service, undefined, 'GET', '/me');
  assert.equal(missing.status, 401);
  assert.equal(missing.headers.get('www-authenticate'), 'Bearer realm="praxis administration"');
  assert.equal(missing.headers.get('content-type'), 'application/problem+json; charset=utf-8');
  assert.equal(missing.headers.get('cache-control'), 'no-store');
  assert.deepEqual(
    missing.json,
    problem(
      401,
      'Unauthorized',
      'credentials-missing',
      'Bearer token is missing: sign in at POST /admin/api/sessions, then send Authorization: Bearer <token>',
    ),
  );
  for (const token of ['x', 'pxa_', `pxa_${'A'.repeat(43)}`, `${'A'.repeat(47)}`]) {
    assert.deepEqual((await ask(service, token, 'GET', '/me')).json, dead, token);
  }
  const caller = await openAdministrator(service, unused(), 'operator');
  for (const authorization of [`Basic ${caller.token}`, caller.token, `Bearer ${caller.token} x`]) {
    assert.deepEqual((await ask(service, undefined, 'GET', '/me', undefined, { authorization })).json, dead);
  }
});

test('a wrong password, an unknown, a revoked and a closed-out administrator get the same answer', async () => {
  const username = unused();
  const revoked = unused();
  const ofFirm = unused();
  await makeFirm(service, 'closed');
  await makeAdministrator(service, username, 'operator');
  await makeAdministrator(service, revoked, 'operator');
  await makeAdministrator(service, ofFirm, 'practice', { firm: 'closed' });
  await revokeAdministrator(platform.database, revoked);
  const operator = await signedIn(service, username);
  assert.equal((await operator.ask('POST', '/environments/sandbox/firms/closed/suspend')).status, 204);
  for (const [name, tried] of [
    [username, `${password} `],
    [username, password.toUpperCase()],
    ['nobody', password],
    [revoked, password],
    [ofFirm, password],
    ['UPPER', password],
  ] as const) {
    const answer = await ask(service, undefined, 'POST', '/sessions', { username: name, password: tried });
    assert.deepEqual([answer.status, answer.json], [401, wrong], name);
  }
  nextMinute();
});

test('a sign-in that is malformed says which field breaks which rule, and repeats no value', async () => {
  const secret = 'do-not-repeat-me';
  const cases: readonly (readonly [body: unknown, field: string, detail: string])[] = [
    [{ password: secret }, 'username', 'username is missing'],
    [
      { username: 'a', password: 7 },
      'password',
      'password must be a text of 1 to 128 characters without control characters',
    ],
    [
      { username: 'a', password: secret, remember: true },
      'remember',
      'remember is no field of this action; its fields are username, password',
    ],
    [
      { username: 'a', password: secret, [secret]: 1 },
      'A member of the body',
      'A member of the body is no field of this action; its fields are username, password',
    ],
    [
      { username: '', password: secret },
      'username',
      'username must be a text of 1 to 63 characters without control characters',
    ],
  ];
  for (const [body, field, detail] of cases) {
    const answer = await ask(service, undefined, 'POST', '/sessions', body);
    assert.deepEqual(answer.json, problem(400, 'Bad Request', 'input-invalid', detail, [{ field, detail }]));
    assert.ok(!answer.text.includes(secret));
  }
  for (const [body, headers, status, code] of [
    ['{', {}, 400, 'json-malformed'],
    ['[]', {}, 400, 'input-invalid'],
    ['{}', { 'content-type': 'text/plain' }, 415, 'media-type-unsupported'],
    ['{}', { 'content-type': 'application/json; charset=latin1' }, 415, 'media-type-unsupported'],
    [`{"username":"${'a'.repeat(300_000)}"}`, {}, 413, 'body-too-large'],
  ] as const) {
    const answer = await ask(service, undefined, 'POST', '/sessions', body, headers);
    assert.deepEqual([answer.status, answer.json.code], [status, code]);
  }
  const get = await ask(service, undefined, 'GET', '/sessions');
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
  const query = await ask(service, undefined, 'POST', '/sessions?x=1', { username: 'a', password: 'b' });
  assert.deepEqual([query.status, query.json.code], [400, 'input-invalid']);
});

test('after too many wrong passwords from an address, the right one has to wait there, and sessions that there are go on', async () => {
  const caller = await openAdministrator(service, unused(), 'operator');
  const body = { username: caller.username, password: 'wrong, and wrong again' };
  for (let times = 0; times < chosenPasswordLimits.perAccountAndAddress; times += 1)
    assert.equal((await ask(service, undefined, 'POST', '/sessions', body)).status, 401);
  const slowed = await ask(service, undefined, 'POST', '/sessions', { username: caller.username, password });
  assert.deepEqual([slowed.status, slowed.json.code], [429, 'rate-exceeded']);
  assert.match(slowed.json.detail, /^Too many wrong passwords: wait \d+ s, until 2026-/);
  assert.match(slowed.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await caller.ask('GET', '/me')).status, 200);
  const byPassword = { current: 'wrong as well', password: 'another kettle under bridges' };
  assert.equal((await caller.ask('PUT', '/me/password', byPassword)).status, 429);
  nextMinute();
  assert.equal((await signedIn(service, caller.username)).username, caller.username);
});

test('a session tells who it is of', async () => {
  const username = unused();
  await makeAdministrator(service, username, 'practice', { firm: 'maple' });
  const answer = await ask(service, undefined, 'POST', '/sessions', { username, password });
  const who = { username, role: 'practice', environment: 'sandbox', firm: 'maple', application: null };
  const { token, ...rest } = answer.json;
  assert.deepEqual(
    [answer.status, rest],
    [201, { ...who, expiresAt: new Date(clock.now() + 8 * 3_600_000).toISOString() }],
  );
  assert.match(token, /^pxa_[A-Za-z0-9_-]{43}$/);
  assert.deepEqual((await ask(service, token, 'GET', '/me')).json, who);
  const [row] = await service.database.owner.query<{ text: string }>(
    sql`SELECT string_agg(s::text || a::text, '') AS text FROM admin_session s, administrator a`,
  );
  assert.ok(!row?.text.includes(token) && !row?.text.includes(password));
  assert.match(row?.text ?? '', /\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test('a session ends by sign-out, after eight hours without use, after a day in any case', async () => {
  const username = unused();
  const first = await openAdministrator(service, username, 'operator');
  const other = await signedIn(service, username);
  assert.equal((await first.ask('DELETE', '/me/session')).status, 204);
  assert.deepEqual((await first.ask('GET', '/me')).json, dead);
  assert.equal((await other.ask('GET', '/me')).status, 200);
  const idle = await signedIn(service, username);
  for (let hours = 7; hours < 24; hours += 7) {
    clock.advance(7 * 3_600_000);
    assert.equal((await other.ask('GET', '/me')).status, 200);
  }
  assert.deepEqual((await idle.ask('GET', '/me')).json, dead);
  clock.advance(3 * 3_600_000 - 1);
  assert.equal((await other.ask('GET', '/me')).status, 200);
  clock.advance(1);
  assert.deepEqual((await other.ask('GET', '/me')).json, dead);
});

test('an API token does what its administrator may, but for tokens and passwords, until it ends', async () => {
  const session = await openAdministrator(service, unused(), 'operator');
  const inAYear = new Date(clock.now() + 366 * 86_400_000 + 1).toISOString();
  for (const expiresAt of [inAYear, new Date(clock.now()).toISOString()]) {
    const refused = await session.ask('POST', '/me/tokens', { label: 'robot', expiresAt });
    assert.deepEqual([refused.status, refused.json.errors[0].field], [422, 'expiresAt']);
  }
  for (const expiresAt of ['tomorrow', '2027-02-30T00:00:00Z', '2027-01-01', '2027-01-01T00:00:00', 5]) {
    const refused = await session.ask('POST', '/me/tokens', { label: 'robot', expiresAt });
    assert.deepEqual([refused.status, refused.json.code], [400, 'input-invalid'], String(expiresAt));
  }
  const expiresAt = new Date(clock.now() + 86_400_000).toISOString();
  const issued = await session.ask('POST', '/me/tokens', { label: 'robot', expiresAt });
  assert.deepEqual([issued.status, issued.json.expiresAt], [201, expiresAt]);
  const robot = callerBy(service, session.username, issued.json.token);
  assert.equal((await robot.ask('GET', '/environments')).status, 200);
  const more = await robot.ask('POST', '/me/tokens', { label: 'more', expiresAt });
  assert.deepEqual(
    more.json,
    problem(403, 'Forbidden', 'role-missing', 'me issue-token is not for API tokens: sign in'),
  );
  assert.equal((await robot.ask('PUT', '/me/password', { current: password, password: 'x' })).status, 403);
  const { items } = (await session.ask('GET', '/me/tokens')).json;
  const createdAt = new Date(clock.now()).toISOString();
  assert.deepEqual(items, [{ id: issued.json.id, label: 'robot', createdAt, lastUsedAt: createdAt, expiresAt }]);
  const stranger = await openAdministrator(service, unused(), 'operator');
  assert.equal((await stranger.ask('DELETE', `/me/tokens/${issued.json.id}`)).status, 404);
  assert.deepEqual((await stranger.ask('GET', '/me/tokens')).json, { items: [], more: false });
  assert.equal((await session.ask('DELETE', `/me/tokens/${issued.json.id}`)).status, 204);
  assert.deepEqual((await robot.ask('GET', '/me')).json, dead);
  const second = callerBy(service, '', (await session.ask('POST', '/me/tokens', { label: 'b', expiresAt })).json.token);
  clock.advance(86_400_000 - 1);
  assert.equal((await second.ask('GET', '/me')).status, 200);
  clock.advance(1);
  assert.deepEqual((await second.ask('GET', '/me')).json, dead);
});

test('another password ends all sessions and API tokens; one that is guessed first is refused', async () => {
  const username = unused();
  const session = await openAdministrator(service, username, 'operator');
  const expiresAt = new Date(clock.now() + 86_400_000).toISOString();
  const issued = await session.ask('POST', '/me/tokens', { label: 'robot', expiresAt });
  const robot = callerBy(service, username, issued.json.token);
  for (const weak of ['short', 'passwordpassword1', '123456789012345', `${username}${username}`]) {
    const refused = await session.ask('PUT', '/me/password', { current: password, password: weak });
    assert.deepEqual([refused.status, refused.json.errors[0].field], [422, 'password'], weak);
    assert.ok(!refused.text.includes(weak));
  }
  const wrongOne = await session.ask('PUT', '/me/password', { current: 'no', password: 'kettle under 9 bridges' });
  assert.deepEqual(
    wrongOne.json,
    problem(422, 'Unprocessable Entity', 'rule-broken', 'current is not the password of this administrator', [
      { field: 'current', detail: 'current is not the password of this administrator' },
    ]),
  );
  assert.equal((await robot.ask('GET', '/me')).status, 200);
  const changed = await session.ask('PUT', '/me/password', { current: password, password: 'kettle under 9 bridges' });
  assert.equal(changed.status, 204);
  for (const caller of [session, robot]) assert.deepEqual((await caller.ask('GET', '/me')).json, dead);
  assert.equal((await ask(service, undefined, 'POST', '/sessions', { username, password })).status, 401);
  const again = { username, password: 'kettle under 9 bridges' };
  assert.equal((await ask(service, undefined, 'POST', '/sessions', again)).status, 201);
});

test('who is revoked, or whose firm is suspended, is refused at the next request', async () => {
  const operator = await openAdministrator(service, unused(), 'operator');
  await makeFirm(service, 'elm');
  const practice = await openAdministrator(service, unused(), 'practice', { firm: 'elm' });
  assert.equal((await practice.ask('GET', '/environments/sandbox/firms/elm')).status, 200);
  await operator.ask('POST', '/environments/sandbox/firms/elm/suspend');
  assert.deepEqual((await practice.ask('GET', '/environments/sandbox/firms/elm')).json, dead);
  await operator.ask('POST', '/environments/sandbox/firms/elm/resume');
  assert.equal((await practice.ask('GET', '/environments/sandbox/firms/elm')).status, 200);
  assert.equal((await operator.ask('POST', `/administrators/${practice.username}/revoke`)).status, 204);
  assert.deepEqual((await practice.ask('GET', '/environments/sandbox/firms/elm')).json, dead);
});
