/**
 * Every statement that the running service sends while it answers requests, recorded over a sweep of all interactions,
 * search parameters of every kind, token requests and refusals: each that touches a tenant table runs as the firm of the
 * path and binds that firm as a value, and in its plan every scan of a tenant table is bounded by it. Row-level security
 * stands behind; here it is off, so that nothing but the statement itself is judged.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startService } from '../../src/app.ts';
import type { Database } from '../../src/database/database.ts';
import type { Sql } from '../../src/database/sql.ts';
import { decide } from '../../src/interactions/intake/deciding.ts';
import { slotIds } from '../../src/scheduling/slot-id.ts';
import { openStore } from '../../src/storage/store.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { documentOf, linkOf, pdf, putFile, uploaded } from '../content/world.ts';
import { editorOf, keepCalendar, keepHolidays, plainCalendar, putPlaces } from '../scheduling/world.ts';
import { appointment, encounter, patient } from '../support/records.ts';
import {
  type Caller,
  callerOf,
  clientForm,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
  type TestFirm,
} from '../support/service.ts';
import { tenantTables } from '../support/tenant-rows.ts';

interface Recorded {
  /** The firm that the statement ran as; undefined: none. */
  readonly firm: number | undefined;
  readonly statement: Sql;
  /** The request that was being answered. */
  readonly during: string;
}

const recorded: Recorded[] = [];
let during = '';

/** A database that notes every statement, in transactions too. */
function recording(database: Database): Database {
  const note = (firm: number | undefined, statement: Sql): void => void recorded.push({ firm, statement, during });
  return {
    ...database,
    query(statement, options) {
      note(undefined, statement);
      return database.query(statement, options);
    },
    forFirm: (firm) => ({
      query(statement, options) {
        note(firm, statement);
        return database.forFirm(firm).query(statement, options);
      },
    }),
    transaction: (firm, work, options) =>
      database.transaction(
        firm,
        (tx) =>
          work({
            query(statement) {
              note(firm, statement);
              return tx.query(statement);
            },
          }),
        options,
      ),
  };
}

const plain = await openTestService({ after }, { PRAXIS_DATA_DIR: openScratchDirectory({ after }).path });
const database = recording(plain.platform.database);
const recordedService = await startService({ ...plain.platform, database, store: openStore(database) });
after(() => recordedService.drain());
const service = { ...plain, service: recordedService, origin: recordedService.origin };

const tables = await tenantTables(plain.database.owner);
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple, cedar]);
const narrow = await makeApplication(
  service,
  'Narrow',
  [
    'acl/org_pay_r',
    'acl/org_pay_s',
    'acl/tsk_pmrecall_r',
    'acl/tsk_pmrecall_s',
    'acl/pat_s_name_dob_gen',
    'acl/pat_u',
    'acl/serv_req_s',
    'acl/lab_type_path',
  ],
  [maple],
);

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };
const language = [{ op: 'add', path: '/language', value: 'en' }];

const searches: readonly string[] = [
  'Patient',
  'Patient?_id=one',
  'Patient?_id=one,two',
  'Patient?_lastUpdated=ge2000-01-01',
  'Patient?_sort=_lastUpdated',
  'Patient?_sort=-family,birthdate,_id&_count=2',
  'Patient?family=Stone&given=Ada&gender=female&birthdate=ge1970&birthdate=lt1980',
  'Patient?name:contains=ton,ree&family:exact=Stone',
  'Patient?identifier=urn:x|1&identifier=urn:x|',
  'Patient?gender:not=male&active=true',
  'Patient?organization:missing=true&general-practitioner:missing=false',
  'Patient?general-practitioner=Practitioner/one,two',
  'Patient?organization:identifier=urn:x|1',
  'Patient?_total=accurate&_count=1&page=2',
  'Patient?_summary=count&gender=female',
  'Patient?_elements=name&_count=0',
  'Appointment?date=ge2026-11-21&date=le2026-11-25&status=booked&_sort=date',
  'Appointment?actor:Patient=one&patient=one',
  'Observation?value-quantity=gt70|http://unitsofmeasure.org|kg&code=http://loinc.org|1',
  'Observation?date=sa2020&_sort=-date',
  'RiskAssessment?probability=gt0.1&_sort=probability',
  'ValueSet?url=http://example.com/x&url:missing=false',
  'Encounter?length=gt5&_sort=-length',
  'Task?code=PMRECALL',
  'Organization?type=pay&name=x',
  'ServiceRequest?status=active',
];

