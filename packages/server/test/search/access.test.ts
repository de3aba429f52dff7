/**
 * Who finds what: firms apart, row restrictions of the caller, cursors that serve one caller and search, revoked rights.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { sql } from '../../src/database/sql.ts';
import { parseSearch } from '../../src/search/query/query.ts';
import { openCursor, sealCursor } from '../../src/search/sql/cursor.ts';
import { planCount, planPage } from '../../src/search/sql/plan.ts';
import { openScope } from '../../src/tenancy/scope.ts';
import {
  context,
  joinSearchWorld,
  nowMs,
  openSearchWorld,
  parametersOfQuery,
  type SearchWorld,
  secrets,
  targetOf,
} from './world.ts';

const patient = (id: string, gender: string, family = 'Garcia') => ({
  resourceType: 'Patient',
  id,
  gender,
  active: true,
  birthDate: '1970-01-01',
  name: [{ family }],
  identifier: [{ system: 'PMS', value: id }],
});

const invalidCursor = new PraxisError('cursor-invalid', {
  diagnostics:
    '_cursor belongs to another search or caller, or was altered: follow page links as they are, or begin again without it',
  expression: ['_cursor'],
});

test('no search of one firm finds or counts anything of another', async (t) => {
  const maple = await openSearchWorld(t);
  const cedar = await joinSearchWorld(maple.database, 'cedar');
  await maple.load([patient('m', 'male')]);
  await cedar.load([patient('c', 'male')]);
  for (const query of [
    '',
    '_id=c',
    '_id=m,c',
    'gender=male',
    'family=garcia',
    'identifier=PMS|c',
    'birthdate=1970',
    'active:missing=false',
    '_sort=family',
    'gender=male&_sort=-birthdate',
    '_lastUpdated=ge2000',
    'gender:not=female',
    '_sort=-_lastUpdated',
  ]) {
    const seen = await maple.ids('Patient', query);
    assert.ok(!seen.includes('c'), query);
    assert.equal(await maple.count('Patient', query), seen.length, query);
  }
  assert.deepEqual(await cedar.ids('Patient', ''), ['c']);
});

test('a search of one type finds no other type', async (t) => {
  const world = await openSearchWorld(t);
  await world.load([
    patient('p', 'male'),
    { resourceType: 'Person', id: 'p', gender: 'male', name: [{ family: 'Garcia' }] },
  ]);
  for (const query of [
    '',
    '_id=p',
    'gender=male',
    'name=garcia',
    '_lastUpdated=ge2000',
    '_sort=name',
    '_sort=_lastUpdated',
  ]) {
    assert.deepEqual(
      (await world.page('Person', query)).rows.map(({ type }) => type),
      ['Person'],
      query,
    );
  }
});

test('row restrictions are alternatives of criteria that all have to hold', async (t) => {
  const world = await openSearchWorld(t);
  await world.load([
    patient('anna', 'female'),
    patient('bert', 'male'),
    { ...patient('carl', 'male'), active: false },
    { ...patient('dora', 'other'), active: false },
  ]);
  const gender = (...values: string[]) => ({ parameter: 'gender', values });
  const active = { parameter: 'active', values: ['true'] };
  const cases = [
    { mandatory: [[]], ids: ['anna', 'bert', 'carl', 'dora'] },
    { mandatory: [[gender('male')]], ids: ['bert', 'carl'] },
    { mandatory: [[gender('male'), active]], ids: ['bert'] },
    { mandatory: [[gender('male'), active], [gender('other')]], ids: ['bert', 'dora'] },
    { mandatory: [[gender('male', 'http://hl7.org/fhir/administrative-gender|other')]], ids: ['bert', 'carl', 'dora'] },
    { mandatory: [[gender('unknown')]], ids: [] },
    { mandatory: [[gender('unknown')], []], ids: ['anna', 'bert', 'carl', 'dora'] },
  ];
  for (const { mandatory, ids } of cases) {
    for (const query of [
      '',
      'family=garcia',
      'identifier=anna,bert,carl,dora',
      'birthdate=1970-01-01',
      '_sort=-family',
      'active:missing=false&_sort=birthdate,_id',
      '_id=anna,bert,carl,dora',
    ]) {
      const page = await world.page('Patient', query, { mandatory });
      assert.deepEqual(page.rows.map(({ id }) => id).toSorted(), ids, `${JSON.stringify(mandatory)} ${query}`);
      const target = targetOf(world.scope, 'Patient', parametersOfQuery(query), { mandatory });
      assert.equal(await world.store.selectCount(world.scope, planCount(target)), ids.length);
    }
  }
});

test('what a caller asks cannot widen its row restrictions', async (t) => {
  const world = await openSearchWorld(t);
  await world.load([patient('anna', 'female'), patient('bert', 'male')]);
  const mandatory = [[{ parameter: 'gender', values: ['male'] }]];
  for (const query of [
    'gender=female',
    'gender:not=male',
    'gender:missing=true',
    '_id=anna',
    'identifier=PMS|anna',
    'gender=female,other',
  ]) {
    assert.deepEqual((await world.page('Patient', query, { mandatory })).rows, [], query);
  }
});

test('a search without any group of restrictions is not planned', () => {
  const scope = openScope({
    firm: 1,
    application: 1,
    epoch: 1,
    environment: 'e',
    firmPrefix: 'f',
    product: 'pm',
    timeZone: 'UTC',
    searchParameters: [],
  });
  const problem = new TypeError('a search needs a group of mandatory criteria; one without criteria takes all rows');
  assert.throws(() => planPage(targetOf(scope, 'Patient', [], { mandatory: [] })).buildStatement(), problem);
  assert.throws(() => planCount(targetOf(scope, 'Patient', [], { mandatory: [] })), problem);
  const unknown = [[{ parameter: 'birthdate', values: ['1970'] }]];
  assert.throws(
    () => planPage(targetOf(scope, 'Patient', [], { mandatory: unknown })).buildStatement(),
    new TypeError('birthdate is not a token search parameter of Patient'),
  );
});

async function cursorOf(world: SearchWorld, query: string): Promise<string> {
  const page = await world.page('Patient', query);
  return page.next?.cursor ?? assert.fail('there is no next page');
}

test('a cursor serves the search, application, firm and policy it was made for, and no other', async (t) => {
  const maple = await openSearchWorld(t);
  const cedar = await joinSearchWorld(maple.database, 'cedar');
  for (const world of [maple, cedar])
    await world.load([patient('a', 'male'), patient('b', 'male'), patient('c', 'male')]);
  const cursor = await cursorOf(maple, 'gender=male&_count=1');
  const same = `gender=male&_count=1&_cursor=${cursor}`;
  assert.equal((await maple.page('Patient', same)).rows.length, 1);
  assert.equal(
    (await maple.page('Patient', `gender=male&_count=2&_total=none&page=2&_cursor=${cursor}`)).rows.length,
    2,
  );
  const other = openScope({ ...maple.scope, application: maple.scope.application + 1 });
  const refused: [string, () => Promise<unknown>][] = [
    ['another search', () => maple.page('Patient', `gender=female&_count=1&_cursor=${cursor}`)],
    ['no condition', () => maple.page('Patient', `_count=1&_cursor=${cursor}`)],
    ['another order', () => maple.page('Patient', `gender=male&_sort=family&_cursor=${cursor}`)],
    ['another type', () => maple.page('Person', `gender=male&_cursor=${cursor}`)],
    ['another firm', () => cedar.page('Patient', same)],
    ['another application', () => maple.page('Patient', same, { scope: other })],
    ['another policy', () => maple.page('Patient', same, { policyFingerprint: 'narrower' })],
    ['an altered character', () => maple.page('Patient', `gender=male&_cursor=${altered(cursor)}`)],
    ['another time', () => maple.page('Patient', `gender=male&_cursor=1${cursor.slice(1)}`)],
    ['a cut end', () => maple.page('Patient', `gender=male&_cursor=${cursor.slice(0, -4)}`)],
    ['no cursor at all', () => maple.page('Patient', 'gender=male&_cursor=')],
    ['a word', () => maple.page('Patient', 'gender=male&_cursor=abc')],
    ['a very long text', () => maple.page('Patient', `gender=male&_cursor=abc.${'A'.repeat(20_000)}`)],
  ];
  for (const [name, attempt] of refused) await assert.rejects(attempt, invalidCursor, name);
});

function altered(cursor: string): string {
  const at = cursor.length - 10;
  return cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
}

test('a cursor tells nothing of the values it holds', () => {
  const binding = { firm: 1, application: 2, policyFingerprint: 'p', canonical: 'q', nowMs };
  const row = { keys: ['Garcia', null], rid: 7 };
  const cursor = { direction: 'backward', row, page: 3, rowsMax: 2 } as const;
  const sealed = sealCursor(secrets, cursor, binding);
  assert.match(sealed, /^[0-9a-z]+\.[A-Za-z0-9_-]+$/);
  assert.ok(
    !Buffer.from(sealed.split('.')[1] ?? '', 'base64url')
      .toString('latin1')
      .includes('Garcia'),
  );
  assert.deepEqual(openCursor(secrets, sealed, binding), cursor);
});

test('"approximately now" keeps its meaning from page to page', async (t) => {
  const world = await openSearchWorld(t);
  await world.load([patient('a', 'male'), patient('b', 'male')]);
  const query = 'birthdate=ap1970-01-01&_count=1';
  const cursor = await cursorOf(world, query);
  const later = parseSearch('Patient', parametersOfQuery(`${query}&_cursor=${cursor}`), {
    ...context,
    nowMs: nowMs + 86_400_000,
  });
  assert.equal(later.nowMs, nowMs);
  const planned = planPage({ ...targetOf(world.scope, 'Patient', []), query: later });
  const { rows } = await planned.read((statement) => world.store.selectPage(world.scope, statement));
  assert.equal(rows.length, 1);
});

test('rights that changed after they were read are noticed by the search itself', async (t) => {
  const world = await openSearchWorld(t);
  await world.load([patient('a', 'male')]);
  await world.database.owner.query(sql`UPDATE access_epoch SET epoch = epoch + 1 WHERE firm = ${world.scope.firm}`);
  const stale = { name: 'PraxisError', code: 'stale-access' };
  for (const query of ['', 'gender=male', '_id=nobody', '_sort=family']) {
    await assert.rejects(world.page('Patient', query), stale, query);
    await assert.rejects(world.count('Patient', query), stale, query);
  }
});
