/**
 * The ledger as AuditEvents through the API: who may not, then what is found and read, and that asking leaves a row.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { validateResource } from '@praxis/fhir';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService, startMs } from '../support/service.ts';
import { rowsOfRequest } from './ledger-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const other = await makeApplication(service, 'Other', ['acl/*'], [maple, cedar]);
const narrow = await makeApplication(service, 'Narrow', ['acl/enc_s', 'acl/pat_s_name_dob_gen'], [maple]);
const caller = await openCaller(service, full, maple);
const second = await openCaller(service, other, maple);
const foreign = await openCaller(service, other, cedar);
const restricted = await openCaller(service, narrow, maple);

const stepMs = 5 * 60_000;
for (const id of ['ada', 'bob']) await caller.send('PUT', `Patient/${id}`, { ...patient(id), id });
service.clock.advance(stepMs);
await second.get('Patient/ada');
await restricted.get('Patient?family=ada,bob');
await restricted.get('Patient/bob');
service.clock.advance(stepMs);
await caller.send('DELETE', 'Patient/bob');
await service.service.parts.ledger.flush();

/** What each event found is about: action, and the reference or type of its first entity. */
async function found(query: string, as = caller): Promise<string[]> {
  const { status, json, text } = await as.get(`AuditEvent?${query}`);
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(
    // biome-ignore lint/suspicious/noExplicitAny: events of many shapes.
    ({ resource: { action, subtype, entity } }: any) =>
      `${action} ${subtype[0].code} ${entity[0].what?.reference ?? entity[0].detail?.find((each: { type: string }) => each.type === 'type')?.valueString ?? ''}`,
  );
}

const before = '&date=lt2026-11-21T09:50:00Z&_lastUpdated=lt2026-11-21T09:40:00Z';

test('restricted tokens and those of other firms learn nothing of the ledger', async () => {
  for (const path of ['AuditEvent', 'AuditEvent?patient=ada', 'AuditEvent?_summary=count', 'AuditEvent/ledger-1-1']) {
    const { status, json } = await restricted.get(path);
    assert.equal(status, 403, path);
    assert.match(json.issue[0].diagnostics, /^AuditEvent (?:search|read) needs .*acl\/\*/);
  }
  assert.equal((await restricted.get('Patient?_has:AuditEvent:patient:action=R')).status, 403);
  assert.equal((await restricted.get('Patient?_revinclude=AuditEvent:patient')).status, 403);
  const [event] = (await caller.get('AuditEvent?patient=ada&action=R')).json.entry;
  assert.equal((await foreign.get(`AuditEvent/${event.resource.id}`)).status, 404);
  // Once: the search itself is an access to what it asks for, and found by the next.
  const { total, entry } = (await foreign.get('AuditEvent?patient=ada&_total=accurate')).json;
  assert.deepEqual([total, entry], [0, undefined]);
});

test('a cursor of another caller, search or part is refused', async () => {
  const { json } = await caller.get('AuditEvent?_count=1');
  const next = json.link.find(({ relation }: { relation: string }) => relation === 'next').url;
  assert.equal((await caller.get(next)).status, 200);
  assert.equal((await second.get(next)).status, 400);
  assert.equal((await caller.get(`${next}&action=R`)).status, 400);
  assert.equal((await foreign.get(next.replace('/maple/', '/cedar/'))).status, 400);
});

test('what the ledger cannot be asked is asked of imported events alone, and the answer says so', async () => {
  for (const query of ['_sort=agent', 'patient.name=x', 'patient:Patient.family=x', '_list=1']) {
    const { status, json } = await caller.get(`AuditEvent?${query}&_total=accurate`);
    assert.equal(status, 200, query);
    const ids = json.entry.flatMap(({ resource, search }: { resource: { id: string }; search: { mode: string } }) =>
      search.mode === 'match' ? [resource.id] : [],
    );
    assert.ok(!ids.some((id: string) => id.startsWith('ledger-')), query);
    assert.equal(json.total, ids.length);
    const last = json.entry.at(-1);
    assert.equal(last.search.mode, 'outcome');
    assert.equal(last.resource.issue[0].severity, 'warning');
    assert.equal(
      last.resource.issue[0].diagnostics,
      'This search is asked of imported events alone: the ledger is not searched by chains, _has and _list, and sorted by date alone',
    );
  }
});