/** Sends everything as `caller`; what is refused is as good as what is answered. */
async function sweep(caller: Caller): Promise<void> {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    during = `${method} ${path}`;
    const { status, text } = await caller.send(method, path, body, headers);
    assert.ok(status < 500, `${during}: ${text}`);
  };
  await call('PUT', 'Patient/one', {
    ...patient('Stone'),
    id: 'one',
    generalPractitioner: [{ reference: 'Practitioner/one' }],
  });
  await call('PUT', 'Patient/one', { ...patient('Stone'), id: 'one', gender: 'female', birthDate: '1970-01-02' });
  await call('PUT', 'Patient/one', { ...patient('Stone'), id: 'one' }, { 'if-match': 'W/"1"' });
  for (const family of ['Ash', 'Birch', 'Cherry']) await call('POST', 'Patient', patient(family));
  await call('POST', 'Patient', patient('Stone'), { 'if-none-exist': 'family=Stone' });
  await call('PUT', 'Patient?family=Nobody', patient('Nobody'));
  await call('PATCH', 'Patient/one', JSON.stringify(language), jsonPatch);
  await call('PATCH', 'Patient?_id=one', JSON.stringify(language), jsonPatch);
  await call('POST', 'Encounter', encounter('Patient/one'));
  await call('POST', 'Appointment', appointment('Patient/one', '2026-11-21T10:00:00Z'));
  await call('PUT', 'Task/one', {
    resourceType: 'Task',
    id: 'one',
    status: 'ready',
    intent: 'order',
    code: { text: 'x' },
  });
  for (let time = 0; time < 2; time += 1)
    await call('POST', 'Encounter', encounter('Patient/one'), { 'idempotency-key': '"one"' });
  await call('DELETE', 'Task/one');
  await call('DELETE', 'Task?status=draft');
  for (const path of [
    'Patient/one',
    'Patient/none',
    'Task/one',
    'Patient/one/_history',
    'Patient/one/_history?_count=1',
    'Patient/one/_history?_since=2026&_at=2026-11',
    'Patient/_history',
    'Patient/_history?_count=1&_since=2026&_at=2026-11',
    '_history',
    '?_type=Patient,Encounter&_total=accurate&_count=1',
    '?_lastUpdated=ge2000&_summary=count',
    '?_type=Patient,Task&_total=estimate&_count=1',
    'Patient/one/_history/1',
    'Patient/one/_history/99',
    'Parameters',
    'metadata',
    'AuditEvent',
    '$changes',
    '$changes?since=2026-11-21&_type=Patient',
    '$write-outcome?key=one',
    '$reconciliation?id=one',
  ])
    await call('GET', path);
  for (const search of searches) {
    await call('GET', search);
    const [type = '', query = ''] = search.split('?');
    await call('POST', `${type}/_search`, query, form);
  }
  for (const search of [
    'Patient?_sort=family&_count=1',
    'Patient?_count=1',
    'Patient/_history?_count=1',
    '_history?_count=2&_at=2026-11-21',
    'Patient?gender:not=male&_count=1&_sort=-_lastUpdated',
  ])
    await walk(caller, search);
}

/** Content that comes in, is held, goes out and is removed. */
async function documents(caller: Caller): Promise<void> {
  during = 'documents';
  const { url, attachment } = await uploaded(caller, pdf);
  assert.equal((await putFile(url, pdf)).status, 410);
  const copy = await uploaded(caller, pdf);
  const made = await caller.send('POST', 'DocumentReference', documentOf(attachment));
  assert.equal(made.status, 201, made.text);
  assert.equal((await caller.send('POST', 'DocumentReference', documentOf(copy.attachment))).status, 409);
  assert.equal((await fetch(await linkOf(caller, made.json.id))).status, 200);
}

