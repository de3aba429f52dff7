/**
 * The calls of eleven public clients of services of this shape, replayed by HTTP with the settings that docs/integrate/existing-clients.md
 * names: how each gets its token, what it sends, and what it reads of the answer. What a client cannot do for the contract's or R4's
 * sake is asserted, too.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test, { after } from 'node:test';
import { setValueSet } from '../../src/practice/value-sets/edit-value-sets.ts';
import type { SettingName } from '../../src/tenancy/application-settings.ts';
import { createProduct } from '../../src/tenancy/environments.ts';
import { editorOf, keepCalendar, plainCalendar, put, putPlaces } from '../practice/calendars/world.ts';
import { appointment, patient } from '../support/records.ts';
import {
  type Answer,
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
  type TestApplication,
} from '../support/service.ts';

const service = await openTestService({ after });
await createProduct(service.platform.database, 'sandbox', 'ema');
const plainFirm = await makeFirm(service, 'maple');
const inProduct = (url: string): string => url.replace('/pm/', '/ema/');
const maple = {
  ...plainFirm,
  base: inProduct(plainFirm.base),
  legacyTokenUrl: inProduct(plainFirm.legacyTokenUrl),
};

const patientsMade = 57;
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const caller = await openCaller(service, full, maple);
await putPlaces(caller, ['12'], ['3']);
await keepCalendar(service.platform, maple, plainCalendar);
const types = { codes: ['NEW', 'FOLLOWUP'].map((code) => ({ code, display: `Display of ${code}` })) };
await setValueSet(await editorOf(service.platform, maple), 'appointment-type', types, undefined);
for (let made = 0; made < patientsMade; made += 1)
  await put(caller, {
    ...patient('Quill', { birthDate: `19${40 + made}-01-01`, active: true }),
    resourceType: 'Patient',
    id: `q${made}`,
  });
const participant = ['Patient/q1', 'Practitioner/12', 'Location/3'].map((reference) => ({
  actor: { reference },
  status: 'accepted',
}));
const booked = {
  ...appointment('', '2026-11-23T09:00:00-05:00', { participant, appointmentType: { coding: [{ code: 'NEW' }] } }),
  end: '2026-11-23T10:00:00-05:00',
  resourceType: 'Appointment',
  id: 'a1',
};
await put(caller, booked);
await put(caller, {
  resourceType: 'ChargeItem',
  id: 'CHG-1',
  status: 'billable',
  code: { text: 'Visit' },
  subject: { reference: 'Patient/q1' },
});

/** How a client calls, with its own headers. */
interface Calling {
  get(path: string): Promise<Answer>;
  send(method: string, path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

interface PublicClient {
  readonly settings: readonly SettingName[];
  /** Its own calls. @param application with the settings */
  readonly replay: (application: TestApplication) => Promise<void>;
}

async function assertStatus(answer: Promise<Answer>, status: number): Promise<Answer> {
  const got = await answer;
  assert.equal(got.status, status, got.text);
  return got;
}

/** A log-in before the first call, as most of them do it; `more` are headers that the client sends with each. */
async function logIn(application: TestApplication, more: Readonly<Record<string, string>> = {}): Promise<Calling> {
  const { json } = await assertStatus(
    postForm(maple.legacyTokenUrl, passwordForm(application, maple), application.legacyKey),
    200,
  );
  const calling = callerOf(maple, json.access_token, application.legacyKey);
  return {
    get: (path) => calling.get(path, more),
    send: (method, path, body, headers) => calling.send(method, path, body, { ...more, ...headers }),
  };
}

interface Entry {
  readonly resource: { readonly id: string; readonly [element: string]: unknown };
}

function resourcesOf({ json }: Answer): readonly Entry['resource'][] {
  return (json.entry ?? []).map(({ resource }: Entry) => resource);
}

function isType(concept: unknown, wanted: string): boolean {
  return (concept as { readonly coding: readonly { readonly code: string }[] }).coding.some(
    ({ code }) => code === wanted,
  );
}

function nextOf({ json }: Answer): string | undefined {
  return json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
}

/** Follows `next` as it is. */
async function followNext(calling: Calling, path: string, pagesMax = 50): Promise<number> {
  let count = 0;
  let url: string | undefined = path;
  for (let page = 0; url !== undefined && page < pagesMax; page += 1) {
    const answer: Answer = await assertStatus(calling.get(url), 200);
    count += resourcesOf(answer).length;
    url = nextOf(answer);
  }
  return count;
}

const clients: Readonly<Record<string, PublicClient>> = {
  'mcp-fhir': {
    settings: [],
    async replay(application) {
      // A token before every call, since the answer says nothing of its end.
      for (const path of ['metadata', 'Patient?family=Quill&_count=10', 'Patient/q1', 'Appointment/a1'])
        await assertStatus((await logIn(application)).get(path), 200);
    },
  },

  urology_agent: {
    settings: ['absoluteReferences'],
    async replay(application) {
      const calling = await logIn(application);
      const seen = new Set<string>();
      for (let page = 1, isNew = true; isNew; page += 1) {
        const answer = await assertStatus(calling.get(`Patient?family=Quill&_count=25&page=${page}`), 200);
        const before = seen.size;
        for (const { id } of resourcesOf(answer)) seen.add(id);
        isNew = seen.size > before;
      }
      assert.equal(seen.size, patientsMade);
      const { json } = await assertStatus(calling.get('Appointment?date=ge2026-11-23&date=le2026-11-24'), 200);
      const [{ resource }] = json.entry;
      const references = resource.participant.map(({ actor }: { actor: { reference: string } }) => actor.reference);
      for (const part of ['/Practitioner/', '/Location/'])
        assert.equal(references.filter((reference: string) => reference.includes(part)).length, 1);
    },
  },

  ModMedClient: {
    settings: ['partialPut', 'absoluteReferences', 'emptyElements', 'halfOpenSlots', 'expandedTypes', 'lenientSearch'],
    async replay(application) {
      // Its token request has no x-api-key: the contract lets such a token open nothing (7.1).
      const keyless = await assertStatus(postForm(clientTokenUrl(service), clientForm(application)), 200);
      const refused = callerOf(maple, keyless.json.access_token, application.clientKey).get('Patient');
      assert.match((await assertStatus(refused, 401)).text, /was requested without x-api-key/);
      // With the key, which is one line more in the client, it works.
      const { json } = await assertStatus(
        postForm(clientTokenUrl(service), clientForm(application), application.clientKey),
        200,
      );
      const type = { accept: 'application/fhir+json', 'content-type': 'application/fhir+json' };
      const calling = callerOf(maple, json.access_token, application.clientKey);
      const made = await assertStatus(
        calling.send(
          'POST',
          'Patient',
          { resourceType: 'Patient', name: [{ family: 'New', given: [''] }], birthDate: '', telecom: [], active: true },
          type,
        ),
        201,
      );
      const contact = {
        telecom: [{ system: 'email', value: 'a@example.org' }],
        resourceType: 'Patient',
        id: made.json.id,
      };
      const changed = await assertStatus(calling.send('PUT', `Patient/${made.json.id}`, contact, type), 200);
      assert.deepEqual(changed.json.name, [{ family: 'New' }]);
      const set = await assertStatus(calling.get('ValueSet/appointment-type', type), 200);
      const system = 'https://praxis.health/fhir/CodeSystem/appointment-type';
      const takes = (minutes: number) => [{ code: 'duration', valueInteger: minutes }];
      assert.deepEqual(set.json.expansion.contains, [
        { system, code: 'NEW', display: 'Display of NEW', property: takes(60) },
        { system, code: 'FOLLOWUP', display: 'Display of FOLLOWUP', property: takes(30) },
      ]);
      const slots = await assertStatus(
        calling.get('Slot?status=free&start=le2026-11-23T23:59:59&appointmentType=NEW', type),
        200,
      );
      // Its filter has another name than R4's, so it gets slots of all types.
      const slot = resourcesOf(slots).find(({ appointmentType }) => isType(appointmentType, 'NEW'));
      assert.equal(slot?.['start'], '2026-11-23T10:00:00-05:00');
      const wanted = {
        resourceType: 'Appointment',
        status: 'booked',
        start: slot['start'],
        end: slot['end'],
        minutesDuration: 60,
        participant: ['Patient/q2', 'Practitioner/12', 'Location/3'].map((reference) => ({
          actor: { reference },
          status: 'accepted',
        })),
        description: '',
        comment: 'Booked',
      };
      // Without a type, which its callers may leave out, nothing can be booked here.
      await assertStatus(calling.send('POST', 'Appointment', wanted, type), 422);
      const coding = { appointmentType: { coding: [{ code: 'NEW' }] } };
      const visit = await assertStatus(calling.send('POST', 'Appointment', { ...wanted, ...coding }, type), 201);
      const cancelled = {
        resourceType: 'Appointment',
        id: visit.json.id,
        status: 'cancelled',
        cancelationReason: { coding: [{ display: 'Patient request' }] },
      };
      await assertStatus(calling.send('PUT', `Appointment/${visit.json.id}`, cancelled, type), 200);
    },
  },

  FHIRApi: {
    settings: ['anyFormType', 'uploadUrlInOutcome'],
    async replay(application) {
      const json = { 'content-type': 'application/fhir+json' };
      const first = await postForm(maple.legacyTokenUrl, passwordForm(application, maple), application.legacyKey);
      const form = { grant_type: 'refresh_token', refresh_token: first.json.refresh_token };
      const refreshed = await assertStatus(postForm(maple.legacyTokenUrl, form, application.legacyKey, json), 200);
      const calling = callerOf(maple, refreshed.json.access_token, application.legacyKey);
      const range = 'date=ge2026-11-23T00:00:00.000000Z&date=le2026-11-23T23:59:59.999999Z';
      const found = await assertStatus(calling.get(`Appointment?status=booked&practitioner=12&${range}`, json), 200);
      assert.deepEqual(
        resourcesOf(found).map(({ id }) => id),
        ['a1'],
      );
      // It takes 201 for a failure, and logs it; R4 demands it.
      const asked = await assertStatus(calling.send('POST', 'Binary', {}, { 'content-type': 'application/json' }), 201);
      const url = asked.json.issue[0].details.text;
      const type = { 'content-type': 'application/pdf' };
      assert.equal((await fetch(url, { method: 'PUT', headers: type, body: '%PDF-1.4\n%%EOF\n' })).status, 200);
      const document = {
        resourceType: 'DocumentReference',
        status: 'current',
        type: { text: 'application/pdf' },
        subject: { reference: 'Patient/q1', display: 'Patient/q1' },
        content: [{ attachment: { title: 'Note', contentType: 'application/pdf', url } }],
        identifier: [{ system: 'filename', value: 'note.pdf' }],
      };
      const stored = await assertStatus(calling.send('POST', 'DocumentReference', document, json), 201);
      const read = await assertStatus(calling.get(`DocumentReference/${stored.json.id}`, json), 200);
      const link = read.json.content[0].attachment.url;
      assert.equal(await (await fetch(link)).text(), '%PDF-1.4\n%%EOF\n');
    },
  },

  'getToken, getSlots': {
    settings: ['halfOpenSlots', 'lenientSearch'],
    async replay(application) {
      const calling = await logIn(application, { 'cache-control': 'no-cache' });
      const slots = await assertStatus(calling.get('Slot?appointment-type=NEW&date=2026-11-23'), 200);
      assert.equal(slots.json.total, 2);
      const [identifier] = resourcesOf(slots).map((slot) => slot['identifier'] as { readonly value: string }[]);
      assert.deepEqual(
        identifier?.map(({ value }) => value),
        ['NEW', '3', '12'],
      );
      await assertStatus(calling.get('Slot?_lastUpdated=ge2026-11-01'), 200);
    },
  },

  'modmed-sync': {
    settings: ['lenientSearch'],
    async replay(application) {
      const calling = await logIn(application, { accept: 'application/fhir+json' });
      for (const since of ['', '&date=ge2026-11-01'])
        for (const type of ['ChargeItem', 'Invoice', 'PaymentReconciliation'])
          assert.equal(await followNext(calling, `${type}?_count=100${since}`), type === 'ChargeItem' ? 1 : 0, type);
      assert.equal(await followNext(calling, 'Patient?family=Quill&_count=100'), patientsMade);
    },
  },

  'Next.js client with axios': {
    settings: [],
    async replay(application) {
      const calling = await logIn(application, {
        accept: 'application/json, text/plain, */*',
        'content-type': 'application/json',
      });
      assert.equal((await assertStatus(calling.get('Appointment/a1'), 200)).json.id, 'a1');
      await assertStatus(calling.get('Location?status=active'), 200);
      await assertStatus(calling.get('Patient/'), 200);
    },
  },

  FHIRFetcher: {
    settings: [],
    async replay(application) {
      const calling = await logIn(application, { accept: 'application/fhir+json' });
      assert.equal(await followNext(calling, 'Patient?_count=50'), (await everyPatient()).length);
      // A date that is none: it is told which parameter.
      const wrong = await assertStatus(calling.get('Patient?_lastUpdated=ge2026-13-45'), 400);
      assert.match(wrong.text.slice(0, 200), /_lastUpdated/);
    },
  },

  'OAuth class': {
    settings: [],
    async replay(application) {
      const first = await postForm(maple.legacyTokenUrl, passwordForm(application, maple), application.legacyKey);
      const { refresh_token, access_token, scope, token_type } = first.json;
      for (const value of [refresh_token, access_token, scope, token_type]) assert.equal(typeof value, 'string');
      const form = { grant_type: 'refresh_token', refresh_token };
      const again = await assertStatus(postForm(maple.legacyTokenUrl, form, application.legacyKey), 200);
      assert.equal(again.json.refresh_token, refresh_token);
      await assertStatus(callerOf(maple, again.json.access_token, application.legacyKey).get('Patient'), 200);
    },
  },

  'Next.js routes': {
    settings: ['lenientSearch', 'hyphenForBar'],
    async replay(application) {
      const calling = await logIn(application, { accept: 'application/fhir+json' });
      for (const path of ['Slot?actor=12&date=2026-11-23', 'ChargeItem?status=inbound', 'Practitioner/12'])
        await assertStatus(calling.get(path), 200);
      assert.equal((await assertStatus(calling.get('ChargeItem/CHG%7C1'), 200)).json.id, 'CHG-1');
      const before = (await calling.get('Patient/q3')).json;
      const changed = { ...before, gender: 'female' };
      assert.equal((await assertStatus(calling.send('PUT', 'Patient/q3', changed), 200)).json.gender, 'female');
    },
  },

  'healthyme-poller': {
    settings: [],
    async replay(application) {
      const calling = await logIn(application, { 'content-flag': 'Universal_Id' });
      const changed = await assertStatus(calling.get('Patient?_lastUpdated=ge2026-11-20T00:00:00.000Z&_count=50'), 200);
      assert.ok(resourcesOf(changed).length > 0);
      const wrong = await assertStatus(calling.get('Patient?colour=red'), 400);
      const [issue] = wrong.json.issue;
      assert.deepEqual(
        [wrong.json.resourceType, issue.severity, typeof issue.diagnostics],
        ['OperationOutcome', 'error', 'string'],
      );
    },
  },
};

async function everyPatient(): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let url: string | undefined = 'Patient?_count=50'; url !== undefined; ) {
    const answer: Answer = await caller.get(url);
    ids.push(...resourcesOf(answer).map(({ id }) => id));
    url = nextOf(answer);
  }
  return ids;
}

for (const [name, { settings, replay }] of Object.entries(clients))
  test(`clients habits: the calls of ${name}`, async () => {
    const chosen = Object.fromEntries(settings.map((setting) => [setting, true]));
    await replay(await makeApplication(service, name, ['acl/*'], [maple], chosen));
  });

test('clients habits: existing-clients.md names the settings of each', async () => {
  const page = await readFile(new URL('../../../../docs/integrate/existing-clients.md', import.meta.url), 'utf8');
  for (const [name, { settings }] of Object.entries(clients)) {
    const [, , , told = ''] = (page.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? '').split('|');
    const named = [...told.matchAll(/`(\w+)`/g)].map(([, setting]) => setting);
    assert.deepEqual(named.sort(), [...settings].sort(), name);
  }
});
