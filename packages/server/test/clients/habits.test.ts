/**
 * Habits of existing clients that an application keeps by a setting: each with the setting and without it, by real HTTP. What
 * is stored and answered is R4 in both cases.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { validateResource } from '@praxis/fhir';
import { type SettingName, settingNames } from '../../src/tenancy/application-settings.ts';
import { appointment, patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const plain = await openCaller(service, await makeApplication(service, 'Plain', ['acl/*'], [maple]), maple);

interface Callers {
  /** Of an application with the setting. */
  readonly kept: Caller;
  /** Of one without any. */
  readonly plain: Caller;
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
};

for (const name of settingNames) {
  test(`clients habits: ${name}, with the setting and without`, async () => {
    const application = await makeApplication(service, name, ['acl/*'], [maple], { [name]: true });
    await habits[name]({ kept: await openCaller(service, application, maple), plain });
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
