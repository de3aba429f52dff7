/** Records by the client, against the service: refusals first, then what each call does. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  AwaitingAcceptanceError,
  type CapabilityStatement,
  connect,
  escapeValue,
  ForbiddenError,
  GoneError,
  InvalidError,
  matchAny,
  type New,
  NotFoundError,
  OutdatedError,
  type RequestEvent,
  type ResponseEvent,
} from '@praxis/client';
import { errorTable } from '../../server/src/base/errors.ts';
import { commands } from '../../server/src/cli/commands.ts';
import { oauthErrorTable } from '../../server/src/oauth/errors.ts';
import { runCommand } from '../../server/test/cli/platform.ts';
import { makeApplication, makeFirm } from '../../server/test/support/service.ts';
import { fixes } from '../src/fixes.ts';
import { clientCredentialsOf, openWorld, recordFetch } from './world.ts';

const world = await openWorld({ after });
const { service, maple, caller, praxis, clock } = world;

const newPatient = (family: string): New<'Patient'> => ({ resourceType: 'Patient', name: [{ family }] });

test('an error tells code, issue, request id and what to do', async () => {
  await assert.rejects(praxis.search('Patient', { birthdate: 'secret-day' }).first(), (error) => {
    assert.ok(error instanceof InvalidError);
    assert.deepEqual([error.status, error.code, error.issue.code], [400, 'search-invalid', 'invalid']);
    assert.deepEqual([error.method, error.path, error.name], ['POST', 'Patient/_search', 'InvalidError']);
    assert.equal(error.fix, fixes['search-invalid']);
    assert.equal(typeof error.requestId, 'string');
    return true;
  });
  await assert.rejects(praxis.read('Patient', 'nobody'), (error) => {
    assert.ok(error instanceof NotFoundError);
    assert.deepEqual([error.status, error.code], [404, 'resource-not-found']);
    return true;
  });
});

test('what to do is told of codes that there are', () => {
  const own = ['no-answer', 'not-fhir', 'foreign-link', 'path-invalid', 'awaiting-acceptance', 'answer-withheld'];
  const known = new Set<string>([...own, ...Object.keys(errorTable), ...Object.keys(oauthErrorTable)]);
  assert.deepEqual(
    Object.keys(fixes).filter((code) => !known.has(code)),
    [],
  );
});

test('a base that is no URL of http is refused when it is connected', () => {
  assert.throws(() => connect({ base: 'ftp://example.com', credentials: world.credentials }), TypeError);
  assert.throws(() => connect({ base: 'maple', credentials: world.credentials }), TypeError);
});

test('a base that the service does not call itself by is refused where a link is to be followed', async () => {
  for (const family of ['Linkone', 'Linktwo']) await praxis.create(newPatient(family));
  const base = maple.base.replace('127.0.0.1', 'localhost');
  const elsewhere: typeof fetch = (input, init) => fetch(String(input).replace('localhost', '127.0.0.1'), init);
  const other = connect({ base, credentials: { ...world.credentials }, clock, fetch: elsewhere });
  await assert.rejects(other.search('Patient', { family: 'link', _count: 1 }).take(2), (error) => {
    assert.ok(error instanceof InvalidError);
    assert.equal(error.code, 'foreign-link');
    return true;
  });
});

test('a search follows its pages, and no URL holds what was searched for', async () => {
  const families = ['Paging-a', 'Paging-b', 'Paging-c', 'Paging-d', 'Paging-e'];
  for (const family of families) await praxis.create(newPatient(family));
  const { fetch, requests } = recordFetch();
  const recorded = connect({ base: maple.base, credentials: world.credentials, clock, fetch });
  const search = recorded.search('Patient', { family: 'paging', _sort: 'family', _count: 2 });
  assert.equal(requests.length, 0);
  const searches = () => requests.filter(({ url }) => url.includes('/Patient'));
  const found: (string | undefined)[] = [];
  for await (const { name } of search) found.push(name?.[0]?.family);
  assert.deepEqual(found, families);
  assert.equal(searches().length, 3);
  for (const { url, method } of searches()) assert.deepEqual([method, url], ['POST', `${maple.base}/Patient/_search`]);

  assert.equal(await search.count(), 5);
  assert.equal((await search.first())?.name?.[0]?.family, 'Paging-a');
  assert.deepEqual(
    (await search.take(3)).map(({ name }) => name?.[0]?.family),
    families.slice(0, 3),
  );
  assert.deepEqual(await search.take(0), []);
  const sizes: number[] = [];
  for await (const page of search.pages()) sizes.push(page.matches.length);
  assert.deepEqual(sizes, [2, 2, 1]);
});

test('alternatives, lists, chains, _has, includes and parameters of the practice', async () => {
  const patient = await praxis.create(newPatient('Chain, the first'));
  const other = await praxis.create(newPatient('Unchained'));
  const about = (id: string, text: string) =>
    praxis.create({ resourceType: 'Condition', subject: { reference: `Patient/${id}` }, code: { text } });
  const condition = await about(patient.id, 'Knee');
  await about(other.id, 'Hand');
  const idsOf = async (search: AsyncIterable<{ readonly id: string }>) =>
    (await Array.fromAsync(search)).map(({ id }) => id);

  assert.deepEqual(await idsOf(praxis.search('Patient', { family: matchAny('Chain, the first', 'nobody') })), [
    patient.id,
  ]);
  assert.deepEqual(await idsOf(praxis.search('Patient', { 'family:exact': escapeValue('Chain, the first') })), [
    patient.id,
  ]);
  assert.deepEqual(await idsOf(praxis.search('Patient', { family: ['chain', 'un'] })), []);
  assert.deepEqual(await idsOf(praxis.search('Condition', { patient: { family: 'chain' } })), [condition.id]);
  assert.deepEqual(await idsOf(praxis.search('Condition', { subject: { Patient: { family: 'chain' } } })), [
    condition.id,
  ]);
  const has = { Condition: { patient: { 'code:text': 'knee' } } };
  assert.deepEqual(await idsOf(praxis.search('Patient', { _has: has })), [patient.id]);
  const [page] = await Array.fromAsync(
    praxis.search('Condition', { patient: patient.id, _include: 'Condition:patient', _total: 'accurate' }).pages(),
  );
  assert.deepEqual([page?.matches.length, page?.included[0]?.id, page?.total], [1, patient.id, 1]);
  assert.deepEqual(await idsOf(praxis.search('Patient', {}, { extra: { family: 'unchained' } })), [other.id]);
});

test('an update writes what differs, and loses nothing of what others write meanwhile', async () => {
  const { id } = await praxis.create({ ...newPatient('Update'), gender: 'female', active: true });
  let calls = 0;
  const updated = await praxis.update('Patient', id, async (patient) => {
    calls += 1;
    if (calls === 1)
      await caller.send('PATCH', `Patient/${id}`, [{ op: 'add', path: '/birthDate', value: '1990-12-10' }], {
        'content-type': 'application/json-patch+json',
      });
    patient.gender = 'other';
    delete patient.active;
  });
  assert.equal(calls, 2);
  assert.deepEqual(
    [updated.gender, updated.birthDate, updated.active, updated.meta.versionId],
    ['other', '1990-12-10', undefined, '3'],
  );
  const same = await praxis.update('Patient', id, (patient) => ({ ...patient }));
  assert.deepEqual(same, updated);
});

test('an update gives up after as many versions as it may try', async () => {
  const { id } = await praxis.create(newPatient('Contended'));
  let calls = 0;
  const contended = praxis.update(
    'Patient',
    id,
    async (patient) => {
      calls += 1;
      await caller.send('PUT', `Patient/${id}`, { ...newPatient(`Other${calls}`), id });
      patient.active = true;
    },
    { attemptsMax: 3 },
  );
  await assert.rejects(contended, OutdatedError);
  assert.equal(calls, 3);
  await assert.rejects(
    praxis.update('Patient', id, () => Promise.reject(new Error('no change'))),
    { message: 'no change' },
  );
});

test('an update by an application that sees some elements leaves the others', async () => {
  const { id } = await praxis.create({ ...newPatient('Hidden'), birthDate: '1990-12-10', gender: 'female' });
  const some = await makeApplication(service, 'Some', ['acl/pat_r_name_dob_gen', 'acl/pat_u'], [maple]);
  const narrow = connect({ base: maple.base, credentials: clientCredentialsOf(some), clock });
  await praxis.update('Patient', id, (patient) => {
    patient.address = [{ city: 'Springfield' }];
  });
  const seen = await narrow.read('Patient', id);
  assert.deepEqual([seen.birthDate, seen.address], ['1990-12-10', undefined]);
  await narrow.update('Patient', id, (patient) => {
    patient.birthDate = '1991-12-10';
  });
  const whole = await praxis.read('Patient', id);
  assert.deepEqual([whole.birthDate, whole.address], ['1991-12-10', [{ city: 'Springfield' }]]);
  await assert.rejects(narrow.replace(seen), ForbiddenError);
});

test('replace, patch, delete and history', async () => {
  const created = await praxis.create(newPatient('Replaced'));
  const replaced = await praxis.replace({ ...created, active: true });
  assert.deepEqual([replaced.active, replaced.meta.versionId], [true, '2']);
  await assert.rejects(praxis.replace({ ...created, active: false }), OutdatedError);
  const patched = await praxis.patch('Patient', created.id, [{ op: 'replace', path: '/active', value: false }]);
  assert.deepEqual([patched?.active, patched?.meta.versionId], [false, '3']);
  const stale = { versionId: '2' };
  await assert.rejects(praxis.patch('Patient', created.id, [{ op: 'remove', path: '/active' }], stale), OutdatedError);
  await assert.rejects(praxis.delete('Patient', created.id, stale), OutdatedError);
  const versions = (await Array.fromAsync(praxis.history('Patient', created.id))).map(({ meta }) => meta.versionId);
  assert.deepEqual(versions, ['3', '2', '1']);
  await praxis.delete('Patient', created.id);
  await assert.rejects(praxis.read('Patient', created.id), (error) => {
    assert.ok(error instanceof GoneError);
    assert.equal(error.code, 'resource-deleted');
    return true;
  });
});

test('a create that finds its resource creates nothing, and a key of the caller is kept', async () => {
  const first = await praxis.create(newPatient('Onlyonce'), { ifNoneExist: { family: 'onlyonce' } });
  const second = await praxis.create(newPatient('Onlyonce'), { ifNoneExist: { family: 'onlyonce' } });
  assert.equal(second.id, first.id);
  const idempotencyKey = 'stored-before';
  const [one, two] = [
    await praxis.create(newPatient('Keyed'), { idempotencyKey }),
    await praxis.create(newPatient('Keyed'), { idempotencyKey }),
  ];
  assert.deepEqual(two, one);
  await assert.rejects(praxis.create(newPatient('Another'), { idempotencyKey }), (error) => {
    assert.ok(error instanceof InvalidError);
    assert.equal(error.code, 'key-reused');
    return true;
  });
});

test('who may create and not read gets what was sent, with its id', async () => {
  const blind = await makeApplication(service, 'Blind', ['acl/pat_c', 'acl/pat_u'], [maple]);
  const connection = connect({ base: maple.base, credentials: clientCredentialsOf(blind), clock });
  const created = await connection.create(newPatient('Blind'));
  assert.deepEqual([created.name, created.meta.versionId], [newPatient('Blind').name, '1']);
  assert.equal((await praxis.read('Patient', created.id)).name?.[0]?.family, 'Blind');
});

test('a write that waits for the practice is an error that names the Task', async () => {
  const oak = await makeFirm(service, 'oak');
  const vendor = await makeApplication(service, 'Coverages', ['acl/*'], [oak]);
  await runCommand(service.platform, commands, 'intake', 'require', oak.prefix, 'Coverage');
  const connection = connect({ base: oak.base, credentials: clientCredentialsOf(vendor), clock });
  const { id } = await connection.create(newPatient('Covered'));
  const covered = connection.create({
    resourceType: 'Coverage',
    status: 'active',
    beneficiary: { reference: `Patient/${id}` },
    payor: [{ display: 'Insurer' }],
  });
  const error = await covered.catch((reason: unknown) => reason);
  assert.ok(error instanceof AwaitingAcceptanceError);
  assert.deepEqual([error.status, error.code], [202, 'awaiting-acceptance']);
  assert.equal((await connection.read('Task', error.task)).id, error.task);

  const batch = connection.batch();
  const entry = batch.create({
    resourceType: 'Coverage',
    status: 'active',
    beneficiary: { reference: `Patient/${id}` },
    payor: [{ display: 'Another insurer' }],
  });
  assert.ok((await batch.send()).findError(entry) instanceof AwaitingAcceptanceError);
});

test('a transaction is whole or nothing, and its entries refer to each other', async () => {
  const transaction = praxis.transaction();
  const patient = transaction.create(newPatient('Together'));
  const condition = transaction.create({
    resourceType: 'Condition',
    subject: patient.reference,
    code: { text: 'Knee' },
  });
  const answers = await transaction.send();
  assert.equal(answers.get(condition).subject.reference, `Patient/${answers.get(patient).id}`);
  assert.deepEqual([answers.get(patient).meta.versionId, answers.findError(patient)], ['1', undefined]);

  const refused = praxis.transaction();
  refused.create(newPatient('Nothing'));
  refused.delete('Patient', answers.get(patient).id);
  refused.replace({ ...answers.get(condition) }, { versionId: '9' });
  await assert.rejects(refused.send(), OutdatedError);
  assert.equal(await praxis.search('Patient', { family: 'nothing' }).count(), 0);
});

test('entries of a batch succeed or fail on their own', async () => {
  const saved = await praxis.create(newPatient('Batched'));
  const batch = praxis.batch();
  const read = batch.read('Patient', saved.id);
  const missing = batch.read('Patient', 'nobody');
  const found = batch.search('Patient', { family: matchAny('Batched', 'nobody'), _count: 5 });
  const patched = batch.patch('Patient', saved.id, [{ op: 'add', path: '/gender', value: 'other' }]);
  const existing = batch.create(newPatient('Batched'), { ifNoneExist: { family: 'batched' } });
  const wrong = batch.create({ ...newPatient('Wrong'), birthDate: 'yesterday' });
  const removed = batch.delete('Patient', (await praxis.create(newPatient('Removed'))).id);
  const answers = await batch.send();
  assert.equal(answers.get(read).id, saved.id);
  assert.throws(
    () => answers.get(missing),
    (error) => {
      assert.ok(error instanceof NotFoundError);
      assert.deepEqual([error.code, error.method, error.path], ['resource-not-found', 'GET', 'Patient/nobody']);
      return true;
    },
  );
  assert.equal(answers.get(found).entry?.[0]?.resource?.id, saved.id);
  assert.equal(answers.get(patched)?.gender, 'other');
  assert.equal(answers.get(existing).id, saved.id);
  assert.equal(answers.findError(wrong)?.code, 'resource-invalid');
  assert.equal(answers.get(removed), undefined);
});

test('hooks see each request, add headers, and are told no query, body, token or key', async () => {
  const events: (RequestEvent | ResponseEvent)[] = [];
  const { fetch, requests } = recordFetch();
  const traced = connect({
    base: maple.base,
    credentials: { ...world.credentials },
    clock,
    fetch,
    hooks: {
      headers: () => ({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }),
      request: (event) => void events.push(event),
      response: (event) => void events.push(event),
    },
  });
  await traced.search('Patient', { family: 'planted-value' }).first();
  const told = events.map((event) => [
    event.kind,
    event.method,
    event.path,
    'status' in event ? event.status : undefined,
  ]);
  assert.deepEqual(told, [
    ['token', 'GET', '.well-known/smart-configuration', undefined],
    ['token', 'GET', '.well-known/smart-configuration', 200],
    ['token', 'POST', '/auth/realms/sandbox/protocol/openid-connect/token', undefined],
    ['token', 'POST', '/auth/realms/sandbox/protocol/openid-connect/token', 200],
    ['data', 'POST', 'Patient/_search', undefined],
    ['data', 'POST', 'Patient/_search', 200],
  ]);
  for (const { headers } of requests) assert.match(headers.get('traceparent') ?? '', /^00-/);
  const { clientSecret = '', apiKey } = world.credentials;
  for (const secret of ['planted-value', clientSecret, apiKey]) assert.ok(!JSON.stringify(events).includes(secret));
});

test('any path below the base', async () => {
  const { fhirVersion } = await praxis.get<CapabilityStatement>('metadata');
  assert.equal(fhirVersion, '4.0.1');
});
