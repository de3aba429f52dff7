/** Denials name the true next step: who lacks the entry, and in which order they have to act; nothing of other practices. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { setApplicationAcl } from '../../src/tenancy/applications.ts';
import { authorise, setOperatorRows } from '../../src/tenancy/authorisations.ts';
import {
  type Caller,
  callerOf,
  clientForm,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');

interface Held {
  readonly application: readonly string[];
  readonly firm: readonly string[];
  /** Absent: as much as the application holds. */
  readonly token?: string;
  readonly legacy?: true;
}

let made = 0;

async function callerWith({ application: held, firm: acl, token, legacy }: Held): Promise<Caller> {
  made += 1;
  const own = await makeApplication(service, `Application ${made}`, held, [maple, cedar]);
  await authorise(database, clock, maple, own.application, { acl, purpose: 'Test' }, entryProblem);
  if (legacy === true) return callerOf(maple, await legacyToken(own, maple), own.legacyKey);
  const form = { ...clientForm(own), ...(token === undefined ? {} : { scope: token }) };
  const answer = await postForm(clientTokenUrl(service), form, own.clientKey);
  return callerOf(maple, answer.json.access_token, own.clientKey);
}

async function denialOf(caller: Caller, path: string): Promise<string> {
  const { status, json } = await caller.get(path);
  assert.equal(status, 403);
  return json.issue[0].diagnostics;
}

const fromOperator =
  'the application does not hold it: the operator of the service adds it, then the practice grants it';
const both = ['acl/enc_s', 'acl/pat_r'];
const cases: readonly (readonly [name: string, held: Held, step: string])[] = [
  ['nobody holds it', { application: ['acl/enc_s'], firm: ['acl/enc_s'] }, fromOperator],
  ['nobody holds it, legacy', { application: ['acl/enc_s'], firm: ['acl/enc_s'], legacy: true }, fromOperator],
  [
    'the practice lacks it',
    { application: both, firm: ['acl/enc_s'] },
    'the token holds it, the practice has not granted it to the application',
  ],
  [
    'the practice lacks it, legacy',
    { application: both, firm: ['acl/enc_s'], legacy: true },
    'the token holds it, the practice has not granted it to the application',
  ],
  [
    'the token lacks it',
    { application: both, firm: both, token: 'acl/enc_s' },
    'the practice has granted it, the token does not hold it: request a token with it',
  ],
  [
    'token and practice lack it',
    { application: both, firm: ['acl/enc_s'], token: 'acl/enc_s' },
    'the application holds it: the practice grants it to the application, then request a token with it',
  ],
];

for (const [name, held, step] of cases) {
  test(name, async () => {
    const caller = await callerWith(held);
    assert.equal(await denialOf(caller, 'Patient/one'), `Patient read needs acl/pat_r; ${step}`);
  });
}

test('every way to be refused says the same of who acts next', async () => {
  const caller = await callerWith({ application: both, firm: ['acl/enc_s'], token: 'acl/enc_s' });
  const history = await denialOf(caller, 'Patient/_history');
  assert.equal(history, `Patient history needs acl/*; ${fromOperator}`);
  const several = await callerWith({ application: ['acl/pat_r'], firm: ['acl/pat_r'] });
  assert.ok((await denialOf(several, '?_id=one')).endsWith(`another entry to search one of them; ${fromOperator}`));
  const refused = await caller.send('DELETE', 'Patient/one');
  assert.equal(refused.json.issue[0].diagnostics, `Patient delete needs acl/*; ${fromOperator}`);
});

test('what the application has lost, the operator gives back', async () => {
  made += 1;
  const own = await makeApplication(service, `Application ${made}`, both, [maple]);
  const { json } = await postForm(clientTokenUrl(service), clientForm(own), own.clientKey);
  await setApplicationAcl(database, own.application, ['acl/enc_s'], entryProblem);
  assert.equal(
    await denialOf(callerOf(maple, json.access_token, own.clientKey), 'Patient/one'),
    'Patient read needs acl/pat_r; the practice has granted it, the application itself no longer holds it: the operator of the service gives it back',
  );
});

test('what is held by all within limits is said to be limited', async () => {
  made += 1;
  const own = await makeApplication(service, `Application ${made}`, ['acl/pat_r', 'acl/pat_u'], [maple]);
  await setOperatorRows(database, maple, own.application, { pat: { elements: ['name'] } });
  const { json } = await postForm(clientTokenUrl(service), clientForm(own), own.clientKey);
  const caller = callerOf(maple, json.access_token, own.clientKey);
  const refused = await caller.send('PUT', 'Patient/one', { resourceType: 'Patient', id: 'one' });
  assert.equal(
    refused.json.issue[0].diagnostics,
    'PUT replaces the whole Patient, and the application may not read every element of it: use PATCH, or get acl/pat_r; token and practice hold it, within limits that a filter or the operator of the service sets',
  );
});

test('another practice that grants it changes nothing of what is said', async () => {
  const held: Held = { application: both, firm: ['acl/enc_s'] }; // cedar has granted all
  const alone = await makeApplication(service, 'Alone', both, [maple]);
  await authorise(database, clock, maple, alone.application, { acl: held.firm, purpose: 'Test' }, entryProblem);
  const { json } = await postForm(clientTokenUrl(service), clientForm(alone), alone.clientKey);
  const [one, other] = [callerOf(maple, json.access_token, alone.clientKey), await callerWith(held)];
  assert.equal(await denialOf(one, 'Patient/one'), await denialOf(other, 'Patient/one'));
});
