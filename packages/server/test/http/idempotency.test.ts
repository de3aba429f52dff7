/** The header Idempotency-Key, and $write-outcome (docs/decisions/0173). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { sql } from '../../src/database/sql.ts';
import { keyKeptMs } from '../../src/storage/idempotency.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const { database } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const application = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const full = await openCaller(service, application, maple);
const atCedar = await openCaller(service, application, cedar);
const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [maple]), maple);
const narrow = await openCaller(service, await makeApplication(service, 'Narrow', ['acl/pat_s'], [maple]), maple);

const key = (name: string): Record<string, string> => ({ 'idempotency-key': `"${name}"` });

async function versions(): Promise<number> {
  return (await tenantRows(owner)).resource_version?.rows ?? 0;
}

/** An answer without what each request has of its own. */
function whole({ status, headers, text }: Answer): object {
  const own = ['date', 'x-request-id', 'idempotent-replayed', 'connection', 'keep-alive'];
  return { status, text, headers: [...headers].filter(([name]) => !own.includes(name)) };
}

async function assertReplayed(first: Answer, again: Answer): Promise<void> {
  assert.equal(first.headers.get('idempotent-replayed'), null);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(whole(again), whole(first));
}

async function outcome(caller: Caller, name: string): Promise<Record<string, unknown>> {
  const { status, json, text } = await caller.get(`$write-outcome?key=${encodeURIComponent(name)}`);
  assert.equal(status, 200, text);
  return Object.fromEntries(
    json.parameter.map(({ name: part, ...value }: { name: string }) => [part, Object.values(value)[0]]),
  );
}

test('malformed keys are refused before anything is done', async () => {
  const before = await versions();
  const form =
    'must be printable ASCII such as 8e03978e-40d5-43dd-bc93-6894a57f9324; with spaces, commas or semicolons it must be in double quotes (RFC 8941)';
  const refusals: readonly (readonly [value: string, problem: string])[] = [
    ['two words', form],
    ['a,b', form],
    ['a;b=1', form],
    ['a\\b', form],
    ['caf\u00e9', form],
    ['""', 'is empty: send a key such as 8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"open', form],
    ['"a"b"', form],
    ['"a\\n"', form],
    ['"a", "b"', form],
    ['"a";b=1', form],
    [`"${'x'.repeat(256)}"`, 'is longer than 255 characters'],
  ];
  for (const [value, problem] of refusals) {
    assertRefused(await full.send('POST', 'Patient', patient('A'), { 'idempotency-key': value }), {
      status: 400,
      error: 'header-invalid',
      issue: 'value',
      diagnostics: `Idempotency-Key ${problem}`,
      expression: ['Idempotency-Key'],
    });
  }
  assert.equal(await versions(), before);
});

