/** How existing clients get and renew tokens, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  type Answer,
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/pat_s', 'acl/pat_c'], [maple]);
const url = clientTokenUrl(service);

function legacy(form: Readonly<Record<string, string>>): Promise<Answer> {
  return postForm(maple.legacyTokenUrl, form, vendor.legacyKey);
}

test('clients tokens: a new legacy token before every call', async () => {
  const tokens = new Set<string>();
  for (let call = 1; call <= 20; call += 1) {
    const { status, json } = await legacy(passwordForm(vendor, maple));
    assert.equal(status, 200);
    tokens.add(json.access_token);
    assert.equal((await callerOf(maple, json.access_token, vendor.legacyKey).get('Patient')).status, 200);
  }
  assert.equal(tokens.size, 20);
});

test('clients tokens: a refresh before every call, with access_token and refresh_token read from every answer', async () => {
  let { json } = await legacy(passwordForm(vendor, maple));
  for (let call = 1; call <= 20; call += 1) {
    ({ json } = await legacy({ grant_type: 'refresh_token', refresh_token: json.refresh_token }));
    assert.equal(typeof json.refresh_token, 'string');
    assert.equal((await callerOf(maple, json.access_token, vendor.legacyKey).get('Patient')).status, 200);
  }
});

test('clients tokens: a client that computes the expiry from a missing expires_in renews always, and works', async () => {
  const { json } = await legacy(passwordForm(vendor, maple));
  assert.equal('expires_in' in json, false);
  const expiresAt = service.clock.now() + json.expires_in * 1000;
  assert.equal(service.clock.now() < expiresAt, false);
  assert.equal((await legacy(passwordForm(vendor, maple))).status, 200);
});

test('clients tokens: a client that subtracts 120 s from expires_in has time left', async () => {
  const { json } = await postForm(url, clientForm(vendor), vendor.clientKey);
  const usableSeconds = json.expires_in - 120;
  assert.ok(usableSeconds >= 600);
  service.clock.advance(usableSeconds * 1000);
  assert.equal((await callerOf(maple, json.access_token, vendor.clientKey).get('Patient')).status, 200);
});

test('clients tokens: a client that sends no x-api-key with its token request gets a token, and is told why it fails', async () => {
  const { status, json } = await postForm(url, clientForm(vendor));
  assert.equal(status, 200);
  const answer = await callerOf(maple, json.access_token, vendor.clientKey).get('Patient');
  assert.equal(answer.status, 401);
  assert.match(answer.text.slice(0, 200), /was requested without x-api-key/);
});

test('clients errors: 401 leads to a new token and one retry', async () => {
  const send = async (token: string) => callerOf(maple, token, vendor.clientKey).get('Patient');
  const renew = async () => (await postForm(url, clientForm(vendor), vendor.clientKey)).json.access_token;
  const token = await renew();
  service.clock.advance(900_000);
  assert.equal((await send(token)).status, 401);
  assert.equal((await send(await renew())).status, 200);
});

test('clients errors: 429 says how long to wait, in Retry-After and in words', async () => {
  const limited = await openTestService({ after }, { PRAXIS_RATE_LIMIT: '2' }); // a token and a request
  const firm = await makeFirm(limited, 'maple');
  const application = await makeApplication(limited, 'Vendor', ['acl/pat_s'], [firm]);
  const caller = await openCaller(limited, application, firm);
  assert.equal((await caller.get('Patient')).status, 200);
  const answer = await caller.get('Patient');
  assert.equal(answer.status, 429);
  assert.match(answer.text.slice(0, 200), /wait 60 s/);
  limited.clock.advance(Number(answer.headers.get('retry-after')) * 1000);
  assert.equal((await caller.get('Patient')).status, 200);
});

test('clients errors: the first 200 characters of a refusal tell a person what is wrong', async () => {
  const caller = await openCaller(service, vendor, maple);
  const cases: readonly (readonly [answer: Promise<Answer>, words: RegExp])[] = [
    [caller.get('Encounter'), /Encounter search needs acl\/enc_s/],
    [caller.get('Patient?birthday=2001'), /birthday is not a search parameter of Patient/],
    [caller.get('Patient?birthdate=yesterday'), /birthdate takes a date such as 2013/],
    [caller.send('POST', 'Patient', { resourceType: 'Patient', gender: 'f' }), /Patient\.gender: /],
    [caller.send('POST', 'Patient', '{"resourceType":'), /\(line 1, column 17\)/],
    [callerOf(maple, 'x', vendor.clientKey).get('Patient'), /Bearer token is malformed/],
    [postForm(maple.legacyTokenUrl, { grant_type: 'password' }, vendor.legacyKey), /username is missing/],
  ];
  for (const [answer, words] of cases) assert.match((await answer).text.slice(0, 200), words);
});
