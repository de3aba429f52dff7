/**
 * What the firms of the leak hunt hold. Two worlds hold the same, but for one secret: a value of a hidden element, a hidden
 * resource, a link, a tag, the definition of a search parameter, or a resource that was deleted.
 */
import { type Secret, secrets } from '../worlds.ts';
import type { Chosen, Planted } from './chosen.ts';
import {
  otherPractitioner,
  type PracticeGroup,
  practiceGone,
  practiceGroups,
  practiceRecords,
  practiceSecrets,
} from './planted-practice.ts';
import { profile, systemUrl, terminologyOf } from './planted-terminology.ts';

/**
 * By what hides the secret: elements that are not readable, orders or tasks outside the caller's rows, another firm, and
 * those of the practice's work.
 */
export const groups = ['fields', 'orders', 'tasks', 'elsewhere', ...practiceGroups] as const;
export type Group = (typeof groups)[number];

/** What differs between the worlds. */
export const secretKinds = ['value', 'existence', 'link', 'tag', 'definition', 'deletion'] as const;
export type SecretKind = (typeof secretKinds)[number];

export interface PlotKind {
  readonly group: Group;
  readonly secret: SecretKind;
}

export type { Planted };

export interface Contents {
  readonly records: readonly Planted[];
  /** Records that need something that is no record: what names it is `{name}` in them. */
  readonly later: readonly Planted[];
  /** `Type/id` of records that are deleted once all are there. */
  readonly deleted: readonly string[];
}

/** Every kind of plot, group by group. */
export const plotKinds: readonly PlotKind[] = groups.flatMap((group) =>
  secretsOf(group).map((secret) => ({ group, secret })),
);

function secretsOf(group: Group): readonly SecretKind[] {
  return isPractice(group) ? practiceSecrets[group] : secretKinds;
}

export function isPractice(group: Group): group is PracticeGroup {
  return practiceGroups.some((each) => each === group);
}

export const mrn = 'urn:example:mrn';
export { systemUrl };

/** What a firm of the kind holds in the world of `secret`. */
export function contentsOf({ group, secret: kind }: PlotKind, secret: Secret): Contents {
  const chosen: Chosen = {
    value: kind === 'value' ? secret : 'alpha',
    link: kind === 'link' ? secret : 'alpha',
    tag: kind === 'tag' ? secret : 'alpha',
    isThere: kind === 'existence' && secret === 'alpha',
    isDefined: kind === 'definition' && secret === 'alpha',
    isDeleted: kind === 'deletion' && secret === 'alpha',
  };
  if (isPractice(group)) return practiceContents(group, chosen);
  const differing = group === 'orders' || group === 'tasks' ? rowsOf(group, chosen) : fieldsOf(chosen);
  const defined = kind === 'definition' ? ownParameters(group, chosen) : [];
  const shown = [...defined, ...people(group, chosen), ...places(group, chosen), visit, ...differing];
  const gone = chosen.isDeleted ? goneOf(group, chosen) : [];
  return { records: [...shown, ...gone], later: [], deleted: gone.map(nameOf) };
}

function practiceContents(group: PracticeGroup, chosen: Chosen): Contents {
  const gone = chosen.isDeleted ? practiceGone(group, chosen) : [];
  const porter: Planted = { resourceType: 'Practitioner', id: otherPractitioner.bravo, name: [{ family: 'Cedar' }] };
  return {
    records: [...people(group, chosen), ...places(group, chosen), porter, room, visit],
    later: [...practiceRecords(group, chosen), ...gone],
    deleted: gone.map(nameOf),
  };
}

/** What a firm holds that has no secret: the same in both worlds. */
export function ownContents(): Contents {
  return contentsOf({ group: 'fields', secret: 'value' }, 'alpha');
}

/** Every record that some plot of the group holds in some world. */
export function allRecords(group: Group): readonly Planted[] {
  return secretsOf(group).flatMap((secret) =>
    secrets.flatMap((world) => {
      const { records, later } = contentsOf({ group, secret }, world);
      return [...records, ...later];
    }),
  );
}

export function nameOf({ resourceType, id }: Planted): string {
  return `${resourceType}/${id}`;
}

const reference = (to: string) => ({ reference: to });
const coded = (code: string) => ({ coding: [{ system: systemUrl, code }], text: code });
const narrative = (text: string, status = 'generated') => ({
  status,
  div: `<div xmlns="http://www.w3.org/1999/xhtml">${text}</div>`,
});

