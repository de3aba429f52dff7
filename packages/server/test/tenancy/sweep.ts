/**
 * A sweep through everything that can be asked of a firm: all interactions, search parameters of every kind, links between
 * resources, Bundles, operations, documents, calendars and intake. Tests record what the service sends for it.
 */
import assert from 'node:assert/strict';
import type { Platform } from '../../src/app.ts';
import { makeSlotIds } from '../../src/practice/calendars/slots/slot-id.ts';
import { findCalendarVersions, findHolidayVersions } from '../../src/practice/calendars/store.ts';
import { findInboundCharges } from '../../src/practice/charges/store.ts';
import { decide } from '../../src/practice/intake/deciding.ts';
import {
  addIntakeRule,
  findIntakeRules,
  findWaitingProposals,
  removeIntakeRule,
} from '../../src/practice/intake/store.ts';
import { documentOf, linkOf, pdf, putFile, uploaded } from '../content/world.ts';
import { editorOf, keepCalendar, keepHolidays, plainCalendar, putPlaces } from '../practice/calendars/world.ts';
import { bind, subscribeBySocket } from '../practice/subscriptions/socket-client.ts';
import { appointment, encounter, patient } from '../support/records.ts';
import { openRequestBudget } from '../support/request-budget.ts';
import type { Caller, TestFirm } from '../support/service.ts';

/** Who asks where, and who is told before each request what it is. */
export interface Sweeper {
  readonly caller: Caller;
  readonly firm: TestFirm;
  /** What calendars and intake are kept with. */
  readonly platform: Platform;
  readonly during: (what: string) => void;
}

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
  'Observation?code-value-quantity=http://loinc.org|1$gt70',
  'Location?near=10|10|100|km',
  'Patient?_text=Stone&_content=Stone',
  'Patient?phonetic=Stone',
  'Encounter?patient.family=Stone',
  'Encounter?subject:Patient.general-practitioner.name=Ada&_sort=date',
  'Appointment?patient.gender:not=male&_total=accurate',
  'Patient?_has:Encounter:patient:status=finished',
  'Patient?_has:Encounter:patient:_has:Observation:encounter:code=1&_summary=count',
  'Patient?_list=chosen',
  'Patient?_filter=family eq Stone and not (gender eq male)',
  'Encounter?_filter=patient.family eq Stone or status eq finished',
  'Encounter?_include=Encounter:patient&_include:iterate=Patient:general-practitioner',
  'Encounter?_include=*&_revinclude=*',
  'Patient?_revinclude=Encounter:patient&_revinclude=Appointment:patient',
  'Patient?_revinclude:iterate=*&_count=1',
  'Location?partof:below=Location/ward',
  'Observation?code:in=http://example.com/set',
  'Patient?_tag=http://example.com|1&_profile=http://example.com/p',
];

const to = (reference: string) => ({ reference });
const loinc = { coding: [{ system: 'http://loinc.org', code: '1' }] };
const stone = {
  resourceType: 'Patient',
  id: 'one',
  meta: { tag: [{ system: 'http://example.com', code: '1' }], profile: ['http://example.com/p'] },
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Stone</div>' },
  identifier: [{ system: 'urn:x', value: '1' }],
  active: true,
  name: [{ family: 'Stone', given: ['Ada'] }],
  gender: 'female',
  birthDate: '1970-01-02',
  generalPractitioner: [to('Practitioner/one')],
};

