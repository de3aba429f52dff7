/**
 * The official example batches and transactions of R4 (npm hl7.fhir.r4.examples), as they stand where the server serves
 * what they ask for, else with the change that its test names.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Example, examplesOf } from '../access/official-examples.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const examples = examplesOf('Bundle').filter(({ text }) => /"type"\s*:\s*"(?:batch|transaction)"/.test(text));
// biome-ignore lint/suspicious/noExplicitAny: examples of many shapes.
const example = (name: string): any => JSON.parse((examples.find(({ file }) => file === name) as Example).text);
const statuses = ({ json }: Answer): string[] =>
  json.entry.map(({ response }: { response: { status: string } }) => response.status);
const send = (bundle: object): Promise<Answer> => full.send('POST', '', bundle, { prefer: 'return=representation' });

test('these are all of them', () => {
  assert.deepEqual(
    examples.map(({ file }) => file),
    [
      'Bundle-bundle-request-medsallergies.json',
      'Bundle-bundle-request-simplesummary.json',
      'Bundle-bundle-transaction.json',
      'Bundle-hla-1.json',
      'Bundle-ussg-fht.json',
      'Bundle-xds.json',
    ],
  );
});

test('batches of reads and searches', async () => {
  await full.send('PUT', 'Patient/example', { resourceType: 'Patient', id: 'example' });
  const summary = await send(example('Bundle-bundle-request-simplesummary.json'));
  assert.deepEqual(statuses(summary), ['200 OK', '200 OK', '200 OK', '200 OK']);
  const medications = await send(example('Bundle-bundle-request-medsallergies.json'));
  const [first, ...others] = statuses(medications);
  assert.equal(first, '200 OK');
  for (const [index, status] of others.entries()) {
    // _list and notgiven are refused as in a search alone, until they are served.
    const [, alone] = [
      index,
      await full.get(example('Bundle-bundle-request-medsallergies.json').entry[index + 1].request.url.slice(1)),
    ];
    assert.equal(status.slice(0, 3), String(alone.status));
  }
});

test('22 resources that refer to each other by urn:uuid', async () => {
  const answer = await send(example('Bundle-hla-1.json'));
  assert.equal(answer.status, 200, answer.text.slice(0, 1000));
  const references = JSON.stringify(answer.json).match(/"reference":"[^"]*"/g) ?? [];
  assert.ok(references.length > 20);
  assert.ok(references.every((reference) => !reference.includes('urn:uuid')));
  const report = answer.json.entry[0].resource;
  for (const { reference } of report.result) assert.equal((await full.get(reference)).status, 200, reference);
});

test('links to fullUrls of another base, with a conditional create', async () => {
  const bundle = example('Bundle-xds.json');
  const sent = bundle.entry[0].resource;
  const [asSent] = (await send(bundle)).json.entry;
  // R4 gives relative references no meaning in an entry whose fullUrl is a urn: they stay, and absolute links do not.
  assert.deepEqual(asSent.resource.subject, sent.subject);
  assert.match(asSent.resource.content[0].attachment.url, /^Binary\/[0-9a-f-]{36}$/);
  bundle.entry[0].fullUrl = 'http://localhost:9556/svc/fhir/DocumentReference/a1';
  const [document, subject, author] = (await send(bundle)).json.entry;
  assert.equal(document.resource.subject.reference, `Patient/${subject.resource.id}`);
  assert.equal(document.resource.author[0].reference, `Practitioner/${author.resource.id}`);
});

test('the transaction of the specification, without its operation and the version it cannot know', async () => {
  const bundle = example('Bundle-bundle-transaction.json');
  assert.match(
    (await send(bundle)).json.issue[0].diagnostics,
    /^Bundle\.entry\[7\]: \$lookup is not an operation of this path/,
  );
  bundle.entry.splice(7, 1);
  assert.match((await send(bundle)).json.issue[0].diagnostics, /^Bundle\.entry\[4\]: If-Match names a version/);
  const existing = bundle.entry[4].resource;
  for (const _ of [1, 2]) await full.send('PUT', 'Patient/123a', existing);
  assert.match((await send(bundle)).json.issue[0].diagnostics, /^Bundle\.entry\[8\]: Patient\/12334 is not known/);
  await full.send('PUT', 'Patient/12334', { resourceType: 'Patient', id: '12334' });
  const answer = await send(bundle);
  assert.equal(answer.status, 200, answer.text.slice(0, 1000));
  assert.deepEqual(statuses(answer), [
    '201 Created',
    '201 Created',
    '201 Created',
    '201 Created',
    '200 OK',
    '204 No Content',
    '204 No Content',
    '200 OK',
    '200 OK',
  ]);
});

test('PUT to URLs of another server is refused; relative ones are taken', async () => {
  const bundle = example('Bundle-ussg-fht.json');
  assert.match(
    (await send(bundle)).json.issue[0].diagnostics,
    /^Bundle\.entry\[0\]: request\.url is of another server/,
  );
  for (const { request } of bundle.entry) request.url = request.url.slice('http://hl7.org/fhir/us/sdc/'.length);
  const answer = await send(bundle);
  assert.equal(answer.status, 200, answer.text.slice(0, 1000));
  assert.ok(statuses(answer).every((status) => status === '201 Created'));
});
