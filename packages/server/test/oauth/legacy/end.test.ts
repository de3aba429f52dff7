/**
 * The end of the legacy flow over HTTP: what is announced on which answers (RFC 9745, RFC 8594), brown-outs that act on the
 * next request of every node and end by the clock, and the refusals after the end. Operators steer by command line.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startService } from '../../../src/app.ts';
import { commands } from '../../../src/cli/commands.ts';
import { runCommand } from '../../cli/platform.ts';
import { captureLog } from '../../support/captured-log.ts';
import { patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import {
  type Answer,
  type Caller,
  callerOf,
  clientForm,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
  startMs,
  type TestApplication,
  type TestFirm,
} from '../../support/service.ts';

const captured = captureLog();
const service = await openTestService({ after }, { PRAXIS_LEGACY_TOKEN_SECONDS: '86400' }, captured.log);
/** A second node over the same database. */
const other = await startService(service.platform);
after(() => other.drain());
const page = 'https://example.com/migrate?step=1';
const end = '2026-12-01T10:00:00Z';
const announced = {
  deprecation: `@${startMs / 1000}`,
  sunset: 'Tue, 01 Dec 2026 10:00:00 GMT',
  link: `<${page}>; rel="deprecation", <${page}>; rel="sunset"`,
};
const nothing = { deprecation: null, sunset: null, link: null };
const onTokenAnswers = {
  ...announced,
  link: `${announced.link}, <${clientTokenUrl(service)}>; rel="successor-version"`,
};

const steer = (...line: readonly string[]) => runCommand(service.platform, commands, 'legacy', ...line);
const announce = (...scope: readonly string[]) => steer('sunset', 'set', '--link', page, '--sunset', end, ...scope);

function told({ headers }: Answer): object {
  return { deprecation: headers.get('deprecation'), sunset: headers.get('sunset'), link: headers.get('link') };
}

let made = 0;

interface Scene {
  readonly firm: TestFirm;
  readonly vendor: TestApplication;
  readonly legacy: Caller;
  /** The same token at the second node. */
  readonly elsewhere: Caller;
  readonly client: Caller;
}

/** A firm and an application with both tokens, whose sessions both nodes remember. */
async function openScene(): Promise<Scene> {
  made += 1;
  const firm = await makeFirm(service, `firm-${made}`);
  const vendor = await makeApplication(service, `Vendor ${made}`, ['acl/*'], [firm]);
  const token = await legacyToken(vendor, firm);
  const legacy = callerOf(firm, token, vendor.legacyKey);
  const base = firm.base.replace(service.origin, other.origin);
  const elsewhere = callerOf({ base }, token, vendor.legacyKey);
  for (const caller of [legacy, elsewhere]) assert.equal((await caller.get('Patient')).status, 200);
  return { firm, vendor, legacy, elsewhere, client: await openCaller(service, vendor, firm) };
}

/** `2026-11-21T09:30:00Z` */
function secondOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** Runs `work` and takes back what was announced for the environment. */
async function whileAnnounced(work: () => Promise<void>): Promise<void> {
  await announce();
  try {
    await work();
  } finally {
    await steer('sunset', 'clear');
  }
}

const login = ({ firm, vendor }: Scene, form: Readonly<Record<string, string>> = {}, key = vendor.legacyKey) =>
  postForm(firm.legacyTokenUrl, { ...passwordForm(vendor, firm), ...form }, key);

test('with nothing set, no answer has one of the headers', async () => {
  const scene = await openScene();
  for (const answer of [
    await login(scene),
    await login(scene, { password: 'wrong' }),
    await scene.legacy.get('Patient'),
    await scene.legacy.get('Patient/none'),
  ])
    assert.deepEqual(told(answer), nothing);
});

