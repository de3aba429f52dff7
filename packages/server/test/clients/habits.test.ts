/**
 * Habits of existing clients that an application keeps by a setting: each with the setting and without it, by real HTTP. What
 * is stored and answered is R4 in both cases.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { validateResource } from '@praxis/fhir';
import { setValueSet } from '../../src/practice/value-sets/edit-value-sets.ts';
import { type SettingName, settingNames } from '../../src/tenancy/application-settings.ts';
import { editorOf, keepCalendar, plainCalendar, putPlaces } from '../practice/calendars/world.ts';
import { appointment, patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
  type TestApplication,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
/** With a calendar, and appointment types of its own. */
const cedar = await makeFirm(service, 'cedar');
const bare = await makeApplication(service, 'Plain', ['acl/*'], [maple, cedar]);
const plain = await openCaller(service, bare, maple);
const plainAtCedar = await openCaller(service, bare, cedar);

await putPlaces(plainAtCedar, ['12', '13'], ['3']);
await keepCalendar(service.platform, cedar, plainCalendar);
await keepCalendar(service.platform, cedar, {
  ...plainCalendar,
  practitioner: '13',
  appointmentTypes: [{ code: 'NEW', minutes: 45 }],
});
const types = { codes: ['NEW', 'FOLLOWUP', 'CALL'].map((code) => ({ code, display: `Display of ${code}` })) };
await setValueSet(await editorOf(service.platform, cedar), 'appointment-type', types, undefined);

interface Callers {
  /** Of an application with the setting. */
  readonly kept: Caller;
  /** Of one without any. */
  readonly plain: Caller;
  /** The one with the setting. */
  readonly application: TestApplication;
}

const start = '2026-11-24T15:00:00Z';

async function make(resource: Readonly<Record<string, unknown>>): Promise<string> {
  const { status, json, text } = await plain.send('POST', String(resource['resourceType']), resource);
  assert.equal(status, 201, text);
  return json.id;
}

function assertR4({ status, json, text }: Answer, expected: number): void {
  assert.equal(status, expected, text);
  assert.deepEqual(validateResource(json), []);
}

function nextOf({ json }: Answer): string | undefined {
  return json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
}

function idsOf({ json }: Answer): string[] {
  return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
}