/** Calendars, and all that is asked of and by them. */
async function schedule(caller: Caller, firm: TestFirm): Promise<void> {
  during = 'calendars';
  const platform = { ...plain.platform, database, store: openStore(database) };
  await putPlaces(caller, ['12'], ['3']);
  const { number } = await keepCalendar(platform, firm, plainCalendar);
  await keepHolidays(platform, firm, '', { holidays: [] });
  const { store, scope } = await editorOf(platform, firm);
  await store.calendarVersions(scope, number);
  await store.holidayVersions(scope, '');
  const [slot, other] = [9, 10].map((hour) => slotIds(firm.id, number, 'NEW')(Date.UTC(2026, 10, 23, hour + 5)));
  const send = async (path: string, ...parameter: object[]) => {
    during = `POST ${path}`;
    const body = parameter.length === 0 ? undefined : { resourceType: 'Parameters', parameter };
    return await caller.send('POST', path, body);
  };
  for (const path of ['Slot?appointment-type=NEW&date=2026-11-23', 'Slot/$find?appointment-type=NEW', `Slot/${slot}`]) {
    during = `GET ${path}`;
    await caller.get(path);
  }
  const { json, status, text } = await send(`Slot/${slot}/$hold`);
  assert.equal(status, 200, text);
  const hold = { name: 'hold', valueId: json.parameter[0].valueId };
  await send('Slot/$renew', hold);
  const visit = { participant: [{ actor: { reference: 'Patient/one' }, status: 'accepted' }] };
  const appointment = { name: 'appointment', resource: { resourceType: 'Appointment', ...visit } };
  const booked = await send('Appointment/$book', appointment, hold);
  assert.equal(booked.status, 201, booked.text);
  assert.equal((await send('Appointment/$book', appointment, { name: 'slot', valueString: slot })).status, 409);
  await send(`Appointment/${booked.json.id}/$reschedule`, { name: 'slot', valueString: other });
  await send(`Appointment/${booked.json.id}/$cancel`, { name: 'reason', valueCodeableConcept: { text: 'ill' } });
  const second = await send(`Slot/${slot}/$hold`);
  await send('Slot/$release', { name: 'hold', valueId: second.json.parameter[0].valueId });
}

/** Charges, and what waits for the practice. */
async function intake(caller: Caller, firm: TestFirm): Promise<void> {
  during = 'charges and intake';
  const platform = { ...plain.platform, database, store: openStore(database) };
  const { store, scope, clock } = await editorOf(platform, firm);
  const transaction = { system: 'https://praxis.health/fhir/sid/transaction', value: 't' };
  const subject = { reference: 'Patient/one' };
  const code = { text: 'Visit' };
  const charge = { resourceType: 'ChargeItem', identifier: [transaction], status: 'billable', code, subject };
  const { id } = (await caller.send('POST', 'ChargeItem', charge)).json;
  assert.equal((await caller.send('POST', 'ChargeItem', charge)).status, 409);
  await caller.send('PUT', `ChargeItem/${id}`, { ...charge, id, identifier: [{ ...transaction, value: 'u' }] });
  await store.inboundCharges(scope, { fromMs: 0, toMs: clock.now() + 1 }, 10);
  const rule = { type: 'Condition', application: undefined };
  await store.addIntakeRule(scope, rule);
  await store.intakeRules(scope);
  const waiting = await caller.send('POST', 'Condition', { resourceType: 'Condition', subject });
  assert.equal(waiting.status, 202, waiting.text);
  const [proposal] = await store.waitingProposals(scope, 10);
  const decider = { store, scope, clock, baseUrl: firm.base, username: 'desk', flow: 'session' };
  await decide(decider, proposal?.task ?? '', { rest: 'accept' });
  await store.removeIntakeRule(scope, rule);
}