test('every answer of the legacy endpoint announces the end, refusals of every kind too', async () => {
  const scene = await openScene();
  const { firm, vendor } = scene;
  const refreshToken = (await login(scene)).json.refresh_token;
  const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken };
  await whileAnnounced(async () => {
    const answers: readonly (readonly [number, Answer])[] = [
      [200, await login(scene)],
      [200, await postForm(firm.legacyTokenUrl, refresh, vendor.legacyKey)],
      [400, await postForm(firm.legacyTokenUrl, { ...refresh, refresh_token: 'x' }, vendor.legacyKey)],
      [400, await login(scene, { password: 'wrong' })],
      [400, await login(scene, { grant_type: 'magic' })],
      [400, await postForm(firm.legacyTokenUrl, {}, vendor.legacyKey)],
      [401, await login(scene, {}, 'unknown')],
      [401, await postForm(firm.legacyTokenUrl, passwordForm(vendor, firm))],
      [
        400,
        await login({ ...scene, firm: { ...firm, legacyTokenUrl: firm.legacyTokenUrl.replace(firm.prefix, 'no') } }),
      ],
    ];
    for (const [status, answer] of answers) {
      assert.equal(answer.status, status, answer.text);
      assert.deepEqual(told(answer), onTokenAnswers, answer.text);
    }
    assert.deepEqual(Object.keys(answers[0]?.[1].json), ['scope', 'token_type', 'access_token', 'refresh_token']);
  });
  assert.deepEqual(told(await login(scene)), nothing, 'taken back');
});

test('every call with a legacy token announces the end, refused ones too, and no other answer does', async () => {
  const { firm, vendor, legacy, client } = await openScene();
  const closed = await makeFirm(service, `firm-${made}-closed`);
  const at = (base: string, headers: Readonly<Record<string, string>>, path = 'Patient') =>
    callerOf({ base }, '', '').get(path, { authorization: '', 'x-api-key': '', ...headers });
  const { authorization = '' } = legacy.headers;
  const announces: readonly (readonly [number, () => Promise<Answer>])[] = [
    [200, () => legacy.get('Patient')],
    [201, () => legacy.send('POST', 'Patient', patient('Stone'))],
    [200, () => legacy.send('POST', '', { resourceType: 'Bundle', type: 'batch' })],
    [200, () => legacy.get('metadata')],
    [404, () => legacy.get('Patient/none')],
    [400, () => legacy.get('Patient?colour=red')],
    [405, () => legacy.send('PUT', 'Patient/one/_history', {})],
    [401, () => at(firm.base, { authorization, 'x-api-key': vendor.clientKey })],
    [401, () => at(firm.base, { authorization, 'x-api-key': 'unknown' })],
    [403, () => at(closed.base, { authorization, 'x-api-key': vendor.legacyKey })],
    [403, () => at(firm.base.replace(firm.prefix, 'no'), { authorization, 'x-api-key': vendor.legacyKey })],
  ];
  const isSilent: readonly (readonly [number, () => Promise<Answer>])[] = [
    [200, () => client.get('Patient')],
    [404, () => client.get('Patient/none')],
    [200, () => postForm(clientTokenUrl(service), clientForm(vendor), vendor.clientKey)],
    [401, () => at(firm.base, { authorization: 'Bearer x.y.z', 'x-api-key': vendor.legacyKey })],
    [401, () => at(firm.base, { authorization: `${authorization}x`, 'x-api-key': vendor.legacyKey })],
    [401, () => at(firm.base, {})],
    [200, () => client.get('metadata')],
    [200, () => at(firm.base, {}, 'metadata')],
  ];
  await whileAnnounced(async () => {
    for (const [status, send] of announces) {
      const answer = await send();
      assert.equal(answer.status, status, answer.text);
      assert.deepEqual(told(answer), announced, answer.text);
    }
    for (const [status, send] of isSilent) {
      const answer = await send();
      assert.equal(answer.status, status, answer.text);
      assert.deepEqual(told(answer), nothing, answer.text);
    }
  });
  for (const [status, send] of announces.slice(2)) {
    const answer = await send();
    assert.deepEqual([answer.status, told(answer)], [status, nothing]);
  }
});

test('the links of a list that is written as lines stand beside those of the end', async () => {
  const { legacy, client } = await openScene();
  const lines = { accept: 'application/fhir+ndjson' };
  const links = async (caller: Caller) => (await caller.get('Patient', lines)).headers.get('link') ?? '';
  const own = await links(client);
  assert.match(own, /^<.*>; rel="self"/);
  await whileAnnounced(async () => {
    assert.equal(await links(legacy), `${own}, ${announced.link}`);
    assert.equal(await links(client), own);
  });
});

