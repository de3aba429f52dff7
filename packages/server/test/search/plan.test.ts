/**
 * Statements: each names the firm wherever it reads a tenant's table, none reads whole tables, and the work of a selective
 * search does not grow with the data (counted in pages read, which no other load of the machine changes).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { computeParameterNumber } from '../../src/search/numbers.ts';
import { planCount, planEstimate, planPage, type SearchTarget } from '../../src/search/sql/plan.ts';
import { explained, nodesOf, type PlanNode, pagesOf, vacuumed } from './explained.ts';
import { encodeQuery } from './golden.ts';
import { nowMs, openSearchWorld, parametersOfQuery, type SearchWorld, targetOf } from './world.ts';

const many = 4000;

const selective = [
  '_id=a7',
  'identifier=urn:a|7',
  'patient=Patient/p7',
  'patient=p7&status=booked',
  'patient=p7&_sort=-date',
  'patient=p7&status:not=cancelled&date=ge2025-01-01&_sort=date,status',
  'date=ge2025-01-05&date=lt2025-01-06',
  'practitioner=d3&date=ge2025-01-05&date=lt2025-01-06',
  'date=2025-01-05&_sort=-date',
  '_lastUpdated=gt2026-01-13&_count=10',
  '_lastUpdated=gt2026-01-01&status=booked',
  '_lastUpdated=gt2025-12-01&status=booked',
  'identifier=7&patient=p7',
  'actor:identifier=urn:x|1',
];

const broad = [
  '',
  'status=booked',
  'status=booked,arrived',
  'status:not=cancelled',
  '_sort=date',
  '_sort=-date',
  '_sort=-_lastUpdated',
  '_sort=created',
  'status=booked&_sort=-date',
  'practitioner=d3',
  'practitioner=d3&_sort=date',
  'date=ge2025-01-05',
];

const appointments = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    resourceType: 'Appointment',
    id: `a${n}`,
    meta: { lastUpdated: new Date(nowMs - (count - n) * 3_600_000).toISOString() },
    identifier: [{ system: 'urn:a', value: String(n) }],
    status: ['booked', 'arrived', 'cancelled'][n % 3],
    start: new Date(Date.UTC(2025, 0, 1) + ((n * 7919) % (count * 2)) * 1_800_000).toISOString(),
    ...(n % 2 === 0 ? { created: '2024-12-01' } : {}),
    participant: [
      { actor: { reference: `Patient/p${n % Math.ceil(count / 20)}` } },
      { actor: { reference: `Practitioner/d${n % 10}` } },
    ],
  }));

/** `many` appointments, which nobody changes. */
const steady = await openSearchWorld({ after });
await steady.load(appointments(many), { bare: true });
await vacuumed(steady);

test('every table of a tenant is read with the firm', () => {
  const scope = { firm: 4711 } as SearchWorld['scope'];
  for (const query of [...selective, ...broad]) {
    const target = targetOf(scope, 'Appointment', parametersOfQuery(encodeQuery(query)), {
      mandatory: [[{ parameter: 'status', values: ['booked'] }]],
    });
    const named = { ...target, scope: { ...scope, application: 1 } };
    for (const { text, values } of [planPage(named).buildStatement(), planCount(named), planEstimate(named)]) {
      const reads = [...text.matchAll(/FROM (?:index_[a-z]+|resource|access_epoch)\b(?: ([a-z]+))?/g)];
      assert.ok(reads.length > 1, text);
      for (const read of reads) {
        const alias = read[1] === undefined || read[1] === 'WHERE' || read[1] === 'LEFT' ? '' : `${read[1]}.`;
        const firm = new RegExp(`${alias.replace('.', '\\.')}firm = \\$(\\d+)`).exec(text.slice(read.index));
        assert.equal(values[Number(firm?.[1]) - 1], 4711, `${read[0]} in ${text}`);
      }
    }
  }
});

