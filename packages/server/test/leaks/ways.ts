/**
 * Ways to ask: every kind of search parameter, modifier, result parameter, interaction and operation, and what leads from
 * one resource to others. Each row is asked for what is hidden in one of the two worlds of `worlds.ts`.
 */
import type { InteractionName } from '../../src/engine/context.ts';
import { knownHold, knownProposal, knownSlot, knownSubscription } from './worlds.ts';

export interface Way {
  /** What of the registries it tries: `kind token`, `modifier :exact`, `result _sort`, `interaction read`, `operation meta`. */
  readonly covers: readonly string[];
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const asks = (covers: string, path: string): Way => ({ covers: covers.split(', '), path });
const mrn = 'urn:example:mrn';
const set = 'http://example.org/set';
const system = 'http://example.org/system';

const kinds: readonly Way[] = [
  asks('kind token', `Patient?identifier=${mrn}|alpha`),
  asks('kind token', 'ServiceRequest?code=alpha'),
  asks('kind token', 'Task?identifier=alpha'),
  asks('kind token', `ServiceRequest?_tag=${system}|alpha`),
  asks('kind string', 'Patient?address-city=alpha'),
  asks('kind string', 'Organization?name=alpha'),
  asks('kind date', 'Patient?death-date=gt2000'),
  asks('kind date', 'ServiceRequest?authored=2026-01-01'),
  asks('kind reference', 'Patient?general-practitioner=Practitioner/doctor'),
  asks('kind reference', 'ServiceRequest?subject=stone'),
  asks('kind number', 'RiskAssessment?probability=gt0.5'),
  asks('kind quantity', 'Observation?value-quantity=gt100'),
  asks('kind uri', 'ValueSet?url=http://example.org/alpha/set'),
  asks('kind composite', 'Observation?code-value-quantity=alpha$gt100'),
  asks('kind special near', 'Location?near=10|10|100|km'),
  asks('kind age', 'Patient?age=gt1&identifier=bravo'),
  asks('kind _text', 'Patient?_text=alpha'),
  asks('kind _content', 'Patient?_content=alpha'),
  asks('kind _content', 'ServiceRequest?_content=alpha'),
  asks('kind phonetic', 'Practitioner?phonetic=alpha'),
  asks('kind _id', 'Observation?_id=only'),
  asks('kind _id', 'ServiceRequest?_id=only,hidden,gone'),
  asks('kind _lastUpdated', 'Observation?_lastUpdated=gt2000'),
  asks('kind _lastUpdated', 'ServiceRequest?_lastUpdated=gt2000'),
];

/** Search parameters that firms have defined for themselves. */
const own: readonly Way[] = [
  asks('own parameter', 'Patient?own-city=alpha'),
  asks('own parameter', 'Observation?only-there=alpha'),
  asks('own parameter', 'Patient?_sort=own-city'),
  asks('own parameter', 'Encounter?patient.own-city=alpha'),
  asks('own parameter', 'ServiceRequest?own-code=alpha'),
  asks('own parameter', 'Patient?_has:ServiceRequest:subject:own-code=alpha'),
  asks('own parameter', 'Task?own-code=alpha'),
  asks('own parameter', 'Patient?_has:Observation:patient:only-there=alpha'),
  asks('own parameter', 'Patient?_revinclude=Observation:only-there'),
];

const modifiers: readonly Way[] = [
  asks('modifier :exact', 'Patient?address-city:exact=alpha'),
  asks('modifier :contains', 'Patient?address-city:contains=lph'),
  asks('modifier :not', 'Patient?identifier:not=alpha'),
  asks('modifier :not', 'ServiceRequest?code:not=alpha'),
  asks('modifier :text', 'Patient?language:text=alpha'),
  asks('modifier :in', `Observation?code:in=${set}`),
  asks('modifier :not-in', 'Observation?code:not-in=http://example.org/fixed'),
  asks('modifier :of-type', 'Patient?identifier:of-type=http://terminology.hl7.org/CodeSystem/v2-0203|MR|alpha'),
  asks('modifier :identifier', `Observation?subject:identifier=${mrn}|alpha`),
  asks('modifier :missing', 'Patient?general-practitioner:missing=true'),
  asks('modifier :above', 'ValueSet?url:above=http://example.org/alpha/set/x'),
  asks('modifier :below', 'ValueSet?url:below=http://example.org/alpha'),
  asks('modifier :below', `Observation?code:below=${system}|alpha`),
  asks('modifier :below', 'Encounter?location:below=Location/ward'),
  asks('modifier :below', 'Location?partof:below=Location/ward'),
  asks('modifier :above', 'Location?_has:Encounter:location:location:above=Location/room'),
  asks('modifier :[type]', 'Patient?general-practitioner:Practitioner=doctor'),
];

const links: readonly Way[] = [
  asks('link chain', `Encounter?patient.identifier=${mrn}|alpha`),
  asks('link chain', 'Encounter?patient.organization.name=alpha'),
  asks('link chain', 'Encounter?location.name=alpha'),
  asks('link chain', 'DiagnosticReport?based-on:ServiceRequest.code=alpha'),
  asks('link chain', 'Task?focus:ServiceRequest.authored=2026-01-01'),
  asks('link _has', 'Patient?_has:Observation:patient:code=alpha'),
  asks('link _has', 'Patient?_has:ServiceRequest:subject:code=alpha'),
  asks('link _has', 'Patient?_has:Task:patient:identifier=alpha'),
  asks('link _has', 'Encounter?_has:ServiceRequest:encounter:code=alpha'),
  asks('link _has', 'Patient?_has:Encounter:patient:_has:Observation:encounter:code=alpha'),
  asks('link _has', 'Patient?_has:Encounter:patient:_has:ServiceRequest:encounter:code=alpha'),
  asks('link _list', 'Patient?_list=chosen'),
  asks('link _list', 'ServiceRequest?_list=chosen&code=alpha'),
  asks('link _filter', 'Patient?_filter=identifier eq alpha'),
  asks('link _filter', 'Patient?_filter=not (address-city eq alpha)'),
  asks('link _filter', 'ServiceRequest?_filter=code eq alpha or code eq seen'),
  asks('link _filter', 'DiagnosticReport?_filter=based-on.code eq alpha'),
  asks('link _include', 'Encounter?_include=*'),
  asks('link _include', 'Encounter?_include=Encounter:location'),
  asks('link _include', 'Patient?_include=Patient:organization'),
  asks('link _include', 'DiagnosticReport?_include=DiagnosticReport:based-on'),
  asks('link _include', 'Encounter?_include:iterate=*&_revinclude:iterate=*'),
  asks('link _revinclude', 'Patient?_revinclude=*'),
  asks('link _revinclude', 'Patient?_revinclude=ServiceRequest:subject&_revinclude=Task:patient'),
  asks('link _revinclude', 'Encounter?_revinclude=Observation:encounter'),
];

const results: readonly Way[] = [
  asks('result _sort', 'Patient?_sort=address-city'),
  asks('result _sort', 'Patient?_sort=-identifier'),
  asks('result _sort, result _cursor', 'ServiceRequest?_sort=authored&_count=1'),
  asks('result _sort', 'Task?_sort=-authored-on'),
  asks('result _count', 'Patient?_count=1&identifier=alpha'),
  asks('result _count', 'ServiceRequest?_count=0'),
  asks('result page', 'ServiceRequest?_count=1&page=2'),
  asks('result page', 'Task?_count=1&page=2'),
  asks('result _total', 'ServiceRequest?_total=accurate&_count=1'),
  asks('result _total', 'Task?_total=accurate&_count=1'),
  asks('result _total', 'Observation?_total=estimate&_count=1'),
  asks('result _total', 'ServiceRequest?_total=estimate&_count=1'),
  asks('result _total', 'Task?_total=estimate&_count=1&status=requested'),
  asks('result _summary', 'Patient?_summary=text'),
  asks('result _summary', 'Patient?_summary=true'),
  asks('result _summary', 'Patient?_summary=data'),
  asks('result _summary', 'ServiceRequest?_summary=count'),
  asks('result _elements', 'Patient?_elements=identifier'),
  asks('result _elements', 'Patient?_elements=id,address'),
  asks('result _format', 'Patient?_format=xml'),
  asks('result _format', 'ServiceRequest?_format=xml'),
  asks('result _pretty', 'Patient?_pretty=true'),
];

const searches: readonly Way[] = [
  asks('interaction search-type', 'Patient'),
  asks('interaction search-type', 'ServiceRequest'),
  asks('interaction search-type', 'Patient/stone/Observation'),
  asks('interaction search-type', 'Patient/stone/ServiceRequest'),
  asks('interaction search-type', 'Encounter/visit/Observation'),
  asks('interaction search-system', '?_type=Patient,Encounter,Observation'),
  asks('interaction search-system', '?_type=ServiceRequest,Task'),
  asks('interaction search-system', '?_id=only'),
  asks('interaction search-system', '?_tag=alpha'),
  asks('interaction search-system', 'Patient/stone/*'),
  {
    covers: ['interaction search-type'],
    method: 'POST',
    path: 'Patient/_search',
    body: 'identifier=alpha',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  },
];

const read: readonly Way[] = [
  asks('interaction read', 'Patient/stone'),
  asks('interaction read', 'Observation/only'),
  asks('interaction read', 'ServiceRequest/only'),
  asks('interaction read', 'ServiceRequest/gone'),
  asks('interaction read', 'Task/only'),
  asks('interaction read', 'Task/gone'),
  asks('interaction read', 'Patient/stone?_elements=identifier'),
  { ...asks('interaction read', 'ServiceRequest/only'), headers: { 'if-none-match': 'W/"1"' } },
  ...['Patient/stone', 'Patient?_id=stone', 'Patient', 'Appointment'].map((path) => ({
    ...asks(path.includes('/') ? 'interaction read' : 'interaction search-type', path),
    headers: { 'content-flag': 'Referral, Universal_Id' },
  })),
  { ...asks('interaction read', 'Binary/file'), headers: { accept: 'text/plain' } },
  asks('interaction vread', 'Patient/stone/_history/1'),
  asks('interaction vread', 'ServiceRequest/hidden/_history/1'),
  asks('interaction vread', 'ServiceRequest/gone/_history/1'),
  asks('interaction vread', 'ServiceRequest/gone/_history/2'),
  asks('interaction history-instance', 'Patient/stone/_history'),
  asks('interaction history-instance', 'ServiceRequest/only/_history'),
  asks('interaction history-instance', 'ServiceRequest/gone/_history'),
  asks('interaction history-instance', 'ServiceRequest/hidden/_history?_since=2020-01-01T00:00:00Z'),
  asks('interaction history-type', 'Patient/_history'),
  asks('interaction history-type', 'ServiceRequest/_history'),
  asks('interaction history-type', 'ServiceRequest/_history?_count=1'),
  asks('interaction history-type', 'Task/_history'),
  asks('interaction history-system', '_history'),
  asks('interaction history-system', '_history?_count=2&_since=2020-01-01T00:00:00Z'),
];

const lines = { accept: 'application/fhir+ndjson' };
/** Lists as lines. */
const streamed: readonly Way[] = [
  'Patient?identifier=alpha',
  'ServiceRequest',
  'ServiceRequest?_count=1&_total=accurate',
  'Task?_count=1',
  'Encounter?_include=*',
  'ServiceRequest/_history',
  '_history',
].map((path) => ({ ...asks('format ndjson', path), headers: lines }));

/** What one export asks, from its beginning to its files. */
const exporting =
  'operation $export, operation Patient/$export, operation Group/$export, operation $export-status, operation $export-file';

const operations: readonly Way[] = [
  asks('operation $effective-access', '$effective-access'),
  asks('operation $changes', '$changes'),
  asks('operation $changes', '$changes?_count=1'),
  asks('operation $changes', '$changes?since=2026-11-21'),
  asks('operation $changes', '$changes?_type=ServiceRequest'),
  asks('operation $write-outcome', '$write-outcome?key=alpha'),
  asks('operation $reconciliation', `$reconciliation?id=${knownProposal}`),
  asks('operation SearchParameter/$status', 'SearchParameter/$status'),
  asks('operation SearchParameter/$status', 'SearchParameter/only-there/$status'),
  asks('operation Subscription/$status', 'Subscription/$status'),
  asks('operation Subscription/$status', `Subscription/${knownSubscription}/$status`),
  asks('operation Subscription/$events', `Subscription/${knownSubscription}/$events`),
  asks('operation Subscription/$get-ws-binding-token', `Subscription/$get-ws-binding-token?id=${knownSubscription}`),
  asks('operation Subscription/$get-ws-binding-token', `Subscription/${knownSubscription}/$get-ws-binding-token`),
  asks('operation Composition/$document', 'Composition/note/$document'),
  asks('operation Composition/$document', 'Composition/$document?id=note'),
  asks('operation Patient/$everything', 'Patient/stone/$everything'),
  asks('operation Patient/$everything', 'Patient/$everything'),
  ...[
    '$export',
    '$export?_type=ServiceRequest',
    '$export?_since=2026-01-01',
    '$export?_elements=name',
    '$export?_typeFilter=Patient%3Fidentifier%3Dalpha',
    '$export?_typeFilter=Observation%3Fcode%3Dalpha',
    '$export?_typeFilter=ServiceRequest%3F_id%3Donly',
    'Patient/$export',
    'Patient/$export?_typeFilter=Patient%3Fname%3Dalpha',
    'Group/cohort/$export',
  ].map((path): Way => ({ ...asks(exporting, path), headers: { prefer: 'respond-async' } })),
  asks(
    'operation $export-attachment',
    '$export-attachment?of=Observation/only&content=00000000-0000-4000-8000-000000000000',
  ),
  asks('operation Encounter/$everything', 'Encounter/visit/$everything'),
  asks('operation Slot/$find', 'Slot/$find?appointment-type=alpha'),
  asks('operation ValueSet/$expand', `ValueSet/$expand?url=${set}`),
  asks('operation ValueSet/$expand', 'ValueSet/set/$expand'),
  asks('operation Observation/$lastn', 'Observation/$lastn?patient=stone&category=vital-signs'),
  asks('operation CodeSystem/$lookup', `CodeSystem/$lookup?system=${system}&code=alpha`),
  asks('operation $meta', 'Observation/only/$meta'),
  asks('operation $meta', 'ServiceRequest/hidden/$meta'),
  asks('operation $meta', 'ServiceRequest/$meta'),
  asks('operation $meta', '$meta'),
  asks('operation ValueSet/$validate-code', `ValueSet/$validate-code?url=${set}&system=${system}&code=alpha`),
  asks('operation CodeSystem/$validate-code', `CodeSystem/$validate-code?url=${system}&code=alpha`),
  asks('operation $validate', 'ServiceRequest/only/$validate'),
  asks('operation $validate', 'Observation/only/$validate'),
];

const patch = { 'content-type': 'application/json-patch+json' };
const tagged = { resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta: { tag: [{ code: 'x' }] } }] };
const order = {
  resourceType: 'ServiceRequest',
  status: 'active',
  intent: 'order',
  category: [{ coding: [{ code: 'PATHOLOGY' }] }],
  subject: { reference: 'Patient/stone' },
};
const person = { resourceType: 'Patient', name: [{ family: 'New' }] };
const writes = (name: InteractionName, method: string, path: string, body?: unknown, headers = {}): Way => ({
  covers: [`interaction ${name}`],
  method,
  path,
  body,
  headers,
});
const patched = (path: string, ...steps: readonly object[]): Way => writes('patch', 'PATCH', path, steps, patch);
const fhirPathPatch = {
  resourceType: 'Parameters',
  parameter: [
    {
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'delete' },
        { name: 'path', valueString: "Patient.identifier.where(value = 'alpha')" },
      ],
    },
  ],
};