test('an expired legacy token is told of the end, too', async (t) => {
  const own = await openTestService(t, { PRAXIS_LEGACY_TOKEN_SECONDS: '60' });
  const firm = await makeFirm(own, 'maple');
  const vendor = await makeApplication(own, 'Vendor', ['acl/*'], [firm]);
  const legacy = callerOf(firm, await legacyToken(vendor, firm), vendor.legacyKey);
  const scope = ['--application', 'Vendor'];
  await runCommand(own.platform, commands, 'legacy', 'sunset', 'set', '--link', page, '--sunset', end, ...scope);
  own.clock.advance(61_000);
  const answer = await legacy.get('Patient');
  assert.equal(answer.status, 401);
  assert.equal(answer.json.issue[0].code, 'expired');
  assert.deepEqual(told(answer), announced);
});

test('terms of a firm or an application are told to nobody else, and the narrowest counts', async () => {
  const scene = await openScene();
  const stranger = await openScene();
  await announce('--firm', scene.firm.prefix);
  const wrong = { password: 'wrong' };
  assert.deepEqual(told(await login(scene)), onTokenAnswers);
  assert.deepEqual(told(await scene.legacy.get('Patient')), announced);
  assert.deepEqual(told(await login(scene, wrong)), nothing, 'a wrong password learns nothing of the firm');
  assert.deepEqual(told(await stranger.legacy.get('Patient')), nothing);
  const intruder = callerOf(
    scene.firm,
    (stranger.legacy.headers['authorization'] ?? '').slice(7),
    stranger.vendor.legacyKey,
  );
  const refused = await intruder.get('Patient');
  assert.deepEqual([refused.status, told(refused)], [403, nothing]);
  await steer('sunset', 'clear', '--firm', scene.firm.prefix);
  await announce('--application', scene.vendor.application.name);
  assert.deepEqual(told(await login(scene, wrong)), onTokenAnswers, 'the key has shown the application');
  assert.deepEqual(told(await login(scene, { grant_type: 'magic' })), onTokenAnswers);
  assert.deepEqual(told(await login(scene, wrong, stranger.vendor.legacyKey)), nothing);
  for (const form of [wrong, { grant_type: 'magic' }])
    assert.deepEqual(
      told(await login(scene, form, scene.vendor.clientKey)),
      nothing,
      'a key of the other flow has not',
    );
  assert.deepEqual(told(await scene.legacy.get('Patient')), announced);
  const extension = ['--application', scene.vendor.application.name, '--firm', scene.firm.prefix];
  await steer('sunset', 'set', '--link', 'https://example.com/extended', ...extension);
  assert.equal(
    (await scene.legacy.get('Patient')).headers.get('link'),
    '<https://example.com/extended>; rel="deprecation"',
  );
  await steer('sunset', 'clear', ...extension);
  await steer('sunset', 'clear', '--application', scene.vendor.application.name);
  assert.deepEqual(told(await scene.legacy.get('Patient')), nothing);
});