test('of a name and a day of birth the day leads, also through a chain', () => {
  const scope = { firm: 4711, application: 1 } as SearchWorld['scope'];
  const pageOf = (type: string, query: string): string =>
    planPage(targetOf(scope, type, parametersOfQuery(query))).buildStatement().text;
  for (const query of ['name=stone&birthdate=1980-01-05', 'birthdate=1980-01-05&family=stone']) {
    assert.match(pageOf('Patient', query), /FROM index_date d /);
    assert.doesNotMatch(pageOf('Patient', query), /FROM index_string d /);
    const chained = query.replaceAll(/(name|birthdate|family)=/g, 'patient.$1=');
    assert.match(pageOf('Appointment', chained), /ANY \(ARRAY\(SELECT .* FROM index_date d /s);
  }
});

test('of a status and a code the code leads, whichever is asked first', () => {
  const scope = { firm: 4711, application: 1 } as SearchWorld['scope'];
  for (const query of ['status=final&code=1234-5', 'code=1234-5&status=final']) {
    const { text, values } = planPage(targetOf(scope, 'Observation', parametersOfQuery(query))).buildStatement();
    const lead = /FROM index_token d WHERE d\.firm = \$\d+ AND d\.param = \$(\d+)/.exec(text)?.[1];
    assert.equal(values[Number(lead) - 1], computeParameterNumber('Observation', 'code'), query);
  }
});

async function explain(world: SearchWorld, query: string): Promise<PlanNode> {
  return await explained(world, planPage(appointmentsBy(world, query)).buildStatement());
}

function appointmentsBy(world: SearchWorld, query: string): SearchTarget {
  return targetOf(world.scope, 'Appointment', parametersOfQuery(encodeQuery(query)));
}

test('no search reads a whole table, with statistics and without', { timeout: 60_000 }, async (t) => {
  const world = await openSearchWorld(t);
  await world.load(appointments(many), { bare: true });
  for (const analysed of [false, true]) {
    if (analysed) await world.database.owner.query(sql`ANALYZE`);
    for (const query of [...selective, ...broad]) {
      const scans = nodesOf(await explain(world, query)).filter(
        (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] !== 'access_epoch',
      );
      assert.deepEqual(
        scans.map((node) => node['Relation Name']),
        [],
        query,
      );
    }
  }
});

test('a selective search reads no more pages of ten times the data', { timeout: 60_000 }, async (t) => {
  const small = await openSearchWorld(t);
  await small.load(appointments(600), { bare: true });
  const large = await openSearchWorld(t);
  await large.load(appointments(6000), { bare: true });
  for (const world of [small, large]) await vacuumed(world);
  for (const query of selective) {
    const before = pagesOf(await explain(small, query));
    const after = pagesOf(await explain(large, query));
    // A tree may be one level higher, which each look-up notices.
    assert.ok(after <= before * 1.5 + 40, `${query}: ${before} pages, then ${after}`);
  }
});

test('page 40 by cursor, the one before it and the last one read as many pages as page 2', {
  timeout: 60_000,
}, async () => {
  const world = steady;
  for (const query of ['', 'status=booked', '_sort=date', '_sort=-created', '_sort=-_lastUpdated', 'practitioner=d3']) {
    const at = (cursor: string): string =>
      [query, '_count=8', `_cursor=${cursor}`].filter((part) => part !== '').join('&');
    let previous: string | undefined;
    let cursor =
      (await world.page('Appointment', [query, '_count=8'].filter((part) => part !== '').join('&'))).next?.cursor ?? '';
    const second = pagesOf(await explain(world, at(cursor)));
    for (let page = 2; page < 40; page += 1) {
      const found = await world.page('Appointment', at(cursor));
      cursor = found.next?.cursor ?? assert.fail(query);
      previous = found.previous?.cursor;
    }
    const last = planPage(appointmentsBy(world, [query, '_count=8'].join('&'))).last(400)?.cursor;
    for (const [name, further] of Object.entries({ cursor, previous, last })) {
      const pages = pagesOf(await explain(world, at(further ?? assert.fail(name))));
      // What lacks the key stands last and is looked for among all, whichever way the end is reached.
      if (name === 'last' && /_sort=-?(date|created)/.test(query)) continue;
      assert.ok(pages <= second * 1.5 + 10, `${query}, ${name}: ${second} pages, then ${pages}`);
    }
  }
});

test('a range is read from the row that a page comes after, not from its beginning', { timeout: 60_000 }, async () => {
  const world = steady;
  const ranges = [
    'date=ge2020-01-01',
    'date=lt2030-01-01&_sort=-date',
    'date=ge2020-01-01&_sort=date,status',
    '_lastUpdated=gt2020-01-01',
  ];
  for (const query of ranges) {
    const pageAt = (cursor = '') => world.page('Appointment', `${query}&_count=8&_cursor=${cursor}`);
    const read = async (cursor = ''): Promise<number> =>
      pagesOf(await explain(world, `${query}&_count=8&_cursor=${cursor}`));
    const first = await world.page('Appointment', `${query}&_count=8`);
    const last = await pageAt(planPage(appointmentsBy(world, `${query}&_count=8`)).last(many)?.cursor);
    const beforeLast = await pageAt(last.previous?.cursor);
    const forward = [await read(first.next?.cursor), await read(beforeLast.next?.cursor)] as const;
    const third = await pageAt((await pageAt(first.next?.cursor)).next?.cursor);
    const backward = [await read(beforeLast.previous?.cursor), await read(third.previous?.cursor)] as const;
    for (const [near, far] of [forward, backward])
      assert.ok(far <= near + 10, `${query}: ${near} pages near the beginning of the walk, ${far} far from it`);
  }
});

test('of thousands that are equal in the sort key a page reads no more than it shows, and one', async () => {
  for (const query of ['_sort=status&_count=10', '_sort=-status&_count=10']) {
    const rows = nodesOf(await explain(steady, query)).map((node) => node['Actual Rows']);
    assert.equal(Math.max(...rows), 11, query);
  }
});

test('an estimate reads at most twice the pages that a page of the search reads', {
  timeout: 60_000,
}, async (t) => {
  const world = await openSearchWorld(t);
  await world.load(appointments(9000), { bare: true });
  await vacuumed(world);
  for (const query of broad) {
    const target = appointmentsBy(world, query);
    const page = pagesOf(await explained(world, planPage(target).buildStatement()));
    const estimate = pagesOf(await explained(world, planEstimate(target)));
    t.diagnostic(`${query}: ${page} and ${estimate} pages`);
    assert.ok(estimate <= 2 * page, `${query}: ${page} pages, estimate ${estimate}`);
  }
});
