/**
 * Values made to hurt: each is refused or costs no more than others, and none reaches further than it says.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

test('U+0000 in a value is refused everywhere, so that it cannot stand for "anything"', async () => {
  const library = { resourceType: 'Library', status: 'draft', type: { text: 'x' }, title: 'Only library' };
  const { json } = await full.send('POST', 'Library', library);
  for (const query of [
    'Library?title=%00',
    'Library?title=Only%00',
    'Library?_id=%00',
    'Patient?gender=fe%00male',
    'Patient?%00=x',
  ]) {
    const answer = await full.get(query);
    assert.equal(answer.status, 400, query);
    assert.match(answer.json.issue[0].diagnostics, /U\+0000/);
  }
  assert.equal((await full.send('DELETE', 'Library?title=%00')).status, 400);
  assert.equal((await full.send('POST', 'Library', library, { 'if-none-exist': 'title=%00' })).status, 400);
  assert.equal((await full.get(`Library/${json.id}`)).status, 200);
});

test('a family name of a hundred thousand words is indexed by its first twenty', async () => {
  const family = 'y '.repeat(100_000).trim();
  const created = await full.send('POST', 'Patient', { resourceType: 'Patient', name: [{ family }] });
  assert.equal(created.status, 201);
  const [row] = await service.database.owner.query<{ count: number }>(
    sql`SELECT count(*) AS count FROM index_string WHERE firm = ${maple.id}`,
  );
  assert.ok((row?.count ?? 0) < 100, `${row?.count} rows`);
  assert.equal((await full.get('Patient?family=y%20y')).json.entry[0].resource.id, created.json.id);
});

test('numbers beyond what a measurement can be are refused with 400', async () => {
  for (const query of [
    'Observation?value-quantity=1e400',
    'Observation?value-quantity=1e-400',
    'RiskAssessment?probability=1e400',
    `Observation?value-quantity=${'9'.repeat(64)}e290`,
  ]) {
    assert.equal((await full.get(query)).status, 400, query);
  }
});

test('If-None-Match: * creates and never replaces', async () => {
  const headers = { 'if-none-match': '*' };
  const put = (family: string) =>
    full.send('PUT', 'Patient/mine', { resourceType: 'Patient', id: 'mine', name: [{ family }] }, headers);
  assert.equal((await put('First')).status, 201);
  const again = await put('Second');
  assert.equal(again.status, 412);
  assert.deepEqual(again.json.issue[0].expression, ['If-None-Match']);
  assert.equal((await full.get('Patient/mine')).json.name[0].family, 'First');
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      full.send(
        'PUT',
        'Patient/raced',
        { resourceType: 'Patient', id: 'raced', name: [{ family: `F${index}` }] },
        headers,
      ),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, 1);
  assert.ok(
    statuses.every((status) => status === 201 || status === 412),
    statuses.join(' '),
  );
  assert.equal((await full.get('Patient/raced')).headers.get('etag'), 'W/"1"');
});

test('the self link says how many rows are served, not how many were asked for', async () => {
  const { json } = await full.get('Patient?_count=1000');
  assert.equal(json.link[0].url, `${maple.base}/Patient?_count=50`);
});
