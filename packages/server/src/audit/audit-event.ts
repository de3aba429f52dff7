/**
 * A row of the ledger as an AuditEvent (https://hl7.org/fhir/R4/auditevent.html), made when it is read. Its id says where the
 * row is: no resource that is stored has an id of this form, since the server alone makes AuditEvents.
 */
import type { JsonObject } from '@praxis/fhir';
import { readPatients } from './audit-row.ts';
import type { ProvenColumns } from './proof.ts';

/** A row as it is read, with the names that its numbers stand for. */
export interface LedgerEvent extends Omit<ProvenColumns, 'rtype'> {
  readonly seq: number;
  /** Of the application as it is called now; null: there is none any more. */
  readonly name: string | null;
  /** Name of the resource type. */
  readonly type: string | undefined;
  /** `all`, or names separated by spaces. */
  readonly elements: string | null;
}

/** Where a row is in its ledger. */
export type LedgerPlace = Pick<LedgerEvent, 'at' | 'seq'>;

/** The system of numbers of applications in `agent.who.identifier`. */
export const applicationSystem = 'https://praxis.health/fhir/application';

const idPattern = /^ledger-(\d{1,16})-(\d{1,19})$/;

export function formatLedgerId({ at, seq }: LedgerPlace): string {
  return `ledger-${at}-${seq}`;
}

/** The place that an id of this form names; undefined for other ids. */
export function placeOfId(id: string): LedgerPlace | undefined {
  const [, at, seq] = idPattern.exec(id) ?? [];
  if (at === undefined || seq === undefined) return undefined;
  const place = { at: Number(at), seq: Number(seq) };
  return Number.isSafeInteger(place.at) && Number.isSafeInteger(place.seq) ? place : undefined;
}

/** The resource, valid R4. */
export function buildAuditEvent(event: LedgerEvent): JsonObject {
  const recorded = new Date(event.at).toISOString();
  return {
    resourceType: 'AuditEvent',
    id: formatLedgerId(event),
    meta: { versionId: '1', lastUpdated: recorded },
    ...codesOf(event.interaction),
    recorded,
    outcome: String(event.outcome),
    ...(event.reason === null ? {} : { outcomeDesc: outcomeText(event.reason, event.entries) }),
    agent: [agentOf(event)],
    source: {
      observer: { display: 'Praxis' },
      type: [{ system: 'http://terminology.hl7.org/CodeSystem/security-source-type', code: '4' }],
    },
    entity: [aboutOf(event), ...patientsOf(event)],
  };
}

/** The key under which interactions share their codes. */
export function toInteractionKind(interaction: string): string {
  return interaction.startsWith('$') ? '$' : interaction;
}

/** Interaction → R4's action (https://hl7.org/fhir/R4/valueset-audit-event-action.html); others: E, executed. */
const actions: Readonly<Record<string, string>> = {
  create: 'C',
  read: 'R',
  vread: 'R',
  'history-instance': 'R',
  'history-type': 'R',
  'history-system': 'R',
  update: 'U',
  patch: 'U',
  'conditional-update': 'U',
  'conditional-patch': 'U',
  delete: 'D',
  'conditional-delete': 'D',
};

const dicom = 'http://dicom.nema.org/resources/ontology/DCM';

/** What the service itself does: DICOM's event and its kind. */
const serviceCodes: Readonly<Record<string, readonly [event: string, kind: string]>> = {
  authenticate: ['110114', '110126'], // User Authentication: Node Authentication
  token: ['110114', '110122'], // User Authentication: Login
  introspect: ['110114', '110126'], // User Authentication: Node Authentication
  revoke: ['110114', '110123'], // User Authentication: Logout
  administer: ['110113', '110129'], // Security Alert: Security Configuration
};

/** Every interaction whose codes differ from those of another, for search. */
export const interactionKinds: readonly string[] = [
  ...Object.keys(actions),
  ...Object.keys(serviceCodes),
  ...['search-type', 'search-system', 'transaction', 'unknown', '$'],
];

const restCodes: Readonly<Record<string, string>> = {
  $: 'operation',
  'conditional-update': 'update',
  'conditional-patch': 'patch',
  'conditional-delete': 'delete',
};

function codesOf(interaction: string): JsonObject {
  const kind = toInteractionKind(interaction);
  const service = serviceCodes[kind];
  if (service !== undefined) {
    const [event, subtype] = service;
    return { type: { system: dicom, code: event }, subtype: [{ system: dicom, code: subtype }], action: 'E' };
  }
  return {
    type: { system: 'http://terminology.hl7.org/CodeSystem/audit-event-type', code: 'rest' },
    subtype: [{ system: 'http://hl7.org/fhir/restful-interaction', code: restCodes[kind] ?? kind }],
    action: actions[kind] ?? 'E',
  };
}

function outcomeText(reason: string, entries: string | null): string {
  return entries === null ? reason : `${reason}: needs ${entries.split(' ').join(' or ')}`;
}

function agentOf({ application, name, subject, entries, outcome }: LedgerEvent): JsonObject {
  const known = { identifier: { system: applicationSystem, value: String(application) }, display: name ?? 'removed' };
  return {
    type: { coding: [{ system: dicom, code: '110153' }] }, // Source Role ID: who asked
    ...(application === 0 ? {} : { who: known }),
    ...(subject === null ? {} : { altId: subject }),
    requestor: true,
    ...(entries === null || outcome !== 0 ? {} : { policy: entries.split(' ') }),
  };
}

/** What was done to what: the resource, if there is one, and the circumstances. */
function aboutOf(event: LedgerEvent): JsonObject {
  const { type, id, vid, interaction } = event;
  const reference = type === undefined || id === null ? undefined : `${type}/${id}`;
  const details = [
    ['operation', interaction.startsWith('$') ? interaction : null],
    ['type', reference === undefined ? type : null],
    ['about', type === undefined ? id : null],
    ['elements', event.elements],
    ['shown', event.shown],
    ['times', event.times],
    ['flow', event.flow],
    ['token', event.token_id],
    ['request', event.request_id],
  ] as const;
  const given = details.filter(([, value]) => value !== null && value !== undefined);
  const version = vid === null ? '' : `/_history/${vid}`;
  const detail = given.map(([name, value]) => ({ type: name, valueString: String(value) }));
  return {
    ...(reference === undefined ? {} : { what: { reference: reference + version } }),
    role: { system: objectRoles, code: '4' }, // Domain Resource
    ...(detail.length === 0 ? {} : { detail }),
  };
}

const objectRoles = 'http://terminology.hl7.org/CodeSystem/object-role';

function patientsOf({ patients }: LedgerEvent): JsonObject[] {
  const { ids, more } = readPatients(patients);
  const role = { system: objectRoles, code: '1' }; // Patient
  const named = ids.map((id) => ({ what: { reference: `Patient/${id}` }, role }));
  return more ? [...named, { role, description: 'and other patients' }] : named;
}
