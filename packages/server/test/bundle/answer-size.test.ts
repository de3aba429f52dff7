/**
 * Answers to Bundles are bounded: by their own size, and by that of all that a process has under way. What has no room is
 * refused or left out before anything can fail for it (docs/decisions/0212).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { rowsOfRequest } from '../audit/ledger-rows.ts';
import { patient } from '../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { everyRow } from '../support/tenant-rows.ts';
import { batch, conditionalPost, entry, mrn, post, transaction } from './bundles.ts';

const answerBytesMax = 20_000;
const answersBytesMax = 100_000;
const service = await openTestService(
  { after },
  {
    PRAXIS_BUNDLE_ANSWER_BYTES_MAX: String(answerBytesMax),
    PRAXIS_BUNDLE_ANSWERS_BYTES_MAX: String(answersBytesMax),
  },
);
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const full = await openCaller(service, application, maple);
const { responseBudgets } = service.service.parts;

/** Two of them fit into an answer, three do not. */
const long = { ...patient('Stone'), id: 'long', text: { status: 'generated', div: divOf(8000) } };
assert.equal((await full.send('PUT', 'Patient/long', long)).status, 201);
assert.equal((await full.send('PUT', 'Patient/short', { ...patient('Stone'), id: 'short' })).status, 201);

const read = entry('GET', 'Patient/long');
const representation = { prefer: 'return=representation' };
const tooLarge = new RegExp(
  `^Bundle\\.entry\\[\\d+\\]: The answer to the Bundle would be larger than ${answerBytesMax} bytes`,
);
const noRoom = /^Bundle\.entry\[\d+\]: Other large answers to Bundles are being sent: repeat this in 5 seconds$/;

function divOf(length: number): string {
  return `<div xmlns="http://www.w3.org/1999/xhtml">${'x'.repeat(length)}</div>`;
}

const statuses = ({ json }: Answer): string[] =>
  json.entry.map(({ response }: { response: { status: string } }) => response.status);
const issueOf = (answer: Answer, index: number) => answer.json.entry[index].response.outcome.issue[0];
const versionOf = async (id: string): Promise<number> => Number((await full.get(`Patient/${id}`)).json.meta.versionId);

test('a batch answers as many entries as one answer holds, and refuses further reads in words of its own', async () => {
  const headers = { 'x-request-id': 'reads' };
  const answer = await full.send(
    'POST',
    '',
    batch(read, read, read, entry('GET', 'Patient/short'), entry('HEAD', 'Patient/long'), post(patient('Birch'))),
    headers,
  );
  assert.equal(answer.status, 200);
  const refused = '422 Unprocessable Content';
  assert.deepEqual(statuses(answer), ['200 OK', '200 OK', refused, refused, '200 OK', '201 Created']);
  assert.deepEqual(answer.json.entry[1].resource, (await full.get('Patient/long')).json);
  for (const index of [2, 3]) {
    const { code, diagnostics, details, expression } = issueOf(answer, index);
    assert.equal(code, 'too-costly');
    assert.match(diagnostics, tooLarge);
    assert.equal(details.coding[0].code, 'answer-too-large');
    assert.deepEqual(expression, [`Bundle.entry[${index}]`]);
  }
  const reads = (await rowsOfRequest(service, 'reads')).filter(({ interaction }) => interaction === 'read');
  const told = reads.map(({ what, outcome, shown, reason }) => [what, outcome, shown, reason]);
  assert.deepEqual(told, [
    ['Patient/long/', 0, 1, null],
    ['Patient/long/', 0, 1, null],
    ['Patient/long/', 4, 0, 'answer-too-large'],
    ['Patient/short/', 4, 0, 'answer-too-large'],
    ['Patient/long/', 0, 1, null],
  ]);
});

for (const [how, more] of Object.entries({ alone: {}, 'with an Idempotency-Key': { 'idempotency-key': '"k1"' } })) {
  test(`what a batch writes stays written, ${how}: what there is no room to show is left out`, async () => {
    const before = await versionOf('long');
    const writes = ['a', 'b', 'c'].map((family) => entry('PUT', 'Patient/long', { ...long, ...patient(family + how) }));
    const answer = await full.send('POST', '', batch(...writes), { ...representation, ...more });
    assert.deepEqual(statuses(answer), ['200 OK', '200 OK', '200 OK']);
    assert.equal(await versionOf('long'), before + 3);
    const [first, second, third] = answer.json.entry;
    assert.equal(first.resource.name[0].family, `a${how}`);
    assert.equal(second.response.etag, `W/"${before + 2}"`);
    assert.deepEqual(Object.keys(third), ['response']);
    assert.equal(third.response.etag, `W/"${before + 3}"`);
    assert.equal(third.response.outcome.issue[0].severity, 'warning');
    assert.match(third.response.outcome.issue[0].diagnostics, /^The entry was carried out; its answer is left out/);
  });
}

test('the ledger tells only what was shown as shown', async () => {
  const found = conditionalPost(
    { ...long, id: 'new', identifier: [{ system: mrn, value: 'long' }] },
    `identifier=${mrn}|long`,
  );
  const headers = { ...representation, 'x-request-id': 'found' };
  const answer = await full.send('POST', '', batch(found, found, found, found), headers);
  assert.deepEqual(statuses(answer), ['201 Created', '200 OK', '200 OK', '200 OK']);
  const rows = (await rowsOfRequest(service, 'found')).filter(({ shown }) => shown !== null);
  assert.deepEqual(
    rows.map(({ interaction, outcome, shown, elements }) => [interaction, outcome, shown, elements]),
    [
      ['create', 0, 1, 'all'],
      ['create', 0, 0, null],
      ['create', 0, 0, null],
    ],
  );
});