/** The names stand between the two values of the secret, so that a comparison with them would tell which it is. */
function people(group: Group, { value, link }: Chosen): readonly Planted[] {
  const hides = group === 'fields' || group === 'elsewhere';
  const person = (id: string, family: string, gender: string, birthDate: string, more: object = {}): Planted => ({
    resourceType: 'Patient',
    id,
    name: [{ family, given: [id] }],
    gender,
    birthDate,
    ...more,
  });
  const others = [
    person('marble', 'Basil', 'male', '1990-05-05', { identifier: identifiers('amber'), address: [{ city: 'amber' }] }),
    person('granite', 'Alvin', 'female', '1970-07-07', { generalPractitioner: [reference('Practitioner/doctor')] }),
  ];
  if (!hides) return [person('stone', 'Azure', 'female', '1980-01-01'), ...others];
  const hidden = {
    // What people have written stands in the way of a patch, for those who can read it.
    text: narrative(value, value === 'alpha' ? 'additional' : 'generated'),
    identifier: identifiers(value),
    address: [{ city: value }],
    telecom: [{ system: 'email', value: `${value}@example.org` }],
    communication: [{ language: { text: value } }],
    contact: [{ name: { family: value } }],
    ...(value === 'alpha' ? { deceasedDateTime: '2020-01-01', maritalStatus: coded('married') } : {}),
    managingOrganization: reference(`Organization/${link}`),
    generalPractitioner: [reference(link === 'alpha' ? 'Practitioner/doctor' : 'Practitioner/nurse')],
    link: [{ other: reference(link === 'alpha' ? 'Patient/marble' : 'Patient/granite'), type: 'seealso' }],
  };
  return [person('stone', 'Azure', 'female', '1980-01-01', hidden), ...others];
}

function identifiers(value: string): readonly object[] {
  const type = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] };
  return [{ type, system: mrn, value }];
}

const visit: Planted = {
  resourceType: 'Encounter',
  id: 'visit',
  status: 'finished',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  subject: reference('Patient/stone'),
  location: [{ location: reference('Location/room') }],
  participant: [{ individual: reference('Practitioner/doctor') }],
  serviceProvider: reference('Organization/alpha'),
};

const room: Planted = { resourceType: 'Location', id: 'room', name: 'Room', partOf: reference('Location/ward') };

/** A List is hidden from those who see elements of patients alone, and open to others. */
function places(group: Group, { link }: Chosen): readonly Planted[] {
  const isHidden = group === 'fields' || group === 'elsewhere';
  const listed = link === 'alpha' || !isHidden ? 'Patient/stone' : 'Patient/marble';
  return [
    { resourceType: 'Organization', id: 'alpha', name: 'One' },
    { resourceType: 'Organization', id: 'bravo', name: 'Two', partOf: reference('Organization/alpha') },
    { resourceType: 'Practitioner', id: 'doctor', name: [{ family: 'Acacia' }] },
    { resourceType: 'Practitioner', id: 'nurse', name: [{ family: 'Birch' }] },
    { resourceType: 'Location', id: 'ward', name: 'Ward', status: 'active' },
    { resourceType: 'Location', id: 'bed', name: 'Bed', status: 'active', partOf: reference('Location/room') },
    {
      resourceType: 'List',
      id: 'chosen',
      status: 'current',
      mode: 'working',
      entry: [{ item: reference(listed) }],
    },
  ];
}

/** Resources of types that are hidden from those who see names of patients and their visits alone. */
function fieldsOf(chosen: Chosen): readonly Planted[] {
  const { value, link, tag, isThere } = chosen;
  return [
    observed('pressure', chosen),
    ...(isThere ? [observed('only', chosen)] : []),
    ...(isThere ? [{ resourceType: 'Condition', id: 'only', subject: reference('Patient/stone') }] : []),
    {
      resourceType: 'Location',
      id: 'room',
      name: value,
      position: { longitude: value === 'alpha' ? 10 : 90, latitude: 10 },
      ...(link === 'alpha' ? { partOf: reference('Location/ward') } : {}),
    },
    {
      resourceType: 'RiskAssessment',
      id: 'risk',
      meta: { tag: [{ system: systemUrl, code: tag }] },
      status: 'final',
      subject: reference('Patient/stone'),
      prediction: [{ probabilityDecimal: value === 'alpha' ? 0.9 : 0.1 }],
    },
    ...terminologyOf(value),
    ...(isThere ? [profile] : []),
    {
      resourceType: 'Composition',
      id: 'note',
      status: 'final',
      type: coded('note'),
      subject: reference(link === 'alpha' ? 'Patient/stone' : 'Patient/marble'),
      date: '2026-01-01',
      author: [{ display: value }],
      title: value,
      section: [{ title: 'Seen', text: narrative(value), entry: [reference('Observation/pressure')] }],
    },
    {
      resourceType: 'Binary',
      id: 'file',
      contentType: 'text/plain',
      data: value === 'alpha' ? 'YWxwaGE=' : 'YnJhdm8=',
    },
  ];
}

function observed(id: string, { value, link, tag }: Chosen): Planted {
  return {
    resourceType: 'Observation',
    id,
    meta: { tag: [{ system: systemUrl, code: tag }] },
    status: 'final',
    category: [coded('vital-signs')],
    code: coded(value),
    subject: {
      ...reference(link === 'alpha' ? 'Patient/stone' : 'Patient/marble'),
      identifier: { system: mrn, value },
    },
    encounter: reference('Encounter/visit'),
    valueQuantity: { value: value === 'alpha' ? 120 : 60 },
    effectiveDateTime: '2026-01-01',
  };
}

