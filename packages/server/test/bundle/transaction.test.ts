/**
 * Transactions that succeed: order, links between entries, conditional entries and references, and what is answered
 * (https://hl7.org/fhir/R4/http.html#trules, #transaction-response).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appointment, encounter, patient } from '../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { conditionalPost, entry, identified, mrn, post, transaction, urn } from './bundles.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const start = '2026-12-01T10:00:00Z';
const elsewhere = 'https://other.example.org/fhir';
const whole = { prefer: 'return=representation' };

const send = async (bundle: object, headers = {}): Promise<Answer> => {
  const answer = await full.send('POST', '', bundle, headers);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.type, 'transaction-response');
  return answer;
};
const statuses = ({ json }: Answer): string[] =>
  json.entry.map(({ response }: { response: { status: string } }) => response.status);
/** `Type/id` of an entry of the answer. */
const made = ({ json }: Answer, index: number): string =>
  json.entry[index].response.location.slice(maple.base.length + 1).replace(/\/_history\/\d+$/, '');
const count = async (value: string): Promise<number> =>
  (await full.get(`Patient?identifier=${mrn}|${value}&_summary=count`)).json.total;

test('the whole answer: one entry for each, in order, without the resources that were sent', async () => {
  const { json } = await send(transaction(post(patient('Stone'), urn(1))));
  const location: string = json.entry[0].response.location;
  assert.match(location, new RegExp(`^${maple.base}/Patient/[0-9a-f-]{36}/_history/1$`));
  assert.deepEqual(json, {
    resourceType: 'Bundle',
    id: json.id,
    meta: { lastUpdated: '2026-11-21T09:30:00.000Z' },
    type: 'transaction-response',
    entry: [{ response: { status: '201 Created', location, etag: 'W/"1"', lastModified: '2026-11-21T09:30:00.000Z' } }],
  });
  const empty = await send(transaction());
  assert.deepEqual(Object.keys(empty.json).sort(), ['id', 'meta', 'resourceType', 'type']);
});

test('Prefer says what writes return: the resource, an outcome or nothing', async () => {
  const sent = transaction(post(patient('Stone')));
  const [represented] = (await send(sent, whole)).json.entry;
  assert.deepEqual(represented.resource, (await full.get(represented.fullUrl)).json);
  const [told] = (await send(sent, { prefer: 'return=OperationOutcome' })).json.entry;
  assert.equal(told.resource, undefined);
  assert.match(told.response.outcome.issue[0].diagnostics, /was stored$/);
});

test('DELETE, POST, PUT, PATCH and GET are done in this order, whatever the order of the entries', async () => {
  const [gone, kept, patched] = await Promise.all(
    ['O1', 'O2', 'O3'].map(async (value) => (await full.send('POST', 'Patient', identified(value))).json.id),
  );
  const change = { resourceType: 'Binary', contentType: 'application/json-patch+json', data: toBase64(activate) };
  const answer = await send(
    transaction(
      entry('GET', `Patient?identifier=${mrn}|O1,${mrn}|O2,${mrn}|O3,${mrn}|O4&_sort=identifier`),
      entry('PATCH', `Patient/${patched}`, change),
      entry('PUT', `Patient/${kept}`, { ...identified('O2', 'Marble'), id: kept }),
      post(identified('O4')),
      entry('DELETE', `Patient/${gone}`),
      entry('HEAD', `Patient/${kept}`),
      entry('GET', `Patient/${kept}`, undefined, { ifNoneMatch: 'W/"2"' }),
      entry('GET', `Patient/${kept}/_history/1`),
    ),
  );
  assert.deepEqual(statuses(answer), [
    '200 OK',
    '200 OK',
    '200 OK',
    '201 Created',
    '204 No Content',
    '200 OK',
    '304 Not Modified',
    '200 OK',
  ]);
  const [search, , , , , head, , old] = answer.json.entry;
  assert.deepEqual(
    search.resource.entry.map(({ resource }: { resource: Record<string, unknown> }) => [
      (resource['identifier'] as { value: string }[])[0]?.value,
      (resource['meta'] as { versionId: string }).versionId,
      resource['active'],
    ]),
    [
      ['O2', '2', undefined],
      ['O3', '2', true],
      ['O4', '1', undefined],
    ],
  );
  assert.equal(head.resource, undefined);
  assert.equal(old.resource.name[0].family, 'Stone');
});