test('with quotes and without, a key is the same one', async () => {
  for (const [first, second] of [
    ['plain-1', '"plain-1"'],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['a+b/c=', '"a+b/c="'],
  ] as const) {
    const made = await full.send('POST', 'Patient', patient('Once'), { 'idempotency-key': first });
    const again = await full.send('POST', 'Patient', patient('Once'), { 'idempotency-key': second });
    assert.deepEqual([made.status, again.status, again.text], [201, 201, made.text]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
  }
});

test('access comes first: a key opens nothing, and a refused request does not use it up', async () => {
  const before = await versions();
  assert.equal((await narrow.send('POST', 'Patient', patient('A'), key('narrow'))).status, 403);
  assert.equal((await narrow.send('POST', 'Patient', patient('A'), { 'idempotency-key': 'two words' })).status, 403);
  assert.equal((await full.send('POST', 'Patient', { resourceType: 'Patient', name: 1 }, key('mended'))).status, 400);
  assert.equal(await versions(), before);
  assert.deepEqual(await outcome(full, 'mended'), { outcome: 'none' });
  assert.equal((await full.send('POST', 'Patient', patient('Mended'), key('mended'))).status, 201);
});

test('a key belongs to one application at one firm', async () => {
  const first = await full.send('POST', 'Patient', patient('Own'), key('own'));
  for (const caller of [other, atCedar]) {
    assert.deepEqual(await outcome(caller, 'own'), { outcome: 'none' });
    const theirs = await caller.send('POST', 'Patient', patient('Own'), key('own'));
    assert.equal(theirs.status, 201);
    assert.equal(theirs.headers.get('idempotent-replayed'), null);
    assert.notEqual(theirs.json.id, first.json.id);
  }
});

test('another body, method, URL or precondition with the same key is refused', async () => {
  const { json } = await full.send('POST', 'Patient', patient('First'), key('reused'));
  const before = await versions();
  const body = { ...patient('First'), id: json.id };
  const refused = [
    await full.send('POST', 'Patient', patient('Second'), key('reused')),
    await full.send('PUT', `Patient/${json.id}`, body, key('reused')),
    await full.send('POST', 'Patient?_format=json', patient('First'), key('reused')),
    await full.send('POST', 'Patient', patient('First'), { ...key('reused'), 'if-none-exist': 'family=First' }),
    await full.send('DELETE', `Patient/${json.id}`, undefined, key('reused')),
  ];
  for (const answer of refused) {
    assertRefused(answer, {
      status: 422,
      error: 'key-reused',
      issue: 'conflict',
      diagnostics:
        'Idempotency-Key was used for another request (method, URL, preconditions or body differ): take a new key for each request',
      expression: ['Idempotency-Key'],
    });
  }
  assert.equal(await versions(), before);
});

test('every kind of write is answered as the first time, and has one effect', async () => {
  const { id } = (await full.send('POST', 'Patient', patient('Written'))).json;
  const mrn = 'urn:example:mrn|1';
  const identified = patient('If', { identifier: [{ system: 'urn:example:mrn', value: '1' }] });
  const patch = { 'content-type': 'application/json-patch+json' };
  const meta = { resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta: { tag: [{ code: 'x' }] } }] };
  const entry = { resource: patient('Entry'), request: { method: 'POST', url: 'Patient' } };
  const read = { request: { method: 'GET', url: `Patient/${id}` } };
  const failing = {
    resource: { resourceType: 'Patient', id: 'x', name: 1 },
    request: { method: 'PUT', url: 'Patient/x' },
  };
  const bundle = (type: string, ...more: object[]) => ({ resourceType: 'Bundle', type, entry: [entry, read, ...more] });
  const writes: readonly (readonly [method: string, path: string, body: unknown, headers: Record<string, string>])[] = [
    ['POST', 'Patient', patient('New'), {}],
    ['POST', 'Patient', patient('New'), { prefer: 'return=minimal' }],
    ['POST', 'Patient', identified, { 'if-none-exist': `identifier=${mrn}` }],
    ['PUT', `Patient/${id}`, { ...patient('Put'), id }, {}],
    ['PUT', `Patient?identifier=${mrn}`, identified, {}],
    ['PATCH', `Patient/${id}`, JSON.stringify([{ op: 'add', path: '/active', value: true }]), patch],
    ['POST', `Patient/${id}/$meta-add`, meta, {}],
    ['POST', '', bundle('transaction'), {}],
    ['POST', '', bundle('batch', failing), { prefer: 'return=representation' }],
    ['DELETE', `Patient?identifier=${mrn}`, undefined, {}],
    ['DELETE', `Patient/${id}`, undefined, {}],
  ];
  for (const [index, [method, path, body, headers]] of writes.entries()) {
    const before = await versions();
    const sent = { ...headers, ...key(`kind ${index} \\"\\\\`) };
    const first = await full.send(method, path, body, sent);
    assert.ok(first.status < 300, first.text);
    const once = await versions();
    await assertReplayed(first, await full.send(method, path, body, sent));
    assert.equal(await versions(), once, `${method} ${path}`);
    assert.equal(once - before, 1, `${method} ${path}`);
    assert.equal((await outcome(full, `kind ${index} "\\`)).outcome, 'done');
  }
});

test('in the ledger a repeated answer is a read, beside the write that was done once', async () => {
  const { json } = await full.send('POST', 'Patient', patient('Told'), key('told'));
  await full.send('POST', 'Patient', patient('Told'), key('told'));
  await service.service.parts.ledger.flush();
  const events = await full.get(`AuditEvent?entity=Patient/${json.id}`);
  const kinds = events.json.entry.map(({ resource }: { resource: { subtype: { code: string }[] } }) =>
    resource.subtype.map(({ code }) => code).join(),
  );
  assert.deepEqual(kinds.toSorted(), ['create', 'read']);
});

test('an answer is repeated in the format that is asked for then', async () => {
  const first = await full.send('POST', 'Patient', patient('Xml'), key('xml'));
  const again = await full.send('POST', 'Patient', patient('Xml'), { ...key('xml'), accept: 'application/fhir+xml' });
  assert.equal(again.status, 201);
  assert.match(again.text, new RegExp(`<Patient .*<id value="${first.json.id}"/>`));
});