test('events are found by date, patient, agent, entity, action, type, subtype, outcome and id', async () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'patient=bob': [
      'D delete Patient/bob/_history/2',
      'R read Patient/bob',
      'E search-type Patient',
      'C update Patient/bob/_history/1'.replace('C', 'U'),
    ],
    'patient=Patient/ada&action=U': ['U update Patient/ada/_history/1'],
    'entity=Patient/bob/_history/1': ['U update Patient/bob/_history/1'],
    'entity=Patient/bob&outcome=4': ['R read Patient/bob'],
    'patient=bob&outcome:not=0': ['R read Patient/bob'],
    'patient=bob&subtype=http://hl7.org/fhir/restful-interaction|delete,search-type': [
      'D delete Patient/bob/_history/2',
      'E search-type Patient',
    ],
    'patient=bob&type=rest&action=D': ['D delete Patient/bob/_history/2'],
    'patient=bob&date=2026-11-21T04:35:00-05:00': ['R read Patient/bob', 'E search-type Patient'],
    'patient=bob&date=ge2026-11-21T09:39:00Z': ['D delete Patient/bob/_history/2'],
    [`patient=ada&agent:identifier=https://praxis.health/fhir/application|${other.application.id}${before}`]: [
      'R read Patient/ada',
    ],
    [`agent:identifier=${narrow.application.id}${before}`]: ['R read Patient/bob', 'E search-type Patient'],
    [`policy=acl/pat_s_name_dob_gen${before}`]: ['E search-type Patient'],
    'patient=nobody-at-all': [],
    'patient=ada&agent-name=Full': [],
    'patient=bob&address=10.0.0.1': [],
    'patient=bob&_sort=date&_count=1': ['U update Patient/bob/_history/1'],
  };
  for (const [query, expected] of Object.entries(cases)) {
    const events = await found(query);
    // Searches of this very test that name a patient are events about it, too.
    const shown = events.filter((event) => event !== 'E search-type AuditEvent');
    assert.deepEqual(shown, expected, query);
  }
});

test('an event says who saw what of whom, why, and in which request; it is valid R4 and never changes', async () => {
  const { json } = await caller.get('AuditEvent?patient=bob&policy=acl/pat_s_name_dob_gen');
  const [{ resource: event, fullUrl }] = json.entry;
  const detail = Object.fromEntries(
    event.entity[0].detail.map(({ type, valueString }: { type: string; valueString: string }) => [type, valueString]),
  );
  assert.deepEqual(event, {
    resourceType: 'AuditEvent',
    id: event.id,
    meta: { versionId: '1', lastUpdated: new Date(startMs + stepMs).toISOString() },
    type: { system: 'http://terminology.hl7.org/CodeSystem/audit-event-type', code: 'rest' },
    subtype: [{ system: 'http://hl7.org/fhir/restful-interaction', code: 'search-type' }],
    action: 'E',
    recorded: new Date(startMs + stepMs).toISOString(),
    outcome: '0',
    agent: [
      {
        type: { coding: [{ system: 'http://dicom.nema.org/resources/ontology/DCM', code: '110153' }] },
        who: {
          identifier: {
            system: 'https://praxis.health/fhir/application',
            value: String(narrow.application.id),
          },
          display: 'Narrow',
        },
        altId: event.agent[0].altId,
        requestor: true,
        policy: ['acl/pat_s_name_dob_gen'],
      },
    ],
    source: {
      observer: { display: 'Praxis' },
      type: [{ system: 'http://terminology.hl7.org/CodeSystem/security-source-type', code: '4' }],
    },
    entity: [
      {
        role: { system: 'http://terminology.hl7.org/CodeSystem/object-role', code: '4' },
        detail: event.entity[0].detail,
      },
      ...['ada', 'bob'].map((id) => ({
        what: { reference: `Patient/${id}` },
        role: { system: 'http://terminology.hl7.org/CodeSystem/object-role', code: '1' },
      })),
    ],
  });
  assert.deepEqual(detail, {
    type: 'Patient',
    elements: 'Patient.birthDate Patient.gender Patient.name',
    shown: '2',
    flow: 'client',
    token: detail['token'],
    request: detail['request'],
  });
  assert.deepEqual(
    validateResource(event, { type: 'AuditEvent' }).filter(({ severity }) => severity === 'error'),
    [],
  );
  assert.equal(fullUrl, `${maple.base}/AuditEvent/${event.id}`);
  assert.deepEqual((await caller.get(`AuditEvent/${event.id}`)).json, event);
  assert.deepEqual((await caller.get(`AuditEvent/${event.id}/_history/1`)).json, event);
  assert.equal((await caller.get(`AuditEvent/${event.id}/_history/2`)).status, 404);
  assert.deepEqual((await caller.get(`AuditEvent/${event.id}/_history`)).json.entry[0].resource, event);
  assert.deepEqual(await found(`_id=${event.id}`), ['E search-type Patient']);
  assert.equal((await caller.get('AuditEvent/ledger-1-1')).status, 404);
});