/** They may change what they reach, so they come after all others. */
const writing: readonly Way[] = [
  ...['batch', 'transaction'].flatMap((type) => bundles(type)),
  patched('Patient/stone', { op: 'test', path: '/identifier/0/value', value: 'alpha' }),
  patched('Patient/stone', { op: 'test', path: '/generalPractitioner/0/reference', value: 'Practitioner/doctor' }),
  patched('Patient/stone', { op: 'copy', from: '/address/0/city', path: '/name/0/family' }),
  patched('Patient/stone', { op: 'move', from: '/deceasedDateTime', path: '/birthDate' }),
  patched('Patient/stone', { op: 'remove', path: '/generalPractitioner' }),
  patched('ServiceRequest/only', { op: 'test', path: '/status', value: 'active' }),
  patched('ServiceRequest/gone', { op: 'test', path: '/status', value: 'active' }),
  writes('patch', 'PATCH', 'Patient/stone', fhirPathPatch),
  writes(
    'conditional-patch',
    'PATCH',
    'Patient?identifier=alpha',
    [{ op: 'add', path: '/active', value: true }],
    patch,
  ),
  writes(
    'conditional-patch',
    'PATCH',
    'ServiceRequest?code=alpha&_id=hidden',
    [{ op: 'add', path: '/priority', value: 'stat' }],
    patch,
  ),
  writes('create', 'POST', 'Patient', person, { 'if-none-exist': `identifier=${mrn}|alpha` }),
  writes('create', 'POST', 'ServiceRequest', order, { 'if-none-exist': 'code=alpha&_id=hidden' }),
  writes(
    'create',
    'POST',
    'Task',
    { resourceType: 'Task', status: 'draft', intent: 'order' },
    { 'if-none-exist': 'identifier=alpha' },
  ),
  writes('conditional-update', 'PUT', 'Patient?identifier=alpha', person),
  writes('conditional-update', 'PUT', 'ServiceRequest?identifier=alpha&_id=hidden', order),
  writes('conditional-delete', 'DELETE', 'Observation?code=alpha'),
  writes('conditional-delete', 'DELETE', 'ServiceRequest?identifier=alpha'),
  writes('conditional-delete', 'DELETE', 'Task?identifier=alpha'),
  writes('update', 'PUT', 'Patient/stone', { ...person, id: 'stone' }, { 'if-match': 'W/"7"' }),
  writes('update', 'PUT', 'Observation/only', {
    resourceType: 'Observation',
    id: 'only',
    status: 'final',
    code: { text: 'x' },
  }),
  writes('delete', 'DELETE', 'Observation/only'),
  writes('update', 'PUT', 'ServiceRequest/only', { ...order, id: 'only' }),
  writes('update', 'PUT', 'ServiceRequest/gone', { ...order, id: 'gone' }),
  writes('update', 'PUT', 'ServiceRequest/hidden', { ...order, id: 'hidden' }, { 'if-match': 'W/"1"' }),
  writes('delete', 'DELETE', 'ServiceRequest/only'),
  writes('delete', 'DELETE', 'ServiceRequest/gone'),
  writes('delete', 'DELETE', 'Task/only'),
  { covers: ['operation $meta-add'], method: 'POST', path: 'ServiceRequest/only/$meta-add', body: tagged },
  { covers: ['operation $meta-delete'], method: 'POST', path: 'ServiceRequest/only/$meta-delete', body: tagged },
];