const activate = [{ op: 'add', path: '/active', value: true }];
const toBase64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

test('links to the fullUrl of entries become Type/id, circles and contained resources included', async () => {
  const observation = {
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    subject: { reference: urn(1) },
    encounter: { reference: `${elsewhere}/Encounter/2/_history/7` },
    derivedFrom: [{ reference: 'urn:uuid:ffffffff-0000-4000-8000-000000000000' }],
    hasMember: [{ reference: 'Observation/elsewhere' }],
    contained: [
      {
        resourceType: 'Provenance',
        id: 'p',
        target: [{ reference: '#' }],
        recorded: start,
        agent: [{ who: { reference: urn(1) } }],
      },
    ],
    text: {
      status: 'generated',
      div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${urn(1)}">patient</a> <img src="${elsewhere}/Binary/1" alt="scan"/></div>`,
    },
    extension: [
      { url: 'urn:example:uri', valueUri: urn(1) },
      { url: 'urn:example:canonical', valueCanonical: urn(1) },
      { url: 'urn:example:string', valueString: urn(1) },
    ],
  };
  const circle = { ...encounter(urn(1)), partOf: { reference: urn(4) } };
  const answer = await send(
    transaction(
      post(observation, urn(3)),
      post(circle, `${elsewhere}/Encounter/2`),
      post({ ...encounter(urn(1)), partOf: { reference: `${elsewhere}/Encounter/2` } }, urn(4)),
      post({ ...patient('Stone'), link: [{ other: { reference: urn(1) }, type: 'seealso' }] }, urn(1)),
      post({ resourceType: 'Binary', contentType: 'image/png' }, `${elsewhere}/Binary/1`),
    ),
    whole,
  );
  const [first, second, subject, image] = [1, 2, 3, 4].map((index) => made(answer, index));
  const [stored, one, two, self] = answer.json.entry.map(({ resource }: { resource: unknown }) => resource);
  assert.equal(stored.subject.reference, subject);
  assert.equal(stored.encounter.reference, `${first}/_history/1`);
  assert.deepEqual(stored.derivedFrom, observation.derivedFrom);
  assert.deepEqual(stored.hasMember, observation.hasMember);
  assert.equal(stored.contained[0].agent[0].who.reference, subject);
  assert.match(stored.text.div, new RegExp(`href="${subject}".*src="${image}"`));
  assert.deepEqual(
    stored.extension.map((extension: Record<string, string>) => Object.values(extension)[1]),
    [subject, urn(1), urn(1)],
  );
  assert.equal(one.partOf.reference, second);
  assert.equal(two.partOf.reference, first);
  assert.equal(self.link[0].other.reference, subject);
  const found = await full.get(`Encounter?subject=${subject}&_summary=count`);
  assert.equal(found.json.total, 2);
});

test('links relative to an absolute fullUrl lead to the entry; PUT keeps the id and forgets the other base', async () => {
  const answer = await send(
    transaction(
      { ...post(appointment('Patient/9', start)), fullUrl: `${elsewhere}/Appointment/1` },
      { ...post({ ...patient('Stone'), id: '9' }), fullUrl: `${elsewhere}/Patient/9` },
      { ...post(appointment(`${elsewhere}/Patient/10`, start)) },
      { ...entry('PUT', 'Patient/ten', { ...patient('Stone'), id: 'ten' }), fullUrl: `${elsewhere}/Patient/10` },
      { ...post(appointment(`${elsewhere}/Patient/10/_history/4`, start)) },
      { ...post(appointment('Patient/9', start)) },
    ),
    whole,
  );
  const actors = answer.json.entry.map(
    ({ resource }: { resource: { participant?: { actor: { reference: string } }[] } }) =>
      resource.participant?.[0]?.actor.reference,
  );
  const nine = made(answer, 1);
  assert.notEqual(nine, 'Patient/9');
  assert.deepEqual(actors, [nine, undefined, 'Patient/ten', undefined, 'Patient/ten/_history/1', 'Patient/9']);
  const again = await send(
    transaction(
      { ...entry('PUT', 'Patient/ten', { ...patient('Marble'), id: 'ten' }), fullUrl: `${elsewhere}/Patient/10` },
      post(appointment(`${elsewhere}/Patient/10/_history/1`, start)),
    ),
    whole,
  );
  assert.equal(again.json.entry[1].resource.participant[0].actor.reference, 'Patient/ten/_history/2');
});