async function walk(caller: Caller, search: string): Promise<void> {
  for (let url: string | undefined = search; url !== undefined; ) {
    during = `page of ${search}`;
    const { json } = await caller.get(url);
    url = json.link?.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
}

const started = recorded.length;
const swept = new Map<string, { readonly firm: number; readonly statements: readonly Recorded[] }>();
for (const [name, firm, caller] of [
  ['operator at maple', maple, await openCaller(service, operator, maple)],
  [
    'operator at cedar, by the legacy flow',
    cedar,
    callerOf(cedar, await legacyToken(operator, cedar), operator.legacyKey),
  ],
  ['row criteria at maple', maple, await openCaller(service, narrow, maple)],
] as const) {
  // What a job still does for the firm before would look like this one's.
  await service.service.jobs.settle();
  await service.service.parts.ledger.flush();
  const from = recorded.length;
  await sweep(caller);
  if (name.startsWith('operator')) await documents(caller);
  if (name.startsWith('operator')) await schedule(caller, firm);
  if (name.startsWith('operator')) await intake(caller, firm);
  await service.service.parts.ledger.flush();
  swept.set(name, { firm: firm.id, statements: recorded.slice(from) });
}
during = 'token requests';
for (const [url, body, key] of [
  [`${service.origin}/auth/realms/sandbox/protocol/openid-connect/token`, clientForm(operator), operator.clientKey],
  [
    `${service.origin}/auth/realms/sandbox/protocol/openid-connect/token`,
    { ...clientForm(operator), client_secret: 'x' },
    undefined,
  ],
  [maple.legacyTokenUrl, passwordForm(operator, maple), operator.legacyKey],
  [maple.legacyTokenUrl, { grant_type: 'password', username: 'x', password: 'x' }, operator.legacyKey],
  [maple.legacyTokenUrl, { grant_type: 'refresh_token', refresh_token: 'x' }, operator.legacyKey],
] as const) {
  await postForm(url, body, key);
}
for (const path of ['/health/ready', '/auth/realms/sandbox/protocol/openid-connect/certs'])
  await fetch(service.origin + path);

/** Tables named in the statement after FROM, JOIN, INTO or UPDATE, each occurrence. */
function tablesOf({ text }: Sql): string[] {
  const named = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING|ONLY)\\s+"?(${tables.join('|')})"?\\b`, 'gi');
  return [...text.matchAll(named)].map(([, table]) => table ?? '');
}

const writes = ({ statement }: Recorded): boolean => /\bpraxis_(?:write|audit)\b/.test(statement.text);
const touching = recorded.slice(started).filter((each) => tablesOf(each.statement).length > 0 || writes(each));

test('the sweep is worth its name: it reads, searches and writes through many different statements', () => {
  const texts = new Set(touching.map(({ statement }) => statement.text));
  assert.ok(texts.size > 35, `${texts.size} statements`);
  const named = new Set(touching.flatMap(({ statement }) => tablesOf(statement)));
  for (const table of tables.filter((name) => !name.startsWith('audit_'))) assert.ok(named.has(table), table);
  assert.ok(touching.some(writes));
});

test('a statement without a firm touches no tenant table', () => {
  const careless = recorded
    .filter(({ firm }) => firm === undefined)
    .filter((each) => tablesOf(each.statement).length > 0 || writes(each));
  assert.deepEqual(
    careless.map(({ during, statement }) => `${during}: ${statement.text}`),
    [],
  );
  // Nor by another name: no other word of the statement is a tenant table.
  for (const { firm, statement } of recorded) {
    if (firm === undefined)
      assert.ok(!new RegExp(`\\b(?:${tables.join('|')})\\b`).test(statement.text), statement.text);
  }
});

/** The firm as a condition or an argument, or as the first of the values to insert. */
const boundFirm = /\b(?:\w+\.)?(?:in_)?firm =>? \$(\d+)|INSERT INTO \w+ \(firm,[^)]*\) VALUES \(\$(\d+)/g;

test('each statement that touches a tenant table runs as the firm of the path and binds it', () => {
  for (const [name, { firm, statements }] of swept) {
    const some = statements.filter((each) => touching.includes(each));
    assert.ok(some.length > 30, name);
    for (const each of some) {
      const { text, values } = each.statement;
      assert.equal(each.firm, firm, `${name}: ${each.during}`);
      const bound = [...text.matchAll(boundFirm)].map(([, inCondition, inValues]) => {
        return values[Number(inCondition ?? inValues) - 1];
      });
      assert.ok(
        bound.length >= Math.max(1, tablesOf(each.statement).length),
        `${each.during}: a table without a firm: ${text}`,
      );
      assert.deepEqual(new Set(bound), new Set([firm]), `${each.during}: ${text}`);
    }
  }
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
  readonly [property: string]: unknown;
}

/** The conditions under which a node reads rows of its relation. */
function conditionsOf(node: PlanNode): string {
  const own = ['Index Cond', 'Filter', 'Recheck Cond', 'TID Cond'].map((name) => String(node[name] ?? '')).join(' ');
  const below = node['Node Type'] === 'Bitmap Heap Scan' ? (node.Plans ?? []) : [];
  return [own, ...below.map(conditionsOf)].join(' ');
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

test('in the plan of each statement every scan of a tenant table is bounded by the bound firm', async () => {
  const byText = new Map(touching.filter((each) => !writes(each)).map((each) => [each.statement.text, each]));
  let scans = 0;
  for (const { firm, statement, during: asked } of byText.values()) {
    // A statement that the template would not make: the recorded one, to be explained and not run.
    const explained = { ...statement, text: `EXPLAIN (FORMAT JSON) ${statement.text}`, values: statement.values };
    const [row] = await plain.database.owner.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(explained);
    const plan = row?.['QUERY PLAN'][0]?.Plan;
    assert.ok(plan, asked);
    for (const node of nodesOf(plan)) {
      const table = node['Relation Name'];
      // What changes rows gets them from a scan below it.
      if (table === undefined || !tables.includes(table) || node['Node Type'] === 'ModifyTable') continue;
      scans += 1;
      assert.match(
        conditionsOf(node),
        new RegExp(`\\bfirm = ${firm}\\b`),
        `${asked}: ${node['Node Type']} of ${table}: ${statement.text}`,
      );
    }
  }
  assert.ok(scans > 100, String(scans));
});