const moved = (event: string, path: string): Way => ({
  covers: [`operation Appointment/$${event}`],
  method: 'POST',
  path: `${path}/$${event}`,
});

/** Each of an appointment of its own: what one has changed, another could not tell apart. */
const visits: readonly Way[] = [
  moved('check-in', 'Appointment/arriving'),
  moved('check-in', 'Appointment/once'),
  moved('check-out', 'Appointment/leaving'),
  moved('fulfil', 'Appointment/kept'),
  moved('no-show', 'Appointment/missed'),
  moved('accept-offer', 'Appointment/once'),
  moved('accept-offer', 'Appointment/accepting'),
  moved('decline-offer', 'Appointment/declining'),
];

const given = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });

/** The slot and the hold exist in one world. */
const bookings: readonly Way[] = [
  { covers: ['operation Slot/$hold'], method: 'POST', path: `Slot/${knownSlot}/$hold` },
  {
    covers: ['operation Subscription/$rotate-secret'],
    method: 'POST',
    path: `Subscription/${knownSubscription}/$rotate-secret`,
  },
  {
    covers: ['operation Slot/$renew'],
    method: 'POST',
    path: 'Slot/$renew',
    body: given({ name: 'hold', valueId: knownHold }),
  },
  {
    covers: ['operation Slot/$release'],
    method: 'POST',
    path: 'Slot/$release',
    body: given({ name: 'hold', valueId: knownHold }),
  },
  {
    covers: ['operation Appointment/$book'],
    method: 'POST',
    path: 'Appointment/$book',
    body: given(
      { name: 'appointment', resource: { resourceType: 'Appointment', participant: [{ status: 'accepted' }] } },
      { name: 'slot', valueString: knownSlot },
    ),
  },
  {
    covers: ['operation Appointment/$reschedule'],
    method: 'POST',
    path: 'Appointment/moving/$reschedule',
    body: given({ name: 'slot', valueString: knownSlot }),
  },
  {
    covers: ['operation Appointment/$cancel'],
    method: 'POST',
    path: 'Appointment/called-off/$cancel',
    body: given({ name: 'reason', valueCodeableConcept: { text: 'ill' } }),
  },
  ...['following', 'all'].map((scope) => ({
    covers: ['operation Appointment/$cancel'],
    method: 'POST',
    path: 'Appointment/in-series/$cancel',
    body: given({ name: 'reason', valueCodeableConcept: { text: 'ill' } }, { name: 'scope', valueCode: scope }),
  })),
  {
    covers: ['operation Appointment/$book'],
    method: 'POST',
    path: 'Appointment/$book',
    body: given(
      { name: 'appointment', resource: { resourceType: 'Appointment', participant: [{ status: 'accepted' }] } },
      { name: 'slot', valueString: knownSlot },
      {
        name: 'recurrence',
        part: [
          { name: 'frequency', valueCode: 'daily' },
          { name: 'count', valuePositiveInt: 3 },
          { name: 'taken', valueCode: 'skip' },
        ],
      },
    ),
  },
];

