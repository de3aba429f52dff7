/**
 * Every state of every table with every event, over HTTP: what the table allows is done, all else is 422 naming the state and
 * what may follow, and nothing is changed (docs/integrate/states.md).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { stateTables } from '../../src/practice/features.ts';
import type { Actor, StateTable } from '../../src/resources/states/state-table.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';
import { beginnings, conditionOf, inState, leadsTo, operationEvents, r4States, stateCodes } from './state-events.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const types = [...new Set(stateTables.map(({ type }) => type))];
const scopes = types.map((type) => `system/${type}.crus`);
const operator = await openCaller(service, await makeApplication(service, 'Operator', ['acl/*'], [maple]), maple);
const application = await openCaller(service, await makeApplication(service, 'Scoped', scopes, [maple]), maple);
const callers: readonly (readonly [by: Actor, caller: Caller])[] = [
  ['application', application],
  ['operator', operator],
];

/** Types that the operations are asked of; of others, what they do with them is judged in state-tables.test.ts. */
const asked: ReadonlySet<string> = new Set(['Appointment']);

let made = 0;
/** The path of a resource in the state, brought along as a copy. */
async function copyOf(table: StateTable, state: string): Promise<string> {
  made += 1;
  const id = `r${made}`;
  const answer = await operator.send('PUT', `${table.type}/${id}`, inState(table, state, id));
  assert.equal(answer.status, 201, answer.text);
  return `${table.type}/${id}`;
}

async function assertUnchanged(path: string, state: string): Promise<void> {
  const { json } = await operator.get(path);
  assert.deepEqual([json.status, json.meta.versionId], [state, '1']);
}

/** The refusal names the state and, in order, all that may follow. */
function assertRefusedFrom(table: StateTable, by: Actor, state: string, answer: Answer, what: string): void {
  assert.equal(answer.status, 422, `${what}: ${answer.text}`);
  const [issue, ...more] = answer.json.issue;
  assert.deepEqual(more, []);
  assert.equal(issue.code, 'business-rule');
  assert.equal(issue.details.coding[0].code, 'rule-broken');
  assert.deepEqual(issue.expression, [`${table.type}.status`]);
  const next = leadsTo(table, state, 'write', by);
  const listed = next.length === 0 ? 'nothing' : [...new Set(next)].join(', ');
  assert.ok(issue.diagnostics.startsWith(`${table.type}.status is ${state}`), issue.diagnostics);
  assert.ok(issue.diagnostics.includes(`What may follow ${state}: ${listed}`), issue.diagnostics);
  const operations = operationEvents(table).filter((on) => leadsTo(table, state, on, by).length > 0);
  for (const operation of operations) assert.ok(issue.diagnostics.includes(operation), issue.diagnostics);
}

for (const table of stateTables) {
  for (const [by, caller] of callers) {
    test(`${table.name}, ${by}: every state with every write`, async () => {
      const pairs = stateCodes(table).flatMap((from) => r4States(table).map((to) => [from, to] as const));
      await inTurns(pairs, async ([from, to]) => {
        const path = await copyOf(table, from);
        const answer = await caller.send('PUT', path, inState(table, to, path.split('/')[1]));
        if (to === from || leadsTo(table, from, 'write', by).includes(to)) {
          assert.deepEqual([answer.status, answer.json.status], [200, to], `${from} → ${to}: ${answer.text}`);
          return;
        }
        assertRefusedFrom(table, by, from, answer, `${from} → ${to}`);
        await assertUnchanged(path, from);
      });
    });

    test(`${table.name}, ${by}: every state as the first`, async () => {
      const possible = beginnings(table, by);
      for (const state of r4States(table)) {
        const answer = await caller.send('POST', table.type, inState(table, state));
        if (possible.includes(state)) {
          assert.deepEqual([answer.status, answer.json.status], [201, state], answer.text);
          continue;
        }
        assert.equal(answer.status, 422, `${state}: ${answer.text}`);
        const rule =
          possible.length === 0 ? 'only the service itself makes one' : `it begins as ${possible.join(', ')}`;
        assert.equal(
          answer.json.issue[0].diagnostics,
          `${table.type}.status cannot be ${state} in a new ${table.name}: ${rule}`,
        );
      }
    });

    if (!asked.has(table.type)) continue;
    test(`${table.name}, ${by}: every state with every operation`, async () => {
      const events = operationEvents(table);
      const pairs = stateCodes(table).flatMap((from) => events.map((on) => [from, on] as const));
      await inTurns(pairs, async ([from, on]) => {
        const path = await copyOf(table, from);
        const answer = await caller.send('POST', `${path}/${on}`);
        const [to] = leadsTo(table, from, on, by);
        if (to !== undefined && conditionOf(table, on) === 'offer-stands') {
          // The service makes offers, and only from the waiting list: test/practice/waiting-list/waitlist.test.ts.
          assert.equal(answer.status, 422, `${from} ${on}: ${answer.text}`);
          assert.match(answer.json.issue[0].diagnostics, /^The appointment was proposed by a caller, not offered/);
          await assertUnchanged(path, from);
          return;
        }
        if (to !== undefined) {
          assert.equal(answer.status, 200, `${from} ${on}: ${answer.text}`);
          assert.equal((await operator.get(path)).json.status, to);
          return;
        }
        assertRefusedFrom(table, by, from, answer, `${from} ${on}`);
        assert.ok(answer.json.issue[0].diagnostics.includes(`: ${on} takes it from `));
        await assertUnchanged(path, from);
        assert.equal((await operator.get(`Encounter?appointment=${path}`)).json.total, 0);
      });
    });
  }
}

