/**
 * Two services that hold the same for a caller with restricted rights, and differ in everything hidden from it: what the
 * tests of leaks ask both.
 */
import assert from 'node:assert/strict';
import { sql } from '../../src/database/sql.ts';
import { seriesSystem } from '../../src/scheduling/series.ts';
import { slotIds } from '../../src/scheduling/slot-id.ts';
import { typeNumber } from '../../src/search/numbers.ts';
import { type StoredOperatorRows, setOperatorRows } from '../../src/tenancy/authorisations.ts';
import { keepCalendar } from '../scheduling/world.ts';
import type { Lifetime } from '../support/database.ts';
import { untilTold } from '../support/follower.ts';
import {
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestFirm,
  type TestService,
} from '../support/service.ts';

/** What is hidden has one of these values, by world. */
export const secrets = ['alpha', 'bravo'] as const;
export type Secret = (typeof secrets)[number];

export const callerNames = [
  'names',
  'writer',
  'recalls',
  'scoped',
  'described',
  'filtered',
  'clerk',
  'stranger',
  'outsider',
] as const;
/** Callers without the right to what differs, each at the firm where it asks. */
export type CallerName = (typeof callerNames)[number];

export interface World {
  readonly origin: string;
  readonly callers: Readonly<Record<CallerName, Caller>>;
  /** Those who may see everything: that the worlds differ shows in what they are told. */
  readonly entitled: readonly Caller[];
}

const mrn = 'urn:example:mrn';
const systemUrl = 'http://example.org/system';
const reference = (to: string) => ({ reference: to });
const coded = (code: string) => ({ coding: [{ system: systemUrl, code }], text: code });

type Sample = { readonly resourceType: string; readonly id: string; readonly [element: string]: unknown };

/** A patient whose id, name, gender and birth date are the same in both worlds. */
function patient(id: string, secret: string, isFirst: boolean): Sample {
  return {
    resourceType: 'Patient',
    id,
    text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${secret}</div>` },
    identifier: [
      {
        type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] },
        system: mrn,
        value: `${secret}`,
      },
    ],
    name: [{ family: 'Stone', given: [id] }],
    gender: 'female',
    birthDate: '1980-01-01',
    address: [{ city: secret }],
    communication: [{ language: { text: secret } }],
    managingOrganization: reference(`Organization/${secret}`),
    ...(isFirst ? { generalPractitioner: [reference('Practitioner/doctor')], deceasedDateTime: '2020-01-01' } : {}),
  };
}

/** What a header Content-flag goes by: the practitioner refers patients to the practice. */
const referring = {
  url: 'https://praxis.health/fhir/StructureDefinition/practitioner-type',
  valueCodeableConcept: { coding: [{ code: 'ref' }] },
};

/** What no caller but the entitled ones sees in full; the elements and rows differ, and one resource exists in one world. */
function hiddenFromNames(secret: Secret): readonly Sample[] {
  const isFirst = secret === 'alpha';
  const other = isFirst ? 'bravo' : 'alpha';
  const observed = (id: string, more: object = {}): Sample => ({
    resourceType: 'Observation',
    id,
    status: 'final',
    category: [coded('vital-signs')],
    code: coded(secret),
    subject: { ...reference('Patient/stone'), identifier: { system: mrn, value: secret } },
    encounter: reference('Encounter/visit'),
    valueQuantity: { value: isFirst ? 120 : 60 },
    effectiveDateTime: '2026-01-01',
    ...more,
  });
  return [
    { resourceType: 'Organization', id: secret, name: secret },
    {
      resourceType: 'Location',
      id: 'room',
      name: secret,
      position: isFirst ? { longitude: 10, latitude: 10 } : { longitude: 90, latitude: 10 },
      ...(isFirst ? { partOf: reference('Location/ward') } : {}),
    },
    { resourceType: 'Location', id: 'ward', name: 'Ward' },
    ownParameter('own-city', 'Patient', 'string', 'Patient.address.city'),
    ...(isFirst ? [ownParameter('only-there', 'Observation', 'token', 'Observation.code')] : []),
    { resourceType: 'Practitioner', id: 'doctor', extension: [referring], name: [{ family: secret }] },
    patient('stone', secret, isFirst),
    patient('marble', other, !isFirst),
    observed('pressure'),
    ...(isFirst ? [observed('only')] : []),
    {
      resourceType: 'RiskAssessment',
      id: 'risk',
      status: 'final',
      subject: reference('Patient/stone'),
      prediction: [{ probabilityDecimal: isFirst ? 0.9 : 0.1 }],
    },
    {
      resourceType: 'CodeSystem',
      id: 'system',
      url: systemUrl,
      status: 'active',
      content: 'complete',
      concept: [{ code: secret }],
    },
    {
      resourceType: 'ValueSet',
      id: 'set',
      url: 'http://example.org/set',
      status: 'active',
      compose: { include: [{ system: systemUrl, concept: [{ code: secret }] }] },
    },
    {
      resourceType: 'ValueSet',
      id: 'fixed',
      url: 'http://example.org/fixed',
      status: 'active',
      compose: { include: [{ system: systemUrl, concept: [{ code: 'alpha' }] }] },
    },
    { resourceType: 'ValueSet', id: 'place', url: `http://example.org/${secret}/set`, status: 'active' },
    ...shared(secret),
  ];
}