test('a compartment of a patient holds the events about it', async () => {
  const { json } = await caller.get('Patient/bob/AuditEvent?action=D');
  assert.deepEqual(
    json.entry.map(({ resource }: { resource: { action: string } }) => resource.action),
    ['D'],
  );
  assert.equal((await caller.get('Device/x/AuditEvent?_total=accurate')).json.total, 0);
});

test('reading the ledger is an access and leaves a row, with the patients that the events are about', async () => {
  assert.equal((await caller.get('AuditEvent?patient=bob&action=D', { 'x-request-id': 'who-reads' })).status, 200);
  assert.deepEqual(await rowsOfRequest(service, 'who-reads'), [
    {
      interaction: 'search-type',
      what: 'AuditEvent//',
      outcome: 0,
      shown: 1,
      elements: 'all',
      entries: 'acl/*',
      reason: null,
      patients: 'bob',
    },
  ]);
});

test('pages bring every event once, newest first, and then what was imported, whatever their size', async () => {
  const files = openScratchDirectory({ after });
  const imported = ['old-1', 'old-2', 'old-3'].map((id) => ({
    resourceType: 'AuditEvent',
    id,
    type: { system: 'http://terminology.hl7.org/CodeSystem/audit-event-type', code: 'rest' },
    action: 'R',
    recorded: '2020-01-01T00:00:00Z',
    agent: [{ requestor: true, name: 'Former system' }],
    source: { observer: { display: 'Former system' } },
    entity: [{ what: { reference: 'Patient/ada' } }],
  }));
  const file = files.write('audit.ndjson', imported.map((each) => `${JSON.stringify(each)}\n`).join(''));
  await runCommand(service.platform, importCommands, 'import', file, '--firm', 'maple');
  await service.service.parts.ledger.flush();
  const query = 'patient=ada&action=R,U&date=lt2026-11-21T09:40:00Z';
  const all = (await caller.get(`AuditEvent?${query}`)).json;
  const ids = all.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
  assert.equal(all.total, ids.length);
  assert.deepEqual(ids.slice(-3).toSorted(), ['old-1', 'old-2', 'old-3']);
  assert.equal(new Set(ids).size, ids.length);
  const recorded = all.entry.slice(0, -3).map(({ resource }: { resource: { recorded: string } }) => resource.recorded);
  assert.deepEqual(recorded, recorded.toSorted().toReversed());
  for (const size of [1, 2, ids.length - 3, ids.length]) {
    const walked: string[] = [];
    for (let url: string | undefined = `AuditEvent?${query}&_count=${size}`; url !== undefined; ) {
      const { json } = await caller.get(url);
      walked.push(...(json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id));
      url = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
    }
    assert.deepEqual(walked, ids, `pages of ${size}`);
  }
  assert.equal((await caller.get(`AuditEvent?${query}&_summary=count`)).json.total, ids.length);
  const ofPage = await makeApplication(service, 'Pages', ['acl/*'], [maple], { totalOfPage: true });
  const counting = await openCaller(service, ofPage, maple);
  assert.equal((await counting.get(`AuditEvent?${query}&_count=2`)).json.total, 2);
  const exact = { 'content-flag': 'Pagination_optimization_disabled' };
  assert.equal((await counting.get(`AuditEvent?${query}&_count=2`, exact)).json.total, ids.length);
  assert.deepEqual(
    (await caller.get('AuditEvent?agent-name=Former')).json.entry.length,
    3,
    'by what the ledger does not hold',
  );
  const following = (await caller.get('AuditEvent?agent-name=Former&_include=AuditEvent:patient')).json.entry;
  assert.deepEqual(
    following.map(({ search }: { search: { mode: string } }) => search.mode),
    ['match', 'match', 'match', 'include'],
    'references of imported events are followed, so nothing is warned of',
  );
});