test('a brown-out acts on the next request of every node, tells its end, and is over by the clock', async () => {
  const scene = await openScene();
  const stranger = await openScene();
  const { firm, vendor, legacy, elsewhere, client } = scene;
  const beforeMs = service.clock.now();
  const at = (minutes: number): string => secondOf(beforeMs + minutes * 60_000);
  const refresh = { grant_type: 'refresh_token', refresh_token: (await login(scene)).json.refresh_token };
  const scope = ['--firm', firm.prefix, '--application', vendor.application.name];
  await steer('brown-out', 'add', '--from', at(10), '--until', at(70), ...scope);
  for (const caller of [legacy, elsewhere]) assert.equal((await caller.get('Patient')).status, 200, 'not yet');
  service.clock.advance(10 * 60_000);
  const words = `are paused until ${at(70)} (planned brown-out): move to client credentials, which open the same`;
  for (const caller of [legacy, elsewhere, legacy]) {
    const answer = await caller.get('Patient');
    assertRefused(answer, {
      status: 503,
      error: 'legacy-paused',
      issue: 'transient',
      diagnostics: `Legacy tokens ${words}`,
    });
    assert.equal(answer.headers.get('retry-after'), '3600');
  }
  const written = await legacy.send('PUT', 'Patient/never', { ...patient('Never'), id: 'never' });
  assert.equal(written.status, 503);
  for (const form of [{}, refresh]) {
    const answer =
      form === refresh ? await postForm(firm.legacyTokenUrl, refresh, vendor.legacyKey) : await login(scene);
    assert.equal(answer.status, 503);
    assert.deepEqual(answer.json, {
      error: 'temporarily_unavailable',
      error_description: `password and refresh_token grants ${words}`,
    });
    assert.equal(answer.headers.get('retry-after'), '3600');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
  assert.equal((await login(scene, { password: 'wrong' })).json.error, 'invalid_grant', 'credentials come first');
  assert.equal((await client.get('Patient')).status, 200, 'the other flow goes on');
  assert.equal((await stranger.legacy.get('Patient')).status, 200, 'so do others');
  service.clock.advance(60 * 60_000 - 1);
  assert.equal((await legacy.get('Patient')).headers.get('retry-after'), '1');
  service.clock.advance(1);
  for (const caller of [legacy, elsewhere]) assert.equal((await caller.get('Patient')).status, 200, 'back again');
  assert.equal((await legacy.get('Patient/never')).status, 404);
  assert.equal((await login(scene)).status, 200);
  assert.ok(captured.lines.some((line) => line.includes('"status":503')));
  assert.ok(!captured.lines.some((line) => line.includes('request failed')), 'what is planned is no fault');
});

test('a brown-out that is added while it runs, and one that is removed, act on the next request of every node', async () => {
  const { legacy, elsewhere } = await openScene();
  const at = (minutes: number): string => new Date(service.clock.now() + minutes * 60_000).toISOString();
  const { output } = await steer('brown-out', 'add', '--from', at(-5), '--until', at(5));
  const requests = ['Patient', 'Patient/one', 'Patient?colour=red', '_history', 'Patient?_summary=count'];
  for (const request of requests)
    for (const caller of [legacy, elsewhere]) assert.equal((await caller.get(request)).status, 503, request);
  const [, id = ''] = /^brown-out (\d+) /.exec(output[0] ?? '') ?? [];
  await steer('brown-out', 'remove', id);
  for (const caller of [elsewhere, legacy]) assert.equal((await caller.get('Patient')).status, 200);
});

test('after the end, tokens and grants are refused with the way out, and by the clock alone', async () => {
  const scene = await openScene();
  const { firm, vendor, legacy, elsewhere, client } = scene;
  const refresh = { grant_type: 'refresh_token', refresh_token: (await login(scene)).json.refresh_token };
  const endMs = service.clock.now() + 60_000;
  const scope = ['--application', vendor.application.name];
  await steer('sunset', 'set', '--link', page, '--sunset', new Date(endMs).toISOString(), ...scope);
  for (const caller of [legacy, elsewhere]) assert.equal((await caller.get('Patient')).status, 200, 'not yet');
  service.clock.advance(60_000);
  const words = `ended at ${secondOf(endMs)}: move to client credentials, which open the same, see ${page}`;
  for (const caller of [legacy, elsewhere]) {
    const answer = await caller.get('Patient');
    assertRefused(answer, {
      status: 401,
      error: 'legacy-ended',
      issue: 'expired',
      diagnostics: `Legacy tokens ${words}`,
      challenge: `Bearer realm="sandbox", error="invalid_token", error_description="Legacy tokens ${words}"`,
    });
    assert.equal(answer.headers.get('sunset'), new Date(endMs).toUTCString());
    assert.match(answer.headers.get('link') ?? '', /; rel="sunset"$/);
  }
  for (const answer of [await login(scene), await postForm(firm.legacyTokenUrl, refresh, vendor.legacyKey)]) {
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.json, {
      error: 'unauthorized_client',
      error_description: `password and refresh_token grants ${words}`,
      error_uri: page,
    });
    assert.match(answer.headers.get('link') ?? '', /rel="sunset", <.*\/token>; rel="successor-version"$/);
  }
  assert.equal((await client.get('Patient')).status, 200);
  await steer('sunset', 'clear', ...scope);
  for (const caller of [legacy, elsewhere]) assert.equal((await caller.get('Patient')).status, 200, 'taken back');
});

test('an end that is set into the past acts on the next request of every node', async () => {
  const { legacy, elsewhere, vendor } = await openScene();
  const past = ['--deprecated', '2026-01-01', '--sunset', '2026-02-01', '--link', page];
  const scope = ['--application', vendor.application.name];
  await steer('sunset', 'set', ...past, ...scope);
  for (const caller of [legacy, elsewhere]) assert.equal((await caller.get('Patient')).status, 401);
  await steer('sunset', 'clear', ...scope);
});