const atOnce = 8;

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

test('a copy may come in any state of its table, by those who choose ids', async () => {
  for (const table of stateTables) {
    for (const state of stateCodes(table)) await copyOf(table, state);
    const id = `scoped-${table.type}`;
    const refused = await application.send(
      'PUT',
      `${table.type}/${id}`,
      inState(table, stateCodes(table)[0] ?? '', id),
    );
    assert.equal(refused.status, 404);
  }
});

test('a state that R4 does not know is refused as before', async () => {
  for (const table of stateTables) {
    const answer = await operator.send('POST', table.type, inState(table, 'confirmed'));
    assert.deepEqual([answer.status, answer.json.issue[0].code], [400, 'code-invalid'], answer.text);
  }
});

test('a state cannot be taken away', async () => {
  for (const table of stateTables) {
    const path = await copyOf(table, stateCodes(table)[0] ?? '');
    const body = { ...inState(table, '', path.split('/')[1]), status: undefined, _status: absent };
    const answer = await operator.send('PUT', path, body);
    assert.equal(answer.status, 422, answer.text);
    assert.equal(
      answer.json.issue[0].diagnostics,
      `${table.type}.status has no value: it tells where the resource stands, and is needed`,
    );
  }
});

const absent = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};

test('a Task does not become a proposal, nor a proposal another Task', async () => {
  const [intake] = stateTables.filter(({ coding }) => coding !== undefined);
  const [plain] = stateTables.filter(({ type, coding }) => type === 'Task' && coding === undefined);
  assert.ok(intake !== undefined && plain !== undefined);
  for (const [from, to] of [
    [intake, plain],
    [plain, intake],
  ] as const) {
    const path = await copyOf(from, 'requested');
    const answer = await operator.send('PUT', path, inState(to, 'requested', path.split('/')[1]));
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.json.issue[0].diagnostics, /^Task\.code tells which states the resource has/);
    assert.deepEqual(answer.json.issue[0].expression, ['Task.code']);
  }
});

test('a patch and an entry of a Bundle are judged alike, and a transaction with one is undone', async () => {
  const path = await copyOf(appointments(), 'fulfilled');
  const change = [{ op: 'replace', path: '/status', value: 'booked' }];
  const patch = { 'content-type': 'application/json-patch+json' };
  const refused = await application.send('PATCH', path, change, patch);
  assertRefusedFrom(appointments(), 'application', 'fulfilled', refused, 'patch');
  const entry = (method: string, url: string, resource: unknown) => ({ resource, request: { method, url } });
  const bundle = {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      entry('POST', 'Slot', inState(slots(), 'free')),
      entry('PUT', path, inState(appointments(), 'booked', path.split('/')[1])),
    ],
  };
  const before = (await operator.get('Slot?_summary=count')).json.total;
  const answer = await operator.send('POST', '', bundle);
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.json.issue[0].diagnostics, /Appointment\.status is fulfilled and cannot become booked\./);
  assert.equal((await operator.get('Slot?_summary=count')).json.total, before);
  await assertUnchanged(path, 'fulfilled');
});

test('who may not read the status is not told of it: even setting it blindly is refused alike in any state', async () => {
  const writer = await openCaller(service, await makeApplication(service, 'Blind', ['acl/appmt_u'], [maple]), maple);
  const change = [{ op: 'add', path: '/status', value: 'booked' }];
  const patch = { 'content-type': 'application/json-patch+json' };
  const answers = new Set<string>();
  for (const state of stateCodes(appointments())) {
    const path = await copyOf(appointments(), state);
    for (const answer of [
      await writer.send('PATCH', path, change, patch),
      await writer.send('POST', `${path}/$check-in`),
    ]) {
      assert.equal(answer.status, 403, answer.text);
      answers.add(answer.text);
    }
  }
  assert.deepEqual([...answers].length, 2);
});

function appointments(): StateTable {
  return tableFor('Appointment');
}

function slots(): StateTable {
  return tableFor('Slot');
}

function tableFor(type: string): StateTable {
  const table = stateTables.find((each) => each.type === type);
  assert.ok(table !== undefined);
  return table;
}