/** Orders and tasks, of which the group's callers see some rows of one type only. */
function rowsOf(group: 'orders' | 'tasks', chosen: Chosen): readonly Planted[] {
  const hidden = group === 'orders' ? order : task;
  const [others, kind] = group === 'orders' ? [task, 'RADIOLOGY'] : [order, 'OTHER'];
  return [
    room,
    // Before what is seen of the type, so that it would come first.
    hidden('hidden', kind, chosen.value, chosen),
    order('pathology', 'PATHOLOGY', 'amber', seen),
    order('pathology-2', 'PATHOLOGY', 'basil', seen),
    task('recall', 'PMRECALL', 'amber', seen),
    task('recall-2', 'PMRECALL', 'basil', seen),
    others('same', group === 'orders' ? 'OTHER' : 'RADIOLOGY', 'amber', seen),
    ...(chosen.isThere ? [hidden('only', kind, chosen.value, chosen)] : []),
    report('report', 'hidden', 'only', 'gone', 'pathology'),
    // Reached through what is hidden alone.
    report('report-2', 'hidden'),
    {
      resourceType: 'List',
      id: 'orders',
      status: 'current',
      mode: 'working',
      entry: ['ServiceRequest/hidden', 'ServiceRequest/only', 'Task/hidden', 'Task/only'].map((name) => ({
        item: reference(name),
      })),
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
      section: [{ title: 'Ordered', entry: [reference('ServiceRequest/pathology'), reference('Task/hidden')] }],
    },
  ];
}

function report(id: string, ...requests: readonly string[]): Planted {
  const basedOn = requests.map((request) => reference(`ServiceRequest/${request}`));
  const subject = reference('Patient/stone');
  return { resourceType: 'DiagnosticReport', id, status: 'final', code: coded('report'), subject, basedOn };
}

type Linked = Pick<Chosen, 'link' | 'tag'>;
const seen: Linked = { link: 'alpha', tag: 'alpha' };

/** One of the tags that are seen is also one of those that are hidden. */
function shownTag(code: string): string {
  return code === 'amber' ? 'alpha' : 'seen';
}

function order(id: string, category: string, code: string, { link, tag }: Linked): Planted {
  return {
    resourceType: 'ServiceRequest',
    id,
    meta: { tag: [{ system: systemUrl, code: category === 'RADIOLOGY' ? tag : shownTag(code) }] },
    status: 'active',
    intent: 'order',
    identifier: [{ system: mrn, value: code }],
    category: [{ coding: [{ code: category }] }],
    code: coded(code),
    subject: reference(link === 'alpha' ? 'Patient/stone' : 'Patient/marble'),
    ...(link === 'alpha' ? { encounter: reference('Encounter/visit') } : {}),
    authoredOn: code === 'bravo' ? '2026-02-01' : '2026-01-01',
  };
}

function task(id: string, kind: string, code: string, { link, tag }: Linked): Planted {
  return {
    resourceType: 'Task',
    id,
    meta: { tag: [{ system: systemUrl, code: kind === 'OTHER' ? tag : shownTag(code) }] },
    status: 'requested',
    intent: 'order',
    identifier: [{ system: mrn, value: code }],
    code: { coding: [{ code: kind }] },
    description: code,
    for: reference(link === 'alpha' ? 'Patient/stone' : 'Patient/marble'),
    ...(link === 'alpha' ? { encounter: reference('Encounter/visit') } : {}),
    focus: reference('ServiceRequest/hidden'),
    authoredOn: code === 'bravo' ? '2026-02-01' : '2026-01-01',
  };
}

function goneOf(group: Group, chosen: Chosen): readonly Planted[] {
  if (group === 'orders') return [order('gone', 'RADIOLOGY', 'alpha', chosen)];
  if (group === 'tasks') return [task('gone', 'OTHER', 'alpha', chosen)];
  return [observed('gone', chosen), { resourceType: 'Condition', id: 'gone', subject: reference('Patient/stone') }];
}

/** Search parameters of the firm's own: one on what all see, and in one world one on a type that the callers may not search. */
function ownParameters(group: Group, { isDefined }: Chosen): readonly Planted[] {
  const hidden =
    group === 'tasks'
      ? ownParameter('only-there', 'ServiceRequest', 'ServiceRequest.identifier')
      : ownParameter('only-there', 'Observation', 'Observation.code');
  return [ownParameter('own-code', 'Patient', 'Patient.identifier'), ...(isDefined ? [hidden] : [])];
}

function ownParameter(code: string, base: string, expression: string): Planted {
  return {
    resourceType: 'SearchParameter',
    id: code,
    url: `http://example.org/SearchParameter/${code}`,
    name: code.replaceAll('-', '_'),
    status: 'active',
    description: code,
    code,
    base: [base],
    type: 'token',
    expression,
  };
}