/** What the searches find. */
const records: readonly { readonly resourceType: string; readonly id: string; readonly [element: string]: unknown }[] =
  [
    { resourceType: 'Practitioner', id: 'one', name: [{ family: 'Ada' }] },
    stone,
    {
      resourceType: 'Patient',
      id: 'two',
      managingOrganization: { identifier: { system: 'urn:x', value: '1' } },
      generalPractitioner: [to('Practitioner/two')],
    },
    {
      ...encounter('Patient/one'),
      resourceType: 'Encounter',
      id: 'one',
      status: 'finished',
      length: { value: 10, code: 'min' },
    },
    {
      resourceType: 'Observation',
      id: 'one',
      status: 'final',
      category: [loinc],
      code: loinc,
      subject: to('Patient/one'),
      encounter: to('Encounter/one'),
      effectiveDateTime: '2026-01-01',
      valueQuantity: { value: 80, system: 'http://unitsofmeasure.org', code: 'kg' },
    },
    {
      resourceType: 'RiskAssessment',
      id: 'one',
      status: 'final',
      subject: to('Patient/one'),
      prediction: [{ probabilityDecimal: 0.5 }],
    },
    {
      resourceType: 'ValueSet',
      id: 'one',
      url: 'http://example.com/set',
      status: 'active',
      compose: { include: [{ system: 'http://loinc.org', concept: [{ code: '1' }] }] },
    },
    { resourceType: 'ValueSet', id: 'two', url: 'http://example.com/x', status: 'active' },
    {
      resourceType: 'CodeSystem',
      id: 'one',
      url: 'http://example.com',
      status: 'active',
      content: 'complete',
      concept: [{ code: '1' }],
    },
    {
      resourceType: 'Task',
      id: 'recall',
      status: 'requested',
      intent: 'order',
      code: { coding: [{ code: 'PMRECALL' }] },
      for: to('Patient/one'),
    },
    { resourceType: 'Organization', id: 'one', name: 'x', type: [{ coding: [{ code: 'pay' }] }] },
    { resourceType: 'Location', id: 'ward', name: 'Ward', position: { longitude: 10, latitude: 10 } },
    { resourceType: 'Location', id: 'room', name: 'Room', partOf: to('Location/ward') },
    {
      resourceType: 'ServiceRequest',
      id: 'one',
      status: 'active',
      intent: 'order',
      subject: to('Patient/one'),
      category: [{ coding: [{ code: 'PATHOLOGY' }] }],
    },
    {
      resourceType: 'List',
      id: 'chosen',
      status: 'current',
      mode: 'working',
      entry: [{ item: to('Patient/one') }],
    },
  ];

/** Sends everything as the caller; what is refused is as good as what is answered. */
export async function sweepResources({ caller, during }: Sweeper): Promise<void> {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    during(`${method} ${path}`);
    const { status, text } = await caller.send(method, path, body, headers);
    assert.ok(status < 500, `${method} ${path}: ${text}`);
  };
  for (const record of records) await call('PUT', `${record.resourceType}/${record.id}`, record);
  await call('PUT', 'Patient/one', { ...stone, multipleBirthBoolean: false });
  await call('PUT', 'Patient/one', stone, { 'if-match': 'W/"1"' });
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
    '_history?_since=2026-01-01&_count=2',
    'Patient/one/*',
    'Patient/one/Encounter?_sort=-date',
    'Patient/one/$everything',
    'Patient/one/$everything?_type=Encounter&_since=2026-01-01&_count=1',
    'Observation/$lastn?patient=one',
    'Patient/one/$meta',
    'Patient/$meta',
    '$effective-access',
    'ValueSet/$expand?url=http://example.com/set',
    'CodeSystem/$lookup?system=http://example.com&code=1',
    'Patient?_type=x',
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
    await walk(caller, search, during);
  await call('POST', '', bundle);
  await sweepExport(caller, during);
}

/** Two exports, of which one is removed. */
async function sweepExport(caller: Caller, during: Sweeper['during']): Promise<void> {
  during('bulk export');
  const begin = async (): Promise<string> =>
    (await caller.get('$export', { prefer: 'respond-async' })).headers.get('content-location') ?? '';
  const status = await begin();
  let manifest = await caller.get(status);
  while (manifest.status === 202) manifest = await caller.get(status);
  assert.equal((await caller.get(manifest.json.output[0].url)).status, 200);
  assert.equal((await caller.send('DELETE', await begin())).status, 202);
}