test('patches may link to entries, too', async () => {
  const { id } = (await full.send('POST', 'Encounter', encounter('Patient/unknown'))).json;
  const operations = [
    { op: 'replace', path: '/subject/reference', value: urn(1) },
    { op: 'add', path: '/participant', value: [{ individual: { reference: urn(2) } }] },
  ];
  const binary = { resourceType: 'Binary', contentType: 'application/json-patch+json', data: toBase64(operations) };
  const location = {
    resourceType: 'Parameters',
    parameter: [
      {
        name: 'operation',
        part: [
          { name: 'type', valueCode: 'add' },
          { name: 'path', valueString: 'Encounter' },
          { name: 'name', valueString: 'serviceProvider' },
          { name: 'value', valueReference: { reference: urn(3) } },
        ],
      },
    ],
  };
  const second = (await full.send('POST', 'Encounter', encounter('Patient/unknown'))).json.id;
  const answer = await send(
    transaction(
      entry('PATCH', `Encounter/${id}`, binary),
      entry('PATCH', `Encounter/${second}`, location),
      post(patient('Stone'), urn(1)),
      post({ resourceType: 'Practitioner' }, urn(2)),
      post({ resourceType: 'Organization', name: 'Practice' }, urn(3)),
    ),
    whole,
  );
  const [patched, other] = answer.json.entry;
  assert.equal(patched.resource.subject.reference, made(answer, 2));
  assert.equal(patched.resource.participant[0].individual.reference, made(answer, 3));
  assert.equal(other.resource.serviceProvider.reference, made(answer, 4));
});

test('conditional entries: what they find is what links lead to', async () => {
  const existing = (await full.send('POST', 'Patient', identified('C1'))).json.id;
  const answer = await send(
    transaction(
      conditionalPost(identified('C1'), `identifier=${mrn}|C1`, urn(1)),
      conditionalPost(identified('C2'), `Patient?identifier=${mrn}|C2`, urn(2)),
      { ...entry('PUT', `Patient?identifier=${mrn}|C3`, identified('C3')), fullUrl: urn(3) },
      ...[1, 2, 3].map((number) => post(encounter(urn(number)))),
    ),
    whole,
  );
  assert.deepEqual(statuses(answer), ['200 OK', ...Array.from({ length: 5 }, () => '201 Created')]);
  assert.equal(made(answer, 0), `Patient/${existing}`);
  for (const index of [0, 1, 2]) {
    assert.equal(answer.json.entry[index + 3].resource.subject.reference, made(answer, index));
  }
  const again = await send(
    transaction(
      { ...entry('PUT', `Patient?identifier=${mrn}|C3`, identified('C3', 'Marble')), fullUrl: urn(3) },
      entry('DELETE', `Patient?identifier=${mrn}|C2`),
      post(encounter(urn(3))),
    ),
    whole,
  );
  assert.deepEqual(statuses(again), ['200 OK', '204 No Content', '201 Created']);
  assert.equal(again.json.entry[2].resource.subject.reference, made(answer, 2));
});