function bundles(type: string): readonly Way[] {
  const encounter = (subject: string) => ({
    resourceType: 'Encounter',
    status: 'finished',
    class: { code: 'AMB' },
    subject: { reference: subject },
  });
  const requests: readonly object[] = [
    { request: { method: 'GET', url: `Patient?identifier=${mrn}|alpha` } },
    { request: { method: 'GET', url: 'ServiceRequest?code=alpha' } },
    { request: { method: 'GET', url: 'ServiceRequest/only' } },
    { request: { method: 'GET', url: 'ServiceRequest/_history' } },
    { request: { method: 'GET', url: 'Encounter?_include=*' } },
    { resource: person, request: { method: 'POST', url: 'Patient', ifNoneExist: `identifier=${mrn}|alpha` } },
    {
      resource: order,
      request: { method: 'POST', url: 'ServiceRequest', ifNoneExist: 'identifier=alpha&_id=hidden' },
    },
  ];
  /** Conditional references, which stand in transactions only. */
  const referring: readonly object[] = [
    { resource: encounter(`Patient?identifier=${mrn}|alpha`), request: { method: 'POST', url: 'Encounter' } },
    {
      resource: { ...order, basedOn: [{ reference: 'ServiceRequest?identifier=alpha&_id=hidden' }] },
      request: { method: 'POST', url: 'ServiceRequest' },
    },
  ];
  return (type === 'batch' ? requests : [...requests, ...referring]).map((entry) => ({
    covers: [`bundle ${type}`],
    method: 'POST',
    path: '',
    body: { resourceType: 'Bundle', type, entry: [entry] },
    headers: { prefer: 'return=representation' },
  }));
}

/** Every way, reading ones before those that may write. */
export const ways: readonly Way[] = [
  ...kinds,
  ...own,
  ...modifiers,
  ...links,
  ...results,
  ...searches,
  ...read,
  ...streamed,
  ...operations,
  ...writing,
  ...visits,
  ...bookings,
];
