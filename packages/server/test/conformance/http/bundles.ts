/** https://hl7.org/fhir/R4/http.html#transaction: batches and transactions. */
import assert from 'node:assert/strict';
import {
  batch,
  bundle,
  conditionalPost,
  entry,
  identified,
  mrn,
  post,
  transaction,
  urn,
} from '../../bundle/bundles.ts';
import { patient } from '../../support/records.ts';
import type { Answer } from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';
import { type Clause, forClients, shall, shallNot, should } from '../clause.ts';
import { observation } from '../records.ts';
import type { World } from '../world.ts';

/** The resource that an entry of a response made or found. */
async function at({ get, firm }: World, { json }: Answer, number: number): Promise<Answer['json']> {
  return (await get(new URL(json.entry[number].response.location, `${firm.base}/`).href)).json;
}

async function assertRefusedWhole({ send, service }: World, body: object): Promise<Answer> {
  const before = await tenantRows(service.database.owner);
  const answer = await send('POST', '', body);
  assert.ok(answer.status >= 400 && answer.status < 600, answer.text);
  assert.equal(answer.json.resourceType, 'OperationOutcome');
  assert.deepEqual(await tenantRows(service.database.owner), before);
  return answer;
}

async function commit({ send }: World, ...entries: readonly object[]): Promise<Answer> {
  const answer = await send('POST', '', transaction(...entries));
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

const elsewhere = 'https://elsewhere.example.org/fhir/Binary/1';

const byMrn = (value: string) => `Patient?identifier=${mrn}|${value}`;

export const bundles: readonly Clause[] = [
  should('http-transaction-1', 'transaction', 'Without batches and transactions they are 400', {
    notApplicable: 'conditional interactions, batches and transactions are supported',
  }),
  shall('http-transaction-2', 'transaction', 'Every entry has a request', async (world) => {
    for (const type of ['batch', 'transaction']) {
      const refused = await world.send('POST', '', bundle(type, [{ resource: patient('Stone') }]));
      const status = refused.status === 200 ? refused.json.entry[0].response.status : String(refused.status);
      assert.match(status, /^400/);
    }
  }),
  shall('http-transaction-3', 'transaction', 'Every POST and PUT has a resource', async (world) => {
    for (const type of ['batch', 'transaction']) {
      for (const request of [entry('POST', 'Patient'), entry('PUT', 'Patient/one')]) {
        const refused = await world.send('POST', '', bundle(type, [request]));
        const status = refused.status === 200 ? refused.json.entry[0].response.status : String(refused.status);
        assert.match(status, /^400/);
      }
    }
  }),
  shall('http-brules-1', 'brules', 'Entries of a batch do not depend on each other', forClients),
  should('http-brules-2', 'brules', 'Failure of one entry of a batch changes nothing of the others', async (world) => {
    const family = world.unique();
    const answer = await world.send(
      'POST',
      '',
      batch(
        post(patient(family)),
        post({ ...patient(family), gender: 'none' }),
        entry('GET', 'Patient/nobody'),
        post(patient(family)),
      ),
    );
    assert.equal(answer.status, 200);
    const status = answer.json.entry.map(({ response }: { response: { status: string } }) =>
      response.status.slice(0, 3),
    );
    assert.deepEqual(status, ['201', '400', '404', '201']);
    assert.equal((await world.get(`Patient?family=${family}`)).json.total, 2);
  }),
  should('http-brules-3', 'brules', 'Entries of a batch that depend on each other are noticed', async (world) => {
    const made = post(observation(urn(1), '1234-5'));
    const answer = await world.send('POST', '', batch(post(patient(world.unique()), urn(1)), made));
    const refused = answer.status === 200 ? answer.json.entry[1].response.status : String(answer.status);
    assert.match(refused, /^4/, answer.text);
  }),
  shall(
    'http-trules-1',
    'trules',
    'A transaction does all and is 200, or does nothing and is 4xx or 5xx',
    async (world) => {
      const family = world.unique();
      await commit(world, post(patient(family)), post(patient(family)));
      assert.equal((await world.get(`Patient?family=${family}`)).json.total, 2);
      await assertRefusedWhole(world, transaction(post(patient(family)), entry('GET', 'Patient/nobody')));
      await assertRefusedWhole(world, transaction(post(patient(family)), post({ ...patient(family), gender: 'none' })));
      assert.equal((await commit(world)).json.type, 'transaction-response');
    },
  ),
  shallNot(
    'http-trules-2',
    'trules',
    'The order of its entries does not change what a transaction does',
    async (world) => {
      for (const order of ['as written', 'reversed']) {
        const value = world.unique();
        const { id } = await world.create(identified(value));
        const own = `own-${world.unique()}`;
        const entries = [
          entry('GET', byMrn(value)),
          entry('PUT', `Patient/${own}`, { ...identified(value, 'Put'), id: own }),
          post(identified(value, 'Posted')),
          entry('DELETE', `Patient/${id}`),
        ];
        const answer = await commit(world, ...(order === 'reversed' ? entries.toReversed() : entries));
        const read = answer.json.entry[order === 'reversed' ? 3 : 0].resource;
        const families = read.entry.map(({ resource }: Answer['json']) => resource.name[0].family);
        assert.deepEqual(families.sort(), ['Posted', 'Put'], order);
      }
    },
  ),
  shall('http-trules-3', 'trules', 'A transaction fails when two of its changes are of one resource', async (world) => {
    const value = world.unique();
    const { id } = await world.create(identified(value));
    const put = entry('PUT', `Patient/${id}`, { ...identified(value, 'Put'), id });
    for (const other of [
      entry('DELETE', `Patient/${id}`),
      entry('DELETE', byMrn(value)),
      entry('PUT', byMrn(value), identified(value)),
      put,
    ]) {
      await assertRefusedWhole(world, transaction(put, other));
    }
  }),
  shall(
    'http-trules-4',
    'trules',
    'References to a resource that the transaction creates are those to its new id',
    async (world) => {
      const answer = await commit(
        world,
        post(observation(urn(1), '1234-5'), urn(2)),
        post({ ...patient(world.unique()), link: [{ other: { reference: urn(1) }, type: 'seealso' }] }, urn(1)),
      );
      const [seen, known] = [await at(world, answer, 0), await at(world, answer, 1)];
      assert.equal(seen.subject.reference, `Patient/${known.id}`);
      assert.equal(known.link[0].other.reference, `Patient/${known.id}`);
    },
  ),
  shall(
    'http-trules-5',
    'trules',
    'Links in uri and url elements and in the narrative are replaced, canonical ones are not',
    async (world) => {
      const div = `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${urn(1)}">x</a><img src="${elsewhere}" alt="y"/></div>`;
      const values = ['valueUri', 'valueUrl', 'valueCanonical'];
      const extension = values.map((value) => ({ url: `http://example.org/fhir/${value}`, [value]: urn(1) }));
      const referring = observation(urn(1), '1234-5', { text: { status: 'generated', div }, extension });
      const image = post({ resourceType: 'Binary', contentType: 'image/png' }, elsewhere);
      const answer = await commit(world, post(patient(world.unique()), urn(1)), post(referring), image);
      const [known, seen, shown] = [await at(world, answer, 0), await at(world, answer, 1), await at(world, answer, 2)];
      const local = `Patient/${known.id}`;
      const linked = seen.extension.map((item: Record<string, string>, index: number) => item[values[index] ?? '']);
      for (const link of linked.slice(0, 2)) assert.ok(link.endsWith(local), link);
      assert.equal(linked[2], urn(1));
      assert.match(seen.text.div, new RegExp(`href="[^"]*${local}".*src="[^"]*Binary/${shown.id}"`));
    },
  ),
  shall('http-trules-10', 'trules', 'Links in oid and uuid elements are replaced', {
    notApplicable:
      'the URL of a resource here is neither an OID nor a UUID: a transaction with such a link is refused, since the element would be invalid',
  }),
  shall('http-trules-6', 'trules', 'All references of a transaction are looked through for searches', async (world) => {
    const value = world.unique();
    const { id } = await world.create(identified(value));
    const more = { performer: [{ reference: byMrn(value) }], focus: [{ reference: byMrn(value) }] };
    const answer = await commit(world, post(observation(byMrn(value), '1234-5', more)));
    const { subject, performer, focus } = await at(world, answer, 0);
    for (const { reference } of [subject, ...performer, ...focus]) assert.equal(reference, `Patient/${id}`);
  }),
  shall('http-trules-7', 'trules', 'Such searches find what the transaction itself makes', async (world) => {
    const value = world.unique();
    const answer = await commit(world, post(observation(byMrn(value), '1234-5')), post(identified(value)));
    assert.equal((await at(world, answer, 0)).subject.reference, `Patient/${(await at(world, answer, 1)).id}`);
  }),
  shall('http-trules-8', 'trules', 'A transaction fails when such a search finds none or several', async (world) => {
    const [none, several] = [world.unique(), world.unique()];
    for (const _ of [1, 2]) await world.create(identified(several));
    for (const value of [none, several]) {
      await assertRefusedWhole(world, transaction(post(observation(byMrn(value), '1234-5'))));
    }
  }),
  shall('http-trules-9', 'trules', 'The one match of such a search stands in the reference', async (world) => {
    const value = world.unique();
    const { id } = await world.create(identified(value));
    const answer = await commit(world, post(observation(byMrn(value), '1234-5')));
    assert.equal((await at(world, answer, 0)).subject.reference, `Patient/${id}`);
  }),
  shall(
    'http-transaction-response-1',
    'transaction-response',
    'The response has an entry for each of the request, in its order',
    async (world) => {
      const value = world.unique();
      const entries = [
        entry('GET', byMrn(value)),
        post(identified(value)),
        conditionalPost(identified(value, 'x'), `identifier=${mrn}|${value}-2`),
      ];
      for (const type of ['batch', 'transaction']) {
        const { status, json } = await world.send('POST', '', bundle(type, entries));
        assert.deepEqual([status, json.resourceType, json.type], [200, 'Bundle', `${type}-response`]);
        assert.equal(json.entry.length, entries.length);
        assert.equal(json.entry[0].resource.type, 'searchset');
        for (const { response } of json.entry.slice(1)) assert.match(response.location, /Patient\//);
      }
    },
  ),
  shall(
    'http-transaction-response-2',
    'transaction-response',
    'Every entry has a response with status, and location and etag where there are such',
    async (world) => {
      const { json } = await commit(world, post(patient(world.unique())), entry('GET', 'Patient?_count=1'));
      const [created, found] = json.entry.map(({ response }: Answer['json']) => response);
      assert.match(created.status, /^201/);
      assert.match(created.location, /Patient\/[^/]+\/_history\/[^/]+$/);
      assert.match(created.etag, /^W\/"[^"]+"$/);
      assert.match(found.status, /^200/);
    },
  ),
  should(
    'http-other-bundles-1',
    'other-bundles',
    'A Bundle of type history is carried out when it is posted to the base',
    {
      departs:
        'R4 leaves open what becomes of transaction boundaries, repeated resources and their ids; Bundles of other types are stored by POST to Bundle or imported by an operator',
      case: async (world) => {
        const created = {
          ...post({ ...patient('Stone'), id: 'one' }, `${world.firm.base}/Patient/one`),
          response: { status: '201' },
        };
        const { status, json } = await world.send('POST', '', bundle('history', [created]));
        assert.deepEqual([status, json.issue[0].expression], [400, ['Bundle.type']]);
      },
    },
  ),
];