test('a transaction whose answer is too large is refused as a whole, and nothing is stored', async () => {
  const before = await everyRow(owner);
  const refusals = [
    await full.send('POST', '', transaction(post(patient('Once')), read, read, read)),
    await full.send('POST', '', transaction(post(patient('Once')), read, read, read), { 'idempotency-key': '"k2"' }),
    await full.send(
      'POST',
      '',
      transaction(...['p1', 'p2', 'p3'].map((id) => entry('PUT', `Patient/${id}`, { ...long, id }))),
      representation,
    ),
  ];
  for (const answer of refusals) {
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.json.issue[0].diagnostics, tooLarge);
    assert.equal(answer.json.issue[0].details.coding[0].code, 'answer-too-large');
  }
  assert.deepEqual(await everyRow(owner), before);
  const fits = transaction(post(patient('Once')), read, read);
  assert.equal((await full.send('POST', '', fits, { 'idempotency-key': '"k2"' })).status, 200, 'its key is free');
  assert.equal((await full.send('POST', '', fits)).status, 200);
});

test('a transaction that is run again counts what its last run answers', async () => {
  // The conditional reference finds what another entry makes, which the first run does not know.
  const made = { ...patient('Circle'), identifier: [{ system: 'urn:example:circle', value: '1' }], text: long.text };
  const encounter = {
    resourceType: 'Encounter',
    status: 'finished',
    class: { code: 'AMB' },
    subject: { reference: 'Patient?identifier=urn:example:circle|1' },
  };
  const answer = await full.send('POST', '', transaction(post(encounter), post(made), read), representation);
  assert.equal(answer.status, 200, answer.text);
});

test('refusals of many problems tell the first one where there is no room for all', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`wrong${at}`, 1]));
  const answer = await full.send('POST', '', batch(...[1, 2, 3, 4].map(() => post({ ...patient('Stone'), ...wrong }))));
  const issues = answer.json.entry.map(
    ({ response }: { response: { outcome: { issue: readonly unknown[] } } }) => response.outcome.issue.length,
  );
  assert.deepEqual(statuses(answer), Array(4).fill('400 Bad Request'));
  assert.equal(issues[0], 30);
  assert.equal(issues.at(-1), 1);
  assert.match(issueOf(answer, 3).diagnostics, /^Bundle\.entry\[3\]: .*wrong0/);
  assert.ok(answer.text.length < answerBytesMax + 5000);
});

test('in XML, an answer holds a quarter', async () => {
  const xml = { accept: 'application/fhir+xml' };
  const [short, whole] = [
    await full.send('POST', '', batch(entry('GET', 'Patient/short')), xml),
    await full.send('POST', '', batch(read), xml),
  ];
  assert.match(short.text, /<status value="200 OK"\/>/);
  assert.match(whole.text, /<status value="422 Unprocessable Content"\/>/);
  assert.match(whole.text, new RegExp(`larger than ${answerBytesMax / 4} bytes`));
});

test('while other answers leave no room, reads are put off and writes are done', async () => {
  const others = [responseBudgets.open(-1, answersBytesMax), responseBudgets.open(-2, answersBytesMax)] as const;
  for (const room of [...others, responseBudgets.open(-3, answersBytesMax), responseBudgets.open(-4, answersBytesMax)])
    assert.ok(room.tryReserve(answersBytesMax / 4 - 1));
  const before = await everyRow(owner);
  const refused = await full.send('POST', '', transaction(post(patient('Later')), read));
  assert.equal(refused.status, 503, refused.text);
  assert.equal(refused.headers.get('retry-after'), '5');
  assert.match(refused.json.issue[0].diagnostics, noRoom);
  assert.deepEqual(await everyRow(owner), before);
  const answer = await full.send('POST', '', batch(read, read, post(patient('Now'))));
  assert.deepEqual(statuses(answer), ['503 Service Unavailable', '503 Service Unavailable', '201 Created']);
  assert.match(issueOf(answer, 1).diagnostics, noRoom);
  for (const room of others) room.close();
  assert.deepEqual(statuses(await full.send('POST', '', batch(read, read))), ['200 OK', '200 OK']);
});

test('one API key does not take all the room', async () => {
  const second = await openCaller(service, await makeApplication(service, 'Second', ['acl/*'], [maple]), maple);
  const held = responseBudgets.open(application.clientKeyId, answersBytesMax);
  assert.ok(held.tryReserve(answersBytesMax / 4 - 1));
  assert.equal(held.tryReserve(2), false);
  assert.deepEqual(statuses(await full.send('POST', '', batch(read))), ['503 Service Unavailable']);
  assert.deepEqual(statuses(await second.send('POST', '', batch(read))), ['200 OK']);
  held.close();
  assert.deepEqual(statuses(await full.send('POST', '', batch(read))), ['200 OK']);
});

test('room is given back when an answer was sent or refused', async () => {
  for (let times = 0; times < 8; times += 1) {
    assert.deepEqual(statuses(await full.send('POST', '', batch(read, read))), ['200 OK', '200 OK']);
    assert.equal((await full.send('POST', '', transaction(read, read, read))).status, 422);
  }
});