/** Every setting of the table has a row, or this does not compile. */
const habits: Readonly<Record<SettingName, (callers: Callers) => Promise<void>>> = {
  async totalOfPage({ kept, plain }) {
    for (let made = 0; made < 3; made += 1) await make(patient('Pagewise'));
    assert.equal((await kept.get('Patient?family=Pagewise&_count=2')).json.total, 2);
    assert.equal((await kept.get('Patient?family=Pagewise&_count=2&page=3')).json.total, 0);
    assert.equal((await plain.get('Patient?family=Pagewise&_count=2&_total=accurate')).json.total, 3);
  },

  async nextUntilEmpty({ kept, plain }) {
    const made = [await make(patient('Following')), await make(patient('Following')), await make(patient('Following'))];
    const seen: string[] = [];
    let url: string | undefined = 'Patient?family=Following&_count=2';
    let pages = 0;
    for (let answer = await kept.get(url); idsOf(answer).length > 0 && pages < 9; answer = await kept.get(url)) {
      seen.push(...idsOf(answer));
      url = nextOf(answer) ?? assert.fail('a page with rows has no link next');
      pages += 1;
    }
    assert.deepEqual([seen.sort(), pages, nextOf(await kept.get(url))], [made.sort(), 2, undefined]);
    assert.equal(nextOf(await plain.get('Patient?family=Following&_count=3')), undefined);
    assert.equal(nextOf(await kept.get('Patient?family=Nobody')), undefined);
  },

  async lenientSearch({ kept, plain }) {
    assert.equal((await kept.get('Patient?family=Nobody&colour=red')).status, 200);
    assert.equal((await plain.get('Patient?family=Nobody&colour=red')).status, 400);
    assert.equal((await kept.get('Patient?colour=red', { prefer: 'handling=strict' })).status, 400);
  },

  async absoluteReferences({ kept, plain }) {
    const id = await make(appointment('Practitioner/12', start));
    const reference = async (from: Caller) => (await from.get(`Appointment/${id}`)).json.participant[0].actor.reference;
    assert.equal(await reference(kept), `${maple.base}/Practitioner/12`);
    assert.equal(await reference(plain), 'Practitioner/12');
  },

  async referenceDisplays({ kept, plain }) {
    const actors = [
      { reference: 'Practitioner/12' },
      { reference: 'Location/3', display: 'Front room' },
      { reference: 'urn:uuid:8f9f3d6a-9f0e-4a0c-8f5f-0f6d8b6b7f11' },
    ];
    const participant = actors.map((actor) => ({ actor, status: 'accepted' }));
    const id = await make(appointment('', start, { participant, description: '{"reference":"Practitioner/12"}' }));
    const answer = await kept.get(`Appointment/${id}`);
    assertR4(answer, 200);
    const [first, ...others] = answer.json.participant.map(({ actor }: { actor: object }) => actor);
    assert.deepEqual(first, { reference: 'Practitioner/12', display: `${maple.base}/Practitioner/12` });
    assert.deepEqual(others, actors.slice(1));
    const { json } = await plain.get(`Appointment/${id}`);
    assert.deepEqual([json.description, answer.json.description], [json.description, json.description]);
    assert.deepEqual(json.participant, participant);
  },

  async unversionedLocation({ kept, plain }) {
    const location = async (from: Caller) =>
      (await from.send('POST', 'Patient', patient('Place'))).headers.get('location');
    assert.match((await location(kept)) ?? '', /\/Patient\/[^/]+$/);
    assert.match((await location(plain)) ?? '', /\/Patient\/[^/]+\/_history\/1$/);
  },

  async textMinutes({ kept, plain }) {
    const sent = (minutesDuration: unknown) => appointment('Patient/1', start, { minutesDuration });
    const answer = await kept.send('POST', 'Appointment', sent('30'));
    assertR4(answer, 201);
    assert.equal(answer.json.minutesDuration, 30);
    assert.equal((await plain.send('POST', 'Appointment', sent('30'))).status, 400);
    for (const wrong of ['', '-5', '30 min', '1e3', '0', '12345678'])
      assert.equal((await kept.send('POST', 'Appointment', sent(wrong))).status, 400, wrong);
    const put = await kept.send('PUT', `Appointment/${answer.json.id}`, { ...answer.json, minutesDuration: '45' });
    assert.deepEqual([put.status, put.json.minutesDuration], [200, 45]);
  },

  async impliedParticipantStatus({ kept, plain }) {
    const actor = { reference: 'Patient/1' };
    const sent = (status: string) =>
      appointment('', start, { status, participant: [{ actor }, { actor, status: 'declined' }] });
    const statuses = async (status: string) => {
      const answer = await kept.send('POST', 'Appointment', sent(status));
      assertR4(answer, 201);
      return answer.json.participant.map((each: { status: string }) => each.status);
    };
    for (const unagreed of ['proposed', 'pending', 'waitlist'])
      assert.deepEqual(await statuses(unagreed), ['needs-action', 'declined'], unagreed);
    assert.deepEqual(await statuses('booked'), ['accepted', 'declined']);
    assert.equal((await plain.send('POST', 'Appointment', sent('pending'))).status, 400);
    for (const wrong of [null, 'Patient/1', 7, [{ actor }]])
      assert.equal(
        (await kept.send('POST', 'Appointment', appointment('', start, { participant: [wrong] }))).status,
        400,
      );
  },

  async upperCaseStatus({ kept, plain }) {
    const system = 'http://terminology.hl7.org/CodeSystem/condition-clinical';
    const condition = (code: string) => ({
      resourceType: 'Condition',
      clinicalStatus: { coding: [{ system, code }] },
      code: { coding: [{ code: 'ACTIVE' }] },
      subject: { reference: 'Patient/1' },
    });
    const answer = await kept.send('POST', 'Condition', condition('ACTIVE'));
    assertR4(answer, 201);
    assert.deepEqual(
      [answer.json.clinicalStatus.coding[0].code, answer.json.code.coding[0].code],
      ['active', 'ACTIVE'],
    );
    const encounter = { resourceType: 'Encounter', status: 'IN_PROGRESS', class: { code: 'AMB' } };
    assert.equal((await kept.send('POST', 'Encounter', encounter)).json.status, 'in-progress');
    assert.equal((await plain.send('POST', 'Encounter', encounter)).status, 400);
    assert.equal((await kept.send('POST', 'Encounter', { ...encounter, status: 'Nonsense' })).status, 400);
  },

  async partialPut({ kept, plain }) {
    const id = await make(patient('Parted', { gender: 'female', telecom: [{ system: 'phone', value: '555-0100' }] }));
    const part = { resourceType: 'Patient', telecom: [{ system: 'phone', value: '555-0199' }] };
    assert.equal((await plain.send('PUT', `Patient/${id}`, part)).status, 400);
    const answer = await kept.send('PUT', `Patient/${id}`, part);
    assertR4(answer, 200);
    const { name, gender, telecom, meta } = answer.json;
    assert.deepEqual([name, gender, telecom], [[{ family: 'Parted' }], 'female', part.telecom]);
    assert.equal(meta.versionId, '2');
    assert.deepEqual((await plain.get(`Patient/${id}`)).json, answer.json);
    const booked = await make(appointment('Patient/1', start));
    const cancelled = await kept.send('PUT', `Appointment/${booked}`, {
      resourceType: 'Appointment',
      status: 'cancelled',
    });
    assert.deepEqual([cancelled.status, cancelled.json.start], [200, start]);
    const wrong = { resourceType: 'Patient', id: 'other', gender: 'male' };
    assert.equal((await kept.send('PUT', `Patient/${id}`, wrong)).status, 400);
    assert.equal((await kept.send('PUT', `Patient/${id}`, { ...part, gender: 'none' })).status, 400);
    const stale = await kept.send('PUT', `Patient/${id}`, part, { 'if-match': 'W/"1"' });
    assert.equal(stale.status, 412);
  },

  async lenientInvariants({ kept, plain }) {
    const half = appointment('Practitioner/x', '2026-11-26T15:00:00Z', { end: undefined });
    const refused = await plain.send('POST', 'Appointment', half);
    assert.deepEqual([refused.status, refused.json.issue[0].expression], [422, ['Appointment']]);
    const stored = await kept.send('POST', 'Appointment', half);
    assertR4(stored, 201);
    assert.equal(stored.json.end, undefined);
  },

  async emptyElements({ kept, plain }) {
    const sent = {
      ...patient('Sparse'),
      birthDate: '',
      telecom: [],
      address: [{ line: ['', '2 Oak Street'], city: '', period: {} }],
      maritalStatus: { coding: [{ code: '' }], text: null },
      active: false,
    };
    const answer = await kept.send('POST', 'Patient', sent);
    assertR4(answer, 201);
    const { resourceType, id, meta, ...rest } = answer.json;
    assert.deepEqual(
      [resourceType, meta.versionId, rest],
      ['Patient', '1', { name: [{ family: 'Sparse' }], address: [{ line: ['2 Oak Street'] }], active: false }],
    );
    const refused = await plain.send('POST', 'Patient', sent);
    assert.equal(refused.status, 400, refused.text);
    // Places of primitives and of their extensions belong together.
    const given = ['Ann', null];
    const placed = { given, _given: [null, { extension: [{ url: 'http://example.org/initial', valueString: 'B' }] }] };
    const name = [{ family: 'Placed', ...placed }];
    const put = await kept.send('PUT', `Patient/${id}`, { ...patient('Placed', { name }), id, birthDate: '' });
    assertR4(put, 200);
    assert.deepEqual(put.json.name, name);
    const nothing = await kept.send('POST', 'Patient', { resourceType: '', name: [] });
    assert.equal(nothing.status, 400, nothing.text);
  },

  async hyphenForBar({ kept, plain }) {
    const charge = {
      resourceType: 'ChargeItem',
      id: 'CHG-1722',
      status: 'billable',
      code: { text: 'Visit' },
      subject: { reference: 'Patient/1' },
    };
    const put = await kept.send('PUT', 'ChargeItem/CHG%7C1722', charge);
    assertR4(put, 201);
    for (const path of ['ChargeItem/CHG%7C1722', 'ChargeItem/CHG%7c1722', 'ChargeItem/CHG-1722'])
      assert.deepEqual((await kept.get(path)).json, put.json, path);
    assert.equal((await kept.get('ChargeItem/CHG%7C1722/_history/1')).status, 200);
    const refused = await plain.get('ChargeItem/CHG%7C1722');
    assert.deepEqual([refused.status, refused.json.issue[0].details.coding[0].code], [400, 'id-invalid']);
  },

  async uploadUrlInOutcome({ kept, plain }) {
    const asked = { resourceType: 'Binary', contentType: 'application/pdf' };
    const answer = await kept.send('POST', 'Binary', asked);
    assertR4(answer, 201);
    const url = answer.headers.get('location');
    const [{ diagnostics }] = answer.json.issue;
    assert.deepEqual(answer.json, {
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'information',
          code: 'informational',
          details: { text: url },
          diagnostics,
        },
      ],
    });
    assert.match(diagnostics, /^PUT the file to this URL until 20/);
    const body = '%PDF-1.4\n%%EOF\n';
    assert.equal((await fetch(String(url), { method: 'PUT', body })).status, 200);
    assert.equal((await plain.send('POST', 'Binary', asked)).json.resourceType, 'Parameters');
    // Without the setting {} is a file.
    const json = { 'content-type': 'application/json' };
    const empty = await kept.send('POST', 'Binary', {}, json);
    assert.deepEqual([empty.status, empty.json.resourceType], [201, 'OperationOutcome'], empty.text);
    const file = await plain.send('POST', 'Binary', {}, json);
    assert.equal(file.status, 201);
    assert.match(file.headers.get('location') ?? '', /\/Binary\/[^/]+\/_history\/1$/);
  },

  async halfOpenSlots({ application }) {
    const kept = await openCaller(service, application, cedar);
    const starts = async (query: string): Promise<readonly string[]> => {
      const answer = await kept.get(`Slot?appointment-type=FOLLOWUP${query}`);
      assertR4(answer, 200);
      return (answer.json.entry ?? []).map(({ resource }: { resource: { start: string } }) => resource.start);
    };
    const whole = await starts('&date=ge2026-11-21&date=le2026-11-25');
    assert.ok(whole.length > 0);
    assert.deepEqual(await starts('&start=le2026-11-25'), whole);
    assert.deepEqual(await starts('&start=ge2026-11-21'), whole);
    // Five days of what is longer, from now on.
    assert.deepEqual(await starts('&start=le2027-06-30'), await starts(''));
    assert.ok((await starts('')).length > 0);
    assert.deepEqual(await starts('&start=le2026-01-01'), []);
    const tooLong = await kept.get('Slot?date=ge2026-11-21&date=le2026-12-21');
    assert.equal(tooLong.status, 400);
    const refused = await plainAtCedar.get('Slot?appointment-type=FOLLOWUP&start=le2026-11-25');
    assert.equal(refused.status, 400);
  },

  async expandedTypes({ application }) {
    const kept = await openCaller(service, application, cedar);
    const answer = await kept.get('ValueSet/appointment-type');
    assert.equal(answer.status, 200, answer.text);
    const { expansion, ...stored } = answer.json;
    assert.deepEqual(stored, (await plainAtCedar.get('ValueSet/appointment-type')).json);
    const system = 'https://praxis.health/fhir/CodeSystem/appointment-type';
    const minutes = (takes: number) => ({ property: [{ code: 'duration', valueInteger: takes }] });
    assert.deepEqual(expansion.contains, [
      { system, code: 'NEW', display: 'Display of NEW', ...minutes(45) },
      { system, code: 'FOLLOWUP', display: 'Display of FOLLOWUP', ...minutes(30) },
      { system, code: 'CALL', display: 'Display of CALL' },
    ]);
    const { identifier, timestamp, total } = expansion;
    assert.match(identifier, /^urn:uuid:/);
    assert.deepEqual([timestamp.slice(0, 10), total], ['2026-11-21', 3]);
    const found = await kept.get('ValueSet?_id=appointment-type');
    assert.deepEqual(found.json.entry[0].resource.expansion.contains, expansion.contains);
    assert.equal((await kept.get('ValueSet/appointment-type?_elements=url')).json.expansion, undefined);
    for (const slots of [[], ['system/Slot.s?appointment-type=FOLLOWUP']]) {
      const acl = ['acl/val_set_r', ...slots];
      const blind = await makeApplication(service, `Types ${slots.length}`, acl, [cedar], { expandedTypes: true });
      const { json } = await (await openCaller(service, blind, cedar)).get('ValueSet/appointment-type');
      assert.ok(json.expansion.contains.every((each: object) => !('property' in each)));
    }
  },

  async anyFormType({ application }) {
    const type = 'application/fhir+json';
    const refresh = async (who: TestApplication, more: Readonly<Record<string, string>> = {}, contentType = type) => {
      const { json } = await postForm(maple.legacyTokenUrl, passwordForm(who, maple), who.legacyKey);
      const form = { grant_type: 'refresh_token', refresh_token: json.refresh_token, ...more };
      return await postForm(maple.legacyTokenUrl, form, who.legacyKey, { 'content-type': contentType });
    };
    const answer = await refresh(application);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.json).sort(), ['access_token', 'refresh_token', 'scope', 'token_type']);
    for (const contentType of ['', 'text/plain'])
      assert.equal((await refresh(application, {}, contentType)).status, 200, contentType);
    const wrongType = {
      error: 'invalid_request',
      error_description: 'Content-Type must be application/x-www-form-urlencoded',
    };
    const wrong = await refresh(bare);
    assert.deepEqual([wrong.status, wrong.json], [400, wrongType]);
    // A log-in, and what is no form.
    const password = { grant_type: 'password' };
    assert.deepEqual((await refresh(application, password)).json, wrongType);
    const json = await fetch(maple.legacyTokenUrl, {
      method: 'POST',
      headers: { 'content-type': type, 'x-api-key': application.legacyKey },
      body: '{"grant_type":"refresh_token"}',
    });
    assert.deepEqual([json.status, await json.json()], [400, wrongType]);
  },
};