/** A search parameter that the firm has defined for itself. */
function ownParameter(code: string, base: string, type: string, expression: string): Sample {
  return {
    resourceType: 'SearchParameter',
    id: code,
    url: `http://example.org/SearchParameter/${code}`,
    name: code.replaceAll('-', '_'),
    status: 'active',
    description: code,
    code,
    base: [base],
    type,
    expression,
  };
}

/** Resources that refer to others, so that links can be tried; what they refer to differs. */
function shared(secret: Secret): readonly Sample[] {
  const chosen = secret === 'alpha' ? 'stone' : 'marble';
  return [
    {
      resourceType: 'List',
      id: 'chosen',
      status: 'current',
      mode: 'working',
      entry: [{ item: reference(`Patient/${chosen}`) }],
    },
    {
      resourceType: 'Composition',
      id: 'note',
      status: 'final',
      type: coded('note'),
      subject: reference('Patient/stone'),
      date: '2026-01-01',
      author: [{ display: secret }],
      title: secret,
      section: [
        {
          title: 'Seen',
          text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${secret}</div>` },
          entry: [reference('Observation/pressure')],
        },
      ],
    },
    {
      resourceType: 'Binary',
      id: 'file',
      contentType: 'text/plain',
      data: secret === 'alpha' ? 'YWxwaGE=' : 'YnJhdm8=',
    },
    visit,
    ...appointments(secret),
  ];
}

/** One for each operation that changes it; what they say differs, and one exists in one world. */
function appointments(secret: Secret): readonly Sample[] {
  const booked = (id: string, status = 'booked'): Sample => ({
    resourceType: 'Appointment',
    id,
    status,
    description: secret,
    start: '2026-11-21T09:00:00Z',
    end: '2026-11-21T09:30:00Z',
    participant: [{ actor: reference('Patient/stone'), status: 'accepted' }],
  });
  return [
    booked('arriving'),
    booked('leaving', 'checked-in'),
    booked('kept'),
    booked('missed'),
    booked('called-off'),
    booked('moving'),
    booked('accepting', 'proposed'),
    booked('declining', 'proposed'),
    {
      ...booked('in-series'),
      identifier: [{ system: seriesSystem, value: secret }],
      start: '2026-11-24T09:00:00Z',
      end: '2026-11-24T09:30:00Z',
    },
    ...(secret === 'alpha' ? [booked('once')] : []),
  ];
}

const visit: Sample = {
  resourceType: 'Encounter',
  id: 'visit',
  status: 'finished',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  subject: reference('Patient/stone'),
  location: [{ location: reference('Location/room') }],
  participant: [{ individual: reference('Practitioner/doctor') }],
};

/** Orders and tasks, some of which the callers may not see: those of one type differ, are deleted, or exist in one world. */
function hiddenRows(hidden: RowType, secret: Secret): readonly Sample[] {
  const isFirst = secret === 'alpha';
  const order = (id: string, category: string, code: string): Sample => ({
    resourceType: 'ServiceRequest',
    id,
    meta: { tag: [{ system: systemUrl, code }] },
    status: 'active',
    intent: 'order',
    identifier: [{ system: mrn, value: code }],
    category: [{ coding: [{ code: category }] }],
    code: coded(code),
    subject: reference('Patient/stone'),
    encounter: reference('Encounter/visit'),
    authoredOn: code === 'alpha' ? '2026-01-01' : '2026-02-01',
  });
  const task = (id: string, type: string, code: string): Sample => ({
    resourceType: 'Task',
    id,
    meta: { tag: [{ system: systemUrl, code }] },
    status: 'requested',
    intent: 'order',
    identifier: [{ system: mrn, value: code }],
    code: { coding: [{ code: type }] },
    description: code,
    for: reference('Patient/stone'),
    focus: reference('ServiceRequest/hidden'),
    authoredOn: code === 'alpha' ? '2026-01-01' : '2026-02-01',
  });
  const common: readonly Sample[] = [
    ownParameter('own-code', hidden, 'token', `${hidden}.identifier`),
    { resourceType: 'Patient', id: 'stone', name: [{ family: 'Stone' }] },
    visit,
    order('pathology', 'PATHOLOGY', 'seen'),
    order('pathology-2', 'PATHOLOGY', 'seen'),
    task('recall', 'PMRECALL', 'seen'),
    {
      resourceType: 'DiagnosticReport',
      id: 'report',
      status: 'final',
      code: coded('report'),
      subject: reference('Patient/stone'),
      basedOn: [reference('ServiceRequest/hidden'), reference('ServiceRequest/pathology')],
    },
    {
      resourceType: 'List',
      id: 'chosen',
      status: 'current',
      mode: 'working',
      entry: [{ item: reference('ServiceRequest/hidden') }, { item: reference('Task/hidden') }],
    },
    {
      resourceType: 'Composition',
      id: 'note',
      status: 'final',
      type: coded('note'),
      subject: reference('Patient/stone'),
      date: '2026-01-01',
      author: [{ display: 'A' }],
      title: 'Note',
      section: [
        {
          title: 'Ordered',
          text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Orders</div>' },
          entry: [reference('ServiceRequest/pathology')],
        },
      ],
    },
  ];
  const [differing, same] = hidden === 'Task' ? [task, order] : [order, task];
  const [type, others] = hidden === 'Task' ? ['OTHER', 'RADIOLOGY'] : ['RADIOLOGY', 'OTHER'];
  return [
    ...common,
    same('same', others, 'seen'),
    differing('hidden', type, secret),
    ...(isFirst ? [differing('only', type, secret)] : []),
  ];
}

/** The type of which some rows are hidden. */
type RowType = 'ServiceRequest' | 'Task';

/** Opens a service that holds `secret`; everything else is the same, whatever the secret. */
export async function openWorld(lifetime: Lifetime, secret: Secret): Promise<World> {
  const service = await openTestService(lifetime);
  const maple = await makeFirm(service, 'maple');
  const birch = await makeFirm(service, 'birch');
  const rowan = await makeFirm(service, 'rowan');
  const cedar = await makeFirm(service, 'cedar');
  const opened = async (
    name: string,
    acl: readonly string[],
    firm: typeof maple,
    rows: StoredOperatorRows = {},
  ): Promise<Caller> => {
    const application = await makeApplication(service, name, acl, [firm]);
    await setOperatorRows(service.platform.database, firm, application.application, rows);
    return await openCaller(service, application, firm);
  };
  const entitled = [
    await opened('Maple', ['acl/*'], maple),
    await opened('Birch', ['acl/*'], birch),
    await opened('Rowan', ['acl/*'], rowan),
  ] as const;
  const stranger = await opened('Stranger', ['acl/*'], cedar);
  await fill(entitled[0], hiddenFromNames(secret));
  // Search parameters that the service is taking up raise the epochs of access.
  await service.service.jobs.settle();
  await keepSlots(service, maple, secret);
  const keyed = { resourceType: 'Basic', id: 'keyed', code: { text: 'keyed' } };
  await entitled[0].send('PUT', 'Basic/keyed', keyed, { 'idempotency-key': `"${secret}"` });
  for (const [caller, type] of [
    [entitled[1], 'ServiceRequest'],
    [entitled[2], 'Task'],
  ] as const) {
    await fill(caller, hiddenRows(type, secret));
    if (secret !== 'alpha') continue;
    await fill(caller, [{ ...(await caller.get(`${type}/only`)).json, id: 'gone' }]);
    assert.equal((await caller.send('DELETE', `${type}/gone`)).status, 204);
  }
  await fill(stranger, [{ resourceType: 'Patient', id: 'own', name: [{ family: 'Cedar' }] }]);
  await service.service.jobs.settle();
  await untilTold(service.database.owner);
  const { headers } = stranger;
  return {
    origin: service.origin,
    entitled,
    callers: {
      names: await opened('Names', ['acl/enc_s', 'acl/pat_s_name_dob_gen'], maple),
      writer: await opened('Writer', writing, maple),
      recalls: await opened('Recalls', ['acl/tsk_pmrecall_s', 'acl/pat_s', 'acl/enc_s'], rowan),
      scoped: await opened('Scoped', ['system/Task.crus?code=PMRECALL', 'system/Patient.rs', 'acl/enc_s'], rowan),
      described: await opened('Described', ['acl/serv_req_r', 'acl/serv_req_s', 'acl/serv_req_u'], birch, {
        serv_req: { criteria: [{ parameter: 'category', values: ['PATHOLOGY'] }], elements: ['status', 'category'] },
      }),
      filtered: await opened('Filtered', ['acl/*', 'acl/lab_type_path'], birch),
      clerk: await opened('Clerk', ['acl/appmt_r', 'acl/appmt_s', 'acl/appmt_u', 'acl/pat_r_name_dob_gen'], maple, {
        appmt: { criteria: [{ parameter: 'status', values: ['waitlist'] }], elements: ['status', 'start'] },
      }),
      stranger,
      outsider: { ...outside(stranger, maple.base), headers },
    },
  };
}

/** The id of a hold that the entitled application has in one world. */
export const knownHold = '11111111-1111-4111-8111-111111111111';

/** The id of a proposal that the entitled application has made in one world. */
export const knownProposal = '22222222-2222-4222-8222-222222222222';

/** A slot of Monday, 23 November 2026, that there is in one world: that of firm and calendar 1, as the worlds have them. */
export const knownSlot = slotIds(1, 1, 'alpha')(Date.UTC(2026, 10, 23, 15));

/** A calendar whose slots are for the secret, and in one world a hold. */
async function keepSlots(service: TestService, firm: TestFirm, secret: Secret): Promise<void> {
  await keepCalendar(service.platform, firm, {
    practitioner: 'doctor',
    location: 'room',
    appointmentTypes: [{ code: secret, minutes: 30 }],
    weekly: [{ days: ['mon'], from: '00:00', to: '24:00', capacity: 2 }],
  });
  if (secret !== 'alpha') return;
  await service.database.owner.query(sql`
    INSERT INTO slot_hold (firm, id, application, slot, expires)
    SELECT ${firm.id}, ${knownHold}, id, ${knownSlot}, ${service.clock.now() + 86_400_000} FROM application WHERE name = 'Maple'`);
  await service.database.owner.query(sql`
    INSERT INTO intake_proposal (proposed_at, firm, application, base, rtype, task, proposed)
    SELECT ${service.clock.now()}, ${firm.id}, id, 0, ${typeNumber('Coverage')}, ${knownProposal}, '{"status":"active"}'
    FROM application WHERE name = 'Maple'`);
  await service.database.owner.query(sql`
    INSERT INTO waitlist_offer (firm, appointment, slot, expires, added)
    SELECT ${firm.id}, appointment, ${knownSlot}, ${service.clock.now() + 86_400_000}, '{}'
    FROM unnest(ARRAY['accepting', 'declining']) AS appointment`);
}

/** May change patients and create them, and read of them no more than names, dates of birth and gender. */
const writing = [
  'acl/enc_s',
  'acl/pat_c',
  'acl/pat_u',
  'acl/pat_r_name_dob_gen',
  'acl/pat_s_name_dob_gen',
  'acl/trans_bndl_post',
];

/** The same token, at a firm that never authorised it. */
function outside(caller: Caller, base: string): Pick<Caller, 'get' | 'send'> {
  const at = (path: string): string => (path.startsWith('http') ? path : `${base}/${path}`);
  return {
    get: (path, headers) => caller.get(at(path), headers),
    send: (method, path, body, headers) => caller.send(method, at(path), body, headers),
  };
}

async function fill(caller: Caller, records: readonly Sample[]): Promise<void> {
  for (const record of records) {
    const answer = await caller.send('PUT', `${record.resourceType}/${record.id}`, record);
    assert.equal(answer.status, 201, answer.text);
  }
}
