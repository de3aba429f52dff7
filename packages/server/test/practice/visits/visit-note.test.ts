/**
 * Transcriptions over HTTP: a note lands in the one open visit that the caller may find, else it is a chart note; where it
 * lands tells nothing of encounters that the caller may not search for (docs/decisions/0199).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { encounter } from '../../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';

const service = await openTestService({ after });
const { database } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const everything = await makeApplication(service, 'All', ['acl/*'], [maple, cedar]);
const operator = await openCaller(service, everything, maple);
const elsewhere = await openCaller(service, everything, cedar);
const entries = (name: string, acl: readonly string[]) => makeApplication(service, name, acl, [maple]);
const scribe = await openCaller(service, await entries('Scribe', ['acl/comp_c', 'acl/enc_s']), maple);
const blind = await openCaller(service, await entries('Blind', ['acl/comp_c']), maple);
const narrowed = await entries('Narrowed', ['acl/comp_c', 'acl/enc_s']);
await setOperatorRows(database, maple, narrowed.application, { enc: { elements: ['status', 'class'] } });
const narrow = await openCaller(service, narrowed, maple);
const limitedApplication = await entries('Limited', ['acl/comp_c', 'acl/enc_s']);
const noteMembers = ['status', 'type', 'subject', 'date', 'author', 'title', 'section'];
await setOperatorRows(database, maple, limitedApplication.application, { comp: { elements: noteMembers } });
const limited = await openCaller(service, limitedApplication, maple);

function note(patient: string, more: object = {}): Record<string, unknown> {
  return {
    resourceType: 'Composition',
    status: 'preliminary',
    type: { coding: [{ system: 'http://loinc.org', code: '11488-4' }] },
    subject: { reference: `Patient/${patient}` },
    date: '2026-11-21',
    author: [{ display: 'Transcription' }],
    title: 'Note',
    section: [{ code: { coding: [{ system: 'http://loinc.org', code: '18776-5' }] }, text: narrative }],
    ...more,
  };
}

const narrative = { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Body</div>' };
const chartNote = {
  coding: [
    { system: 'https://praxis.health/fhir/CodeSystem/composition-place', code: 'chart-note', display: 'Chart note' },
  ],
  text: 'Chart note: no single open visit of the patient was found',
};

async function visit(id: string, patient: string, status: string): Promise<void> {
  const answer = await operator.send('PUT', `Encounter/${id}`, encounter(`Patient/${patient}`, { id, status }));
  assert.equal(answer.status, 201, answer.text);
}

/** The note as it was stored, without what the server gives it. */
async function placed(sent: Promise<Answer>): Promise<object> {
  const { status, json, text } = await sent;
  assert.equal(status, 201, text);
  const { id: _id, meta: _meta, ...content } = json;
  const { id: _stored, meta: _other, ...stored } = (await operator.get(`Composition/${json.id}`)).json;
  assert.deepEqual(content, stored);
  return content;
}

await visit('open', 'p1', 'in-progress');
await visit('old', 'p1', 'finished');
await visit('one', 'p2', 'arrived');
await visit('two', 'p2', 'in-progress');
await visit('over', 'p3', 'finished');

test('denials: who may not search for encounters learns nothing of them, open or not', async () => {
  for (const caller of [blind, narrow]) {
    for (const patient of ['p1', 'p2', 'p3', 'nobody'])
      assert.deepEqual(await placed(caller.send('POST', 'Composition', note(patient))), {
        ...note(patient),
        category: [chartNote],
      });
  }
  const before = await tenantRows(service.database.owner);
  assert.equal((await scribe.send('POST', 'Composition', { ...note('p1'), title: undefined })).status, 400);
  assert.equal((await limited.send('POST', 'Composition', note('p1', { confidentiality: 'N' }))).status, 403);
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('a note goes into the one open visit of its patient', async () => {
  const expected = { ...note('p1'), encounter: { reference: 'Encounter/open', display: 'Open visit of the patient' } };
  for (const caller of [scribe, limited, operator])
    assert.deepEqual(await placed(caller.send('POST', 'Composition', note('p1'))), expected);
  const absolute = { subject: { reference: `${maple.base}/Patient/p1` } };
  assert.deepEqual(await placed(scribe.send('POST', 'Composition', note('p1', absolute))), {
    ...expected,
    ...absolute,
  });
  assert.equal((await operator.get('Composition?encounter=open')).json.total, 4);
});

test('without an open visit, or with several, it is a chart note; so it is at another firm', async () => {
  for (const patient of ['p2', 'p3', 'nobody'])
    assert.deepEqual(await placed(scribe.send('POST', 'Composition', note(patient))), {
      ...note(patient),
      category: [chartNote],
    });
  const away = await elsewhere.send('POST', 'Composition', note('p1'));
  assert.deepEqual([away.json.encounter, away.json.category], [undefined, [chartNote]]);
});

test('what says where it belongs, and what is no transcription, stays as it was sent', async () => {
  const named = note('p1', { encounter: { reference: 'Encounter/old' } });
  assert.deepEqual(await placed(blind.send('POST', 'Composition', named)), named);
  const chart = note('p1', { category: [chartNote] });
  assert.deepEqual(await placed(scribe.send('POST', 'Composition', chart)), chart);
  const other = note('p1', { type: { coding: [{ system: 'http://loinc.org', code: '60591-5' }] } });
  assert.deepEqual(await placed(scribe.send('POST', 'Composition', other)), other);
  const nobody = note('p1', { subject: undefined, category: [{ text: 'Permission' }] });
  assert.deepEqual(((await placed(scribe.send('POST', 'Composition', nobody))) as { category: object[] }).category, [
    { text: 'Permission' },
    chartNote,
  ]);
});