for (const name of settingNames) {
  test(`clients habits: ${name}, with the setting and without`, async () => {
    const application = await makeApplication(service, name, ['acl/*'], [maple, cedar], { [name]: true });
    await habits[name]({ kept: await openCaller(service, application, maple), plain, application });
  });
}

test('clients habits of partialPut: who may not read all of it may not put a part, and learns nothing', async () => {
  const id = await make(patient('Hidden', { gender: 'female' }));
  const entries = ['acl/pat_u', 'acl/pat_s_name_dob_gen'];
  const application = await makeApplication(service, 'Narrow', entries, [maple], { partialPut: true });
  const narrow = await openCaller(service, application, maple);
  const part = { resourceType: 'Patient', gender: 'male' };
  const refused = await narrow.send('PUT', `Patient/${id}`, part);
  const missing = await narrow.send('PUT', 'Patient/none', part);
  assert.deepEqual([refused.status, missing.status], [403, 403]);
  assert.equal(refused.text, missing.text);
  assert.equal((await plain.get(`Patient/${id}`)).json.gender, 'female');
});

test('clients habits of partialPut: of several parts put at once each has its effect', async () => {
  const id = await make(patient('Together'));
  const application = await makeApplication(service, 'Parts', ['acl/*'], [maple], { partialPut: true });
  const kept = await openCaller(service, application, maple);
  const parts = [{ gender: 'female' }, { birthDate: '1970-01-01' }, { active: true }];
  await Promise.all(parts.map((part) => kept.send('PUT', `Patient/${id}`, { resourceType: 'Patient', ...part })));
  const { gender, birthDate, active, meta } = (await plain.get(`Patient/${id}`)).json;
  assert.deepEqual([gender, birthDate, active, meta.versionId], ['female', '1970-01-01', true, '4']);
});