test('after a change of rights the first answer is not told again, but what was done is', async () => {
  const changing = await makeApplication(service, 'Changing', ['acl/*'], [maple]);
  const caller = await openCaller(service, changing, maple);
  const first = await caller.send('POST', 'Patient', patient('Secret'), key('rights'));
  const acl = ['acl/pat_c', 'acl/pat_s_name_dob_gen'];
  await authorise(database, service.clock, maple, changing.application, { purpose: 'Less', acl }, entryProblem);
  const again = await caller.send('POST', 'Patient', patient('Secret'), key('rights'));
  assert.equal(again.status, 201);
  assert.equal(again.headers.get('location'), first.headers.get('location'));
  assert.equal(again.json.resourceType, 'OperationOutcome');
  assert.equal(again.text.includes('Secret'), false);
  await authorise(
    database,
    service.clock,
    maple,
    changing.application,
    { purpose: 'Less', acl: ['acl/pat_s'] },
    entryProblem,
  );
  assert.equal((await caller.send('POST', 'Patient', patient('Secret'), key('rights'))).status, 403);
});

test('an answer of more than 1 MiB is not told again, but what was done is', async () => {
  const before = await versions();
  const photo = [{ contentType: 'image/png', data: 'A'.repeat(1_100_000) }];
  const first = await full.send('POST', 'Patient', patient('Long', { photo }), key('long'));
  assert.equal(first.status, 201);
  const again = await full.send('POST', 'Patient', patient('Long', { photo }), key('long'));
  assert.equal(again.status, 201);
  assert.equal(again.headers.get('location'), first.headers.get('location'));
  assert.equal(again.json.resourceType, 'OperationOutcome');
  assert.equal(await versions(), before + 1);
});

test('the outcome of a write can be asked for', async () => {
  const { json, headers } = await full.send('POST', 'Patient', patient('Asked'), key('asked'));
  assert.deepEqual(await outcome(full, 'asked'), {
    outcome: 'done',
    status: 201,
    received: '2026-11-21T09:30:00.000Z',
    location: headers.get('location'),
    versionId: '1',
    lastUpdated: json.meta.lastUpdated,
  });
  assert.deepEqual(await outcome(full, '"asked"'), await outcome(full, 'asked'), 'as the header has it');
  assert.deepEqual(await outcome(full, 'never'), { outcome: 'none' });
  assert.equal((await full.get('$write-outcome')).status, 400);
});

test('twins at the same time have one effect and one answer', async () => {
  const before = await versions();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => full.send('POST', 'Patient', patient('Twin'), key('twin'))),
  );
  assert.equal(await versions(), before + 1);
  assert.ok(answers.every(({ status }) => status === 201 || status === 409));
  assert.equal(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size, 1);
});

test('while the first request is under way the second is told to come again', async () => {
  const first = await full.send('POST', 'Patient', patient('Slow'), key('slow'));
  // A transaction that has taken the key, and does not end: as a slow first request would.
  await database
    .transaction(maple.id, async (tx) => {
      await tx.query(sql`DELETE FROM idempotency_key WHERE firm = ${maple.id}`);
      const again = await full.send('POST', 'Patient', patient('Slow'), key('slow'));
      assertRefused(again, {
        status: 409,
        error: 'conflict',
        issue: 'conflict',
        diagnostics: 'Another request with this Idempotency-Key is under way: repeat this one to get its answer',
      });
      assert.equal(again.headers.get('retry-after'), '1');
      throw new Undone();
    })
    .catch((error: unknown) => assert.ok(error instanceof Undone, String(error)));
  await assertReplayed(first, await full.send('POST', 'Patient', patient('Slow'), key('slow')));
});

class Undone extends Error {}

test('what is kept shows nothing of the answer or the key', async () => {
  await full.send('POST', 'Patient', patient('Visible'), key('Visible-key'));
  const rows = await owner.query<{ text: string }>(
    sql`SELECT concat_ws(' ', encode(key, 'escape'), encode(request, 'escape'), encode(body, 'escape'), facts::text) AS text FROM idempotency_key`,
  );
  assert.ok(rows.length > 0 && rows.every(({ text }) => !text.includes('Visible')));
});

test('after seven days a key is free again, and its row is taken away', async () => {
  const first = await full.send('POST', 'Patient', patient('Week'), key('week'));
  service.clock.advance(keyKeptMs);
  const caller = await openCaller(service, application, maple);
  await assertReplayed(first, await caller.send('POST', 'Patient', patient('Week'), key('week')));
  service.clock.advance(1);
  assert.deepEqual(await outcome(caller, 'week'), { outcome: 'none' });
  const second = await caller.send('POST', 'Patient', patient('Another'), key('week'));
  assert.equal(second.status, 201);
  assert.equal(second.headers.get('idempotent-replayed'), null);
  await service.service.jobs.settle();
  const [left] = await owner.query<{ rows: number }>(sql`SELECT count(*)::int AS rows FROM idempotency_key`);
  assert.deepEqual(left, { rows: 1 });
});
