/**
 * What the two worlds of the tests of leaks hold: records that differ in what is hidden from callers with restricted rights, and in
 * nothing else.
 */
import { seriesSystem } from '../../src/practice/booking/series.ts';

/** What is hidden has one of these values, by world. */
export const secrets = ['alpha', 'bravo'] as const;
export type Secret = (typeof secrets)[number];

const mrn = 'urn:example:mrn';
const systemUrl = 'http://example.org/system';
const reference = (to: string) => ({ reference: to });
const coded = (code: string) => ({ coding: [{ system: systemUrl, code }], text: code });

/** A resource as JSON. */
export type Sample = { readonly resourceType: string; readonly id: string; readonly [element: string]: unknown };

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
export function hiddenFromNames(secret: Secret): readonly Sample[] {
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
    {
      resourceType: 'Group',
      id: 'cohort',
      type: 'person',
      actual: true,
      member: (isFirst ? ['stone'] : ['stone', 'marble']).map((id) => ({ entity: reference(`Patient/${id}`) })),
    },
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
export function hiddenRows(hidden: RowType, secret: Secret): readonly Sample[] {
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
