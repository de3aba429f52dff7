/**
 * The statement of a round of includes: it names the firm wherever it reads a tenant's table, reads no whole table, and its
 * work does not grow with the data (counted in pages read, which no other load of the machine changes).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Sql, sql } from '../../src/database/sql.ts';
import { type IncludeRound, includeStatement } from '../../src/search/includes/include-statement.ts';
import { computeParameterNumber } from '../../src/search/numbers.ts';
import { vacuumed } from './explained.ts';
import { openSearchWorld, type SearchWorld } from './world.ts';

const patients = 20;

const appointment = (n: number) => ({
  resourceType: 'Appointment',
  id: `a${n}`,
  status: ['booked', 'booked', 'cancelled'][n % 3],
  participant: [
    { actor: { reference: `Patient/p${n % patients}` } },
    { actor: { reference: `Practitioner/d${n % 10}` } },
  ],
});

const practice = (appointments: number) => [
  ...Array.from({ length: patients }, (_, n) => ({
    resourceType: 'Patient',
    id: `p${n}`,
    gender: n % 2 ? 'male' : 'female',
  })),
  ...Array.from({ length: 10 }, (_, n) => ({ resourceType: 'Practitioner', id: `d${n}` })),
  ...Array.from({ length: appointments }, (_, n) => appointment(n)),
];

const actor = computeParameterNumber('Appointment', 'actor');
const all = [[]];
const booked = [[{ parameter: 'status', values: ['booked'] }]];
const female = [[{ parameter: 'gender', values: ['female'] }], [{ parameter: 'active', values: ['false'] }]];

/** From the first appointments to their actors, and from the first patients to their appointments. */
async function roundOf(world: SearchWorld, more: Partial<IncludeRound> = {}): Promise<IncludeRound> {
  const { rows } = await world.page('Appointment', '_sort=_id&_count=10');
  return {
    scope: world.scope,
    outgoing: rows.map(({ rid }) => ({ rid, parameter: actor, target: undefined })),
    incoming: [0, 1, 2].map((n) => ({ parameter: actor, type: 'Patient', id: `p${n}` })),
    targets: new Map([
      ['Patient', all],
      ['Practitioner', all],
    ]),
    sources: [{ parameter: actor, source: 'Appointment', restriction: all }],
    known: rows.map(({ rid }) => rid),
    limit: 20,
    bytesMax: 1_000_000,
    ...more,
  };
}

const restricted: Partial<IncludeRound> = {
  targets: new Map([
    ['Patient', female],
    ['Practitioner', all],
  ]),
  sources: [{ parameter: actor, source: 'Appointment', restriction: booked }],
};

test('every table of a tenant is read with the firm', () => {
  const scope = { firm: 4711, application: 1 } as SearchWorld['scope'];
  const outgoing = [{ rid: 1, parameter: actor, target: 'Patient' }];
  const incoming = [{ parameter: actor, type: 'Patient', id: 'p1' }];
  const { targets = new Map(), sources = [] } = restricted;
  const { text, values } = includeStatement({
    scope,
    outgoing,
    incoming,
    targets,
    sources,
    known: [],
    limit: 5,
    bytesMax: 1000,
  });
  const reads = [...text.matchAll(/FROM (?:index_[a-z]+|resource|access_epoch)\b(?: (?!WHERE|LEFT)([a-z]+))?/g)];
  assert.ok(reads.length > 6, text);
  for (const read of reads) {
    const alias = read[1] === undefined ? '' : `${read[1]}\\.`;
    const firm = new RegExp(`${alias}firm = \\$(\\d+)`).exec(text.slice(read.index));
    assert.equal(values[Number(firm?.[1]) - 1], 4711, `${read[0]} in ${text}`);
  }
});

test('a round without references to follow is not made', () => {
  const scope = { firm: 1, application: 1 } as SearchWorld['scope'];
  assert.throws(
    () =>
      includeStatement({
        scope,
        outgoing: [],
        incoming: [],
        targets: new Map(),
        sources: [],
        known: [],
        limit: 5,
        bytesMax: 1000,
      }),
    new TypeError('a round of includes needs references to follow'),
  );
});

test('rows come by their number, each once, none that is known, and only those that may be seen', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(practice(100));
  const found = async (more: Partial<IncludeRound>): Promise<string[]> => {
    const rows = await world.store.selectPage(world.scope, includeStatement(await roundOf(world, more)));
    assert.deepEqual(
      rows.map(({ rid }) => rid),
      [...new Set(rows.map(({ rid }) => rid))].toSorted((a, b) => a - b),
    );
    return rows.map(({ id }) => id);
  };
  // a0 a1 a10 a11 … a17 are known.
  const actors = ['p0', 'p1', 'p10', 'p11', 'p12', 'p13', 'p14', 'p15', 'p16', 'p17'];
  assert.deepEqual((await found({ incoming: [], limit: 10 })).toSorted(), actors);
  const doctors = ['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7'];
  assert.deepEqual(await found({ outgoing: [], limit: 100 }), [
    'a2',
    'a20',
    'a21',
    'a22',
    'a40',
    'a41',
    'a42',
    'a60',
    'a61',
    'a62',
    'a80',
    'a81',
    'a82',
  ]);
  assert.deepEqual(await found({ ...restricted, outgoing: [], limit: 3 }), ['a21', 'a22', 'a40']);
  assert.deepEqual((await found({ ...restricted, incoming: [], limit: 100 })).toSorted(), [
    ...doctors,
    ...actors.filter((id) => Number(id.slice(1)) % 2 === 0),
  ]);
  assert.deepEqual(await found({ targets: new Map([['Location', all]]), incoming: [] }), []);
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

async function explained(world: SearchWorld, statement: Sql): Promise<PlanNode> {
  const [row] = await world.database.runtime
    .forFirm(world.scope.firm)
    .query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`);
  return row?.['QUERY PLAN'][0]?.Plan ?? assert.fail('no plan');
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

for (const [name, more] of [
  ['all rows', {}],
  ['row restrictions', restricted],
] as const) {
  test(`ten times the data cost a round no more pages, with ${name}`, { timeout: 60_000 }, async (t) => {
    const pages: number[] = [];
    for (const count of [600, 6000]) {
      const world = await openSearchWorld(t);
      await world.load(practice(count), { bare: true });
      await vacuumed(world);
      const plan = await explained(world, includeStatement(await roundOf(world, more)));
      const whole = nodesOf(plan).filter((node) => node['Node Type'] === 'Seq Scan');
      assert.deepEqual(
        whole.map((node) => node['Relation Name']).filter((table) => table !== 'access_epoch'),
        [],
      );
      pages.push((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0));
    }
    const [before = 0, after = 0] = pages;
    t.diagnostic(`${before} pages, then ${after}`);
    // A tree may be one level higher, which each look-up notices.
    assert.ok(after <= before * 1.5 + 40, `${before} pages, then ${after}`);
  });
}