/** Conditional in every way, and a reference that is a search. */
const bundle = {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [
    { request: { method: 'GET', url: 'Patient?family=Stone' } },
    {
      request: { method: 'POST', url: 'Encounter', ifNoneExist: 'status=planned' },
      resource: { ...encounter('Patient?identifier=urn:none|1'), status: 'planned' },
    },
    { request: { method: 'PUT', url: 'Patient?family=Ash' }, resource: patient('Ash') },
    { request: { method: 'DELETE', url: 'Task?status=draft' } },
  ],
};

/** Content that comes in, is held, goes out and is removed. */
export async function sweepDocuments({ caller, during }: Sweeper): Promise<void> {
  during('documents');
  const { url, attachment } = await uploaded(caller, pdf);
  assert.equal((await putFile(url, pdf)).status, 410);
  const copy = await uploaded(caller, pdf);
  const made = await caller.send('POST', 'DocumentReference', documentOf(attachment));
  assert.equal(made.status, 201, made.text);
  assert.equal((await caller.send('POST', 'DocumentReference', documentOf(copy.attachment))).status, 409);
  assert.equal((await fetch(await linkOf(caller, made.json.id))).status, 200);
}

/** Calendars, and all that is asked of and by them. */
export async function sweepCalendars({ caller, firm, platform, during }: Sweeper): Promise<void> {
  during('calendars');
  await putPlaces(caller, ['12'], ['3']);
  const { number } = await keepCalendar(platform, firm, plainCalendar);
  await keepHolidays(platform, firm, '', { holidays: [] });
  const { store, scope } = await editorOf(platform, firm);
  await findCalendarVersions(store, scope, number);
  await findHolidayVersions(store, scope, '');
  const [slot, other] = [9, 10].map((hour) => makeSlotIds(firm.id, number, 'NEW')(Date.UTC(2026, 10, 23, hour + 5)));
  const send = async (path: string, ...parameter: object[]) => {
    during(`POST ${path}`);
    const body = parameter.length === 0 ? undefined : { resourceType: 'Parameters', parameter };
    return await caller.send('POST', path, body);
  };
  for (const path of ['Slot?appointment-type=NEW&date=2026-11-23', 'Slot/$find?appointment-type=NEW', `Slot/${slot}`]) {
    during(`GET ${path}`);
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
  // What stays: a time that is taken and one that is held.
  assert.equal((await send('Appointment/$book', appointment, { name: 'slot', valueString: slot })).status, 201);
  assert.equal((await send(`Slot/${other}/$hold`)).status, 200);
}

/** One who waits for the time that is taken, and gets it. @param settle has the jobs do what is due */
export async function sweepWaitingList({ caller, during }: Sweeper, settle: () => Promise<void>): Promise<void> {
  during('the waiting list');
  const participant = [{ actor: { reference: 'Patient/one' }, status: 'accepted' }];
  const appointmentType = { coding: [{ code: 'NEW' }] };
  const waiting = { resourceType: 'Appointment', status: 'waitlist', appointmentType, participant };
  const { id } = (await caller.send('POST', 'Appointment', waiting)).json;
  const taken = await caller.get('Appointment?status=booked&actor=Practitioner/12');
  const freed = await caller.send('DELETE', `Appointment/${taken.json.entry[0].resource.id}`);
  assert.equal(freed.status, 204, freed.text);
  await settle();
  during('the offer that is accepted');
  const accepted = await caller.send('POST', `Appointment/${id}/$accept-offer`);
  assert.equal(accepted.status, 200, accepted.text);
}

/** A subscription from its handshake to its end. @param settle has the jobs do what is due */
export async function sweepSubscriptions(
  { caller, during }: Sweeper,
  endpoint: string,
  settle: () => Promise<void>,
): Promise<void> {
  during('subscriptions');
  const topic = 'https://praxis.health/fhir/SubscriptionTopic/patient-changed';
  const ids: string[] = [];
  for (const criteria of [topic, 'Patient?active=true']) {
    const asked = { resourceType: 'Subscription', status: 'requested', reason: 'Sweep', criteria };
    const channel = { type: 'rest-hook', endpoint, payload: 'application/fhir+json' };
    const made = await caller.send('POST', 'Subscription', { ...asked, channel });
    assert.equal(made.status, 201, made.text);
    ids.push(made.json.id);
  }
  await settle();
  during('events');
  await caller.send('POST', 'Patient', { ...patient('Told'), active: true });
  await settle();
  during('what subscriptions tell');
  for (const asked of ['Subscription/$status', `Subscription/${ids[0]}/$events`]) {
    const answer = await caller.get(asked);
    assert.equal(answer.status, 200, answer.text);
  }
  assert.equal((await caller.send('POST', `Subscription/${ids[0]}/$rotate-secret`)).status, 200);
  during('a websocket');
  const bySocket = await subscribeBySocket(caller, topic);
  const ends: (() => Promise<void>)[] = [];
  const client = await bind({ after: (end) => void ends.push(end) }, caller, bySocket);
  await client.next();
  await settle();
  client.socket.close();
  await client.closed;
  const active = (await caller.get(`Subscription/${bySocket}`)).json;
  assert.equal((await caller.send('PUT', `Subscription/${bySocket}`, { ...active, status: 'off' })).status, 200);
  assert.equal((await caller.send('DELETE', `Subscription/${ids[1]}`)).status, 204);
  // It stays, so that what is asked of all firms would find it, and does nothing more.
  const { json } = await caller.get(`Subscription/${ids[0]}`);
  assert.equal((await caller.send('PUT', `Subscription/${ids[0]}`, { ...json, status: 'off' })).status, 200);
  await settle();
}

/** Charges, and what waits for the practice. */
export async function sweepIntake({ caller, firm, platform, during }: Sweeper): Promise<void> {
  during('charges and intake');
  const { store, scope, clock } = await editorOf(platform, firm);
  const transaction = { system: 'https://praxis.health/fhir/sid/transaction', value: 't' };
  const subject = { reference: 'Patient/one' };
  const code = { text: 'Visit' };
  const charge = { resourceType: 'ChargeItem', identifier: [transaction], status: 'billable', code, subject };
  const { id } = (await caller.send('POST', 'ChargeItem', charge)).json;
  assert.equal((await caller.send('POST', 'ChargeItem', charge)).status, 409);
  await caller.send('PUT', `ChargeItem/${id}`, { ...charge, id, identifier: [{ ...transaction, value: 'u' }] });
  await findInboundCharges(store, scope, { fromMs: 0, toMs: clock.now() + 1 }, 10);
  const rule = { type: 'Condition', application: undefined };
  await addIntakeRule(store, scope, rule);
  await findIntakeRules(store, scope);
  const waiting = await caller.send('POST', 'Condition', { resourceType: 'Condition', subject });
  assert.equal(waiting.status, 202, waiting.text);
  const [proposal] = await findWaitingProposals(store, scope, 10);
  const decider = {
    store,
    scope,
    clock,
    baseUrl: firm.base,
    budget: openRequestBudget(),
    username: 'desk',
    flow: 'session',
  };
  await decide(decider, proposal?.task ?? '', { rest: 'accept' });
  assert.equal((await caller.send('POST', 'Condition', { resourceType: 'Condition', subject })).status, 202);
  const [takenBack] = await findWaitingProposals(store, scope, 10);
  const cancel = [{ op: 'replace', path: '/status', value: 'cancelled' }];
  const cancelled = await caller.send('PATCH', `Task/${takenBack?.task}`, JSON.stringify(cancel), jsonPatch);
  assert.equal(cancelled.status, 200, cancelled.text);
  await removeIntakeRule(store, scope, rule);
  // What stays: a rule and a proposal.
  await addIntakeRule(store, scope, rule);
  assert.equal((await caller.send('POST', 'Condition', { resourceType: 'Condition', subject })).status, 202);
}

async function walk(caller: Caller, search: string, during: Sweeper['during']): Promise<void> {
  for (let url: string | undefined = search; url !== undefined; ) {
    during(`page of ${search}`);
    const { json } = await caller.get(url);
    url = json.link?.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
}