test('equal conditional creates in one transaction make one resource, to which all links lead', async () => {
  const conditional = (number: number) => conditionalPost(identified('C4'), `identifier=${mrn}|C4`, urn(number));
  const answer = await send(
    transaction(post(encounter(urn(2))), conditional(1), conditional(2), post(encounter(urn(1)))),
    whole,
  );
  assert.deepEqual(statuses(answer), ['201 Created', '201 Created', '200 OK', '201 Created']);
  assert.equal(await count('C4'), 1);
  for (const index of [0, 3]) assert.equal(answer.json.entry[index].resource.subject.reference, made(answer, 1));
});

test('a conditional create sees what the other entries delete and create, in whatever order they stand', async () => {
  await full.send('POST', 'Patient', identified('C5'));
  const answer = await send(
    transaction(
      conditionalPost(identified('C5'), `identifier=${mrn}|C5`, urn(1)),
      entry('DELETE', `Patient?identifier=${mrn}|C5`),
      conditionalPost(identified('C6'), `identifier=${mrn}|C6`, urn(2)),
      post(identified('C6')),
      post(encounter(urn(1))),
      post(encounter(urn(2))),
    ),
    whole,
  );
  assert.deepEqual(statuses(answer).slice(0, 4), ['201 Created', '204 No Content', '200 OK', '201 Created']);
  assert.equal(answer.json.entry[4].resource.subject.reference, made(answer, 0));
  assert.equal(answer.json.entry[5].resource.subject.reference, made(answer, 3));
  assert.deepEqual([await count('C5'), await count('C6')], [1, 1]);
});

test('conditional references find what was there and what the transaction makes; each resource has one version', async () => {
  const existing = (await full.send('POST', 'Patient', identified('R1'))).json.id;
  const answer = await send(
    transaction(
      post(encounter(`Patient?identifier=${mrn}|R1`)),
      post(encounter(`Patient?identifier=${mrn}|R2`)),
      post(identified('R2')),
    ),
    whole,
  );
  const references = answer.json.entry.map(
    ({ resource }: { resource: { subject?: { reference: string } } }) => resource.subject?.reference,
  );
  assert.deepEqual(references, [`Patient/${existing}`, made(answer, 2), undefined]);
  for (const index of [0, 1, 2]) assert.equal(answer.json.entry[index].response.etag, 'W/"1"');
});

test('64 equal transactions with a conditional create at once make one resource', async () => {
  const bundle = transaction(
    conditionalPost(identified('M1'), `identifier=${mrn}|M1`, urn(1)),
    post(encounter(urn(1), { id: 'ignored' })),
  );
  const answers = await Promise.all(Array.from({ length: 64 }, () => send(bundle, whole)));
  assert.equal(await count('M1'), 1);
  const subjects = new Set(answers.map(({ json }) => json.entry[1].resource.subject.reference));
  assert.deepEqual([...subjects], [made(answers[0] as Answer, 0)]);
});

test('transactions that change the same resources in opposite orders at once all succeed', async () => {
  for (const id of ['left', 'right']) await full.send('PUT', `Patient/${id}`, { ...patient('Stone'), id });
  const entries = [
    ...['left', 'right'].map((id) => entry('PUT', `Patient/${id}`, { ...patient('Marble'), id })),
    ...['L1', 'L2'].map((value) => conditionalPost(identified(value), `identifier=${mrn}|${value}`)),
  ];
  await Promise.all(
    Array.from({ length: 16 }, (_, index) => send(transaction(...(index % 2 ? entries.toReversed() : entries)))),
  );
  for (const id of ['left', 'right']) assert.equal((await full.get(`Patient/${id}`)).json.meta.versionId, '17');
  assert.deepEqual([await count('L1'), await count('L2')], [1, 1]);
});

test('two transactions that wait for each other both end', async () => {
  for (const id of ['here', 'there']) await full.send('PUT', `Patient/${id}`, { ...patient('Stone'), id });
  const crossing = (deleted: string, changed: string) =>
    full.send(
      'POST',
      '',
      transaction(
        entry('DELETE', `Patient/${deleted}`),
        entry('PUT', `Patient/${changed}`, { ...patient('Marble'), id: changed }),
      ),
    );
  const answers = await Promise.all([crossing('here', 'there'), crossing('there', 'here')]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
});
